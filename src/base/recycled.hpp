// SPDX-License-Identifier: BSD-3-Clause
// Per-thread free lists for objects that every message makes and destroys. Without them, malloc
// would return their pages to the system and fetch them again.
#pragma once

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
    node* n = list.first;
    if (!n || bytes != sizeof(T)) [[unlikely]]
      return ::operator new(bytes);
    list.first = n->next;
    --list.length;
    return n;
  }

  static void operator delete(void* address, std::size_t bytes) {
    if (bytes != sizeof(T) || list.length >= most_kept) [[unlikely]]
      return ::operator delete(address);
    if (!list.ends_with_thread) [[unlikely]]
      end_with_thread();
    list.first = new (address) node{list.first};
    ++list.length;
  }

 private:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr std::size_t most_kept = 0;  // their heaps detect uses after free
#else
  static constexpr std::size_t most_kept = 1024;
#endif
  struct node {
    node* next;
  };
  // No constructor and no destructor, so the compiler adds no initialisation check to an access.
  struct free_list {
    node* first;
    std::size_t length;
    bool ends_with_thread;
  };
  static inline constinit thread_local TELPHER_NEAR_TLS free_list list{nullptr, 0, false};

  struct end_of_thread {
    ~end_of_thread() {
      list.length = most_kept;  // objects that are destroyed after this go to the heap
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
