// SPDX-License-Identifier: BSD-3-Clause
// The kernels as functions of this process, for the emulated device. A queue keeps its work until
// somebody waits for it, so that a program that forgot to wait gets wrong answers, every time.
#include <cstring>
#include <deque>
#include <functional>
#include <utility>

#include "common/module.hpp"

namespace apps {
namespace {

class cpu_queue {
 public:
  void put(std::function<void()> task) { tasks_.push_back(std::move(task)); }
  void wait() {
    for (; !tasks_.empty(); tasks_.pop_front()) tasks_.front()();
  }

 private:
  std::deque<std::function<void()>> tasks_;
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
      [](void* queue) {
        auto* q = static_cast<cpu_queue*>(queue);
        q->wait();
        delete q;
      },
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
      }};
  return cpu;
}

}  // namespace apps
