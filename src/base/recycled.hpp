// SPDX-License-Identifier: BSD-3-Clause
// Objects that come and go with every message: their memory is kept on a free list of the thread
// instead of going through malloc, which would give pages back to the system and fetch them again.
#pragma once

#include <cstddef>
#include <new>

namespace telpher {

/// Base of a class T whose objects are recycled. T must be the most derived class that is
/// allocated.
template <class T>
class recycled {
 public:
  static void* operator new(std::size_t bytes) {
    free_list& list = own_list();
    if (bytes != sizeof(T) || !list.first) return ::operator new(bytes);
    node* n = list.first;
    list.first = n->next;
    --list.length;
    return n;
  }

  static void operator delete(void* address, std::size_t bytes) {
    free_list& list = own_list();
    if (bytes != sizeof(T) || list.length >= most_kept) return ::operator delete(address);
    list.first = new (address) node{list.first};
    ++list.length;
  }

 private:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr std::size_t most_kept = 0;  // their heaps find uses after the end
#else
  static constexpr std::size_t most_kept = 1024;
#endif
  struct node {
    node* next;
  };
  struct free_list {
    node* first = nullptr;
    std::size_t length = 0;
    ~free_list() {
      length = most_kept;  // objects that die after this thread's list are freed
      while (first) {
        node* n = first;
        first = n->next;
        ::operator delete(n);
      }
    }
  };
  static free_list& own_list() noexcept {
    thread_local free_list list;
    return list;
  }
};

}  // namespace telpher
