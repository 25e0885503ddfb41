// SPDX-License-Identifier: BSD-3-Clause
// An intrusive doubly linked list. Insertion and removal take constant time and allocate nothing.
// The list owns no member. A cursor remembers a position for callers that visit a part of the list
// at a time.
#pragma once

#include <cstddef>

namespace telpher {

/// T derives from linked_list<T>::link; a T is in one list at most.
template <class T>
class linked_list {
 public:
  class link {
   public:
    link() = default;
    link(const link&) = delete;
    link& operator=(const link&) = delete;
    bool listed() const noexcept { return list_ != nullptr; }

   private:
    friend class linked_list;
    T* before_ = nullptr;
    T* after_ = nullptr;
    linked_list* list_ = nullptr;
  };

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  T* first() const noexcept { return first_; }
  static T* after(const link& l) noexcept { return l.after_; }

  void push_back(T& member) noexcept {
    link& l = member;
    l.before_ = last_;
    l.after_ = nullptr;
    l.list_ = this;
    (last_ ? link_of(*last_).after_ : first_) = &member;
    last_ = &member;
    ++size_;
  }

  /// Does nothing if the member is not in this list.
  void erase(T& member) noexcept {
    link& l = member;
    if (l.list_ != this) return;
    l.list_ = nullptr;
    if (cursor_ == &member) cursor_ = l.after_;
    (l.before_ ? link_of(*l.before_).after_ : first_) = l.after_;
    (l.after_ ? link_of(*l.after_).before_ : last_) = l.before_;
    --size_;
  }

  void clear() noexcept {
    while (first_) erase(*first_);
  }

  /// Where the next partial visit begins: the first member if no cursor was set.
  T* cursor() const noexcept { return cursor_ ? cursor_ : first_; }
  void set_cursor(T* member) noexcept { cursor_ = member; }

 private:
  static link& link_of(T& member) noexcept { return member; }

  T* first_ = nullptr;
  T* last_ = nullptr;
  T* cursor_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace telpher
