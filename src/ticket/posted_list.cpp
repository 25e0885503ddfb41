// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/posted_list.hpp"

#include "ticket/receive.hpp"

namespace telpher::ticket {

posted_list::link& posted_list::of(receive& r) noexcept {
  return r;
}

void posted_list::push_back(receive& r) noexcept {
  link& l = of(r);
  l.before_ = last_;
  l.after_ = nullptr;
  l.listed_ = true;
  (last_ ? of(*last_).after_ : first_) = &r;
  last_ = &r;
  ++size_;
}

void posted_list::erase(receive& r) noexcept {
  link& l = of(r);
  if (!l.listed_) return;
  l.listed_ = false;
  if (cursor_ == &r) cursor_ = l.after_;
  (l.before_ ? of(*l.before_).after_ : first_) = l.after_;
  (l.after_ ? of(*l.after_).before_ : last_) = l.before_;
  --size_;
}

void posted_list::clear() noexcept {
  while (first_) erase(*first_);
}

}  // namespace telpher::ticket
