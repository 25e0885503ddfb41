// SPDX-License-Identifier: BSD-3-Clause
// Free lists for objects that every message makes and destroys. Without them, malloc would return
// their pages to the system and fetch them again. Each thread has a list. Some threads only destroy
// what others make (the one that serves streams): what does not fit into their lists goes to one
// that all share, from where a thread takes everything when its own list is empty.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>

#include "base/thread_local.hpp"

namespace telpher {

/// Base of a class T whose objects are recycled. T must be the most derived class that is
/// allocated.
template <class T>
class recycled {
 public:
  static void* operator new(std::size_t bytes) {
    if (bytes != sizeof(T)) [[unlikely]]
      return ::operator new(bytes);
    if (!list.first) [[unlikely]]
      take_shared();
    node* const n = list.first;
    if (!n) [[unlikely]]
      return ::operator new(bytes);
    list.first = n->next;
    --list.length;
    return n;
  }

  static void operator delete(void* address, std::size_t bytes) {
    if (bytes != sizeof(T)) [[unlikely]]
      return ::operator delete(address);
    if (list.length >= most_kept) [[unlikely]]
      return share(address);
    if (!list.ends_with_thread) [[unlikely]]
      end_with_thread();
    list.first = new (address) node{list.first};
    ++list.length;
  }

 private:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr std::size_t most_kept = 0, most_shared = 0;  // their heaps detect misuse
#else
  static constexpr std::size_t most_kept = 256, most_shared = 1024;
#endif
  struct node {
    node* next;
  };
  // No constructor and no destructor, so the compiler adds no initialisation check to an access.
  struct free_list {
    node* first;
    std::size_t length;
    bool ends_with_thread;
    bool ended;
  };
  static inline constinit thread_local TELPHER_NEAR_TLS free_list list{nullptr, 0, false, false};

  // Only all of it is taken off, so no node is taken while another one is put on top of it.
  static inline constinit std::atomic<node*> shared{nullptr};
  static inline constinit std::atomic<std::size_t> shared_length{0};  // about

  [[gnu::noinline]] static void share(void* address) noexcept {
    if (list.ended || shared_length.load(std::memory_order_relaxed) >= most_shared)
      return ::operator delete(address);
    shared_length.fetch_add(1, std::memory_order_relaxed);
    node* const n = new (address) node{shared.load(std::memory_order_relaxed)};
    while (!shared.compare_exchange_weak(n->next, n, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
  }
  [[gnu::noinline]] static void take_shared() noexcept {
    if (list.ended || !shared.load(std::memory_order_relaxed)) return;
    if (!list.ends_with_thread) end_with_thread();
    list.first = shared.exchange(nullptr, std::memory_order_acquire);
    shared_length.store(0, std::memory_order_relaxed);
    for (const node* n = list.first; n; n = n->next) ++list.length;
  }

  struct end_of_thread {
    ~end_of_thread() {
      list.length = most_kept;  // objects that are destroyed after this go to the heap
      list.ended = true;
      while (list.first) {
        node* n = list.first;
        list.first = n->next;
        ::operator delete(n);
      }
    }
  };
  [[gnu::cold, gnu::noinline]] static void end_with_thread() noexcept {
    thread_local end_of_thread at_exit;
    static_cast<void>(at_exit);
    list.ends_with_thread = true;
  }
};

}  // namespace telpher
