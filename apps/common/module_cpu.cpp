// SPDX-License-Identifier: BSD-3-Clause
// The kernels as functions of this process, for the emulated device. A queue keeps its work until
// somebody waits for it, so that a program that forgot to wait gets wrong answers, every time. One
// that was asked for its stream puts its work there from then on.
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "common/gpu.hpp"

namespace apps {
namespace {

class cpu_queue {
 public:
  using task = std::function<void()>;

  cpu_queue() = default;
  cpu_queue(const cpu_queue&) = delete;
  cpu_queue& operator=(const cpu_queue&) = delete;
  ~cpu_queue() {
    wait();
    if (stream_) telpher_stream_destroy(stream_);
  }

  void put(task t) {
    if (!stream_) return tasks_.push_back(std::move(t));
    task* const kept = new task(std::move(t));
    check(telpher_emulated_launch(run, &kept, sizeof kept, 1, stream_), "a launch");
  }
  void wait() {
    for (; !tasks_.empty(); tasks_.pop_front()) tasks_.front()();
    if (stream_) check(telpher_stream_synchronize(stream_), "work in a stream");
  }
  void* stream() {
    if (stream_) return stream_;
    wait();
    check(telpher_stream_create(&stream_), "a stream");
    return stream_;
  }

 private:
  static void run(const void* parameters, unsigned, unsigned) {
    const std::unique_ptr<task> one(*static_cast<task* const*>(parameters));
    (*one)();
  }

  std::deque<task> tasks_;
  void* stream_ = nullptr;
};

template <class K>
void put_kernel(cpu_queue& queue, const void* parameters, index items) {
  queue.put([k = *static_cast<const K*>(parameters), items] {
    for (index i = 0; i < items; ++i) k(i);
  });
}

using put_function = void(cpu_queue&, const void*, index);
constexpr put_function* kernels[] = {
#define APPS_KERNEL(application, name) put_kernel<application::name>,
#include "common/kernels.def"
#undef APPS_KERNEL
};

}  // namespace

const module& cpu_module() {
  static constexpr module cpu = {
      [](int, void** queue) -> const char* {
        *queue = new cpu_queue;
        return nullptr;
      },
      [](void* queue) { delete static_cast<cpu_queue*>(queue); },
      [](void* queue, kernel_id kernel, const void* parameters, index items) -> const char* {
        kernels[static_cast<int>(kernel)](*static_cast<cpu_queue*>(queue), parameters, items);
        return nullptr;
      },
      [](void* queue, void* to, const void* from, std::size_t bytes) -> const char* {
        static_cast<cpu_queue*>(queue)->put([=] { std::memcpy(to, from, bytes); });
        return nullptr;
      },
      [](void* queue) -> const char* {
        static_cast<cpu_queue*>(queue)->wait();
        return nullptr;
      },
      [](void* queue) { return static_cast<cpu_queue*>(queue)->stream(); }};
  return cpu;
}

}  // namespace apps
