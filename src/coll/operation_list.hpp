// SPDX-License-Identifier: BSD-3-Clause
// Settings that say something for each operation: "allreduce=two_shot,bcast=push".
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "coll/schedule/problem.hpp"

namespace telpher::coll {

/// What a list says for an operation, or "".
inline std::string_view listed(std::string_view list, operation what) noexcept {
  const std::string_view name = to_string(what);
  for (std::string_view entry; take_part(list, entry, ',');)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return {};
}

/// The first entry that names no operation, or something that `is_value(operation, text)` denies;
/// "" if all are right.
template <class IsValue>
std::string_view first_wrong(std::string_view list, const IsValue& is_value) {
  for (std::string_view entry; take_part(list, entry, ',');) {
    const std::size_t sign = std::min(entry.find('='), entry.size());
    operation what{};
    if (!from_string(std::string(entry.substr(0, sign)).c_str(), what) ||
        !is_value(what, entry.substr(std::min(sign + 1, entry.size()))))
      return entry;
  }
  return {};
}

}  // namespace telpher::coll
