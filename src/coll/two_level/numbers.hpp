// SPDX-License-Identifier: BSD-3-Clause
// Counts or displacements of a call's blocks, of whichever integer type the call has them.
#pragma once

#include <cstdint>
#include <vector>

namespace telpher::coll::two_level {

class numbers {
 public:
  template <class Number>
  numbers(const Number* at) noexcept  // NOLINT(google-explicit-constructor): the wrappers pass them
      : at_(at), read_([](const void* from, int i) {
          return static_cast<std::int64_t>(static_cast<const Number*>(from)[i]);
        }) {}

  std::int64_t operator[](int i) const noexcept { return read_(at_, i); }
  std::vector<std::int64_t> first(int n) const {
    std::vector<std::int64_t> all;
    for (int i = 0; i < n; ++i) all.push_back((*this)[i]);
    return all;
  }

 private:
  const void* at_;
  std::int64_t (*read_)(const void*, int);
};

}  // namespace telpher::coll::two_level
