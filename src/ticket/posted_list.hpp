// SPDX-License-Identifier: BSD-3-Clause
// The receives that wait for their message, oldest first. The links lie in the receives, so that
// coming and going costs the same with one receive as with a thousand. A cursor goes round for those
// who look at a part of the list at a time.
#pragma once

#include <cstddef>

namespace telpher::ticket {

class receive;

class posted_list {
 public:
  /// Base of what is listed.
  class link {
   public:
    link() = default;
    link(const link&) = delete;
    link& operator=(const link&) = delete;

   private:
    friend class posted_list;
    receive* before_ = nullptr;
    receive* after_ = nullptr;
    bool listed_ = false;
  };

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  receive* first() const noexcept { return first_; }
  static receive* after(const link& l) noexcept { return l.after_; }

  void push_back(receive& r) noexcept;
  /// Does nothing if it is not listed.
  void erase(receive& r) noexcept;
  void clear() noexcept;

  /// Where the next look at a part begins; the first one if none was set.
  receive* cursor() const noexcept { return cursor_ ? cursor_ : first_; }
  void set_cursor(receive* r) noexcept { cursor_ = r; }

 private:
  static link& of(receive& r) noexcept;

  receive* first_ = nullptr;
  receive* last_ = nullptr;
  receive* cursor_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace telpher::ticket
