// SPDX-License-Identifier: BSD-3-Clause
// The kernels as functions of this process, for the emulated device. A queue is a thread: work runs
// beside the program as on a GPU, so that a missing wait() shows in the answers here, too.
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "common/module.hpp"

namespace apps {
namespace {

class cpu_queue {
 public:
  cpu_queue() : thread_([this] { work(); }) {}
  ~cpu_queue() {
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void put(std::function<void()> task) {
    {
      std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return tasks_.empty(); });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !tasks_.empty() || closing_; });
      if (tasks_.empty()) return;
      lock.unlock();
      tasks_.front()();  // only this thread removes tasks, and a deque keeps its elements in place
      lock.lock();
      tasks_.pop_front();
      if (tasks_.empty()) idle_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::deque<std::function<void()>> tasks_;  // the front one may be running
  bool closing_ = false;
  std::thread thread_;  // the last member: it uses the others
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
      }};
  return cpu;
}

}  // namespace apps
