// SPDX-License-Identifier: BSD-3-Clause
// From which sizes on calls between nodes go by schedules: as TELPHER_COLL_ALGORITHM asks, else by
// TELPHER_COLL_BETWEEN, which a tuned table may set, else by ways.def.
#pragma once

#include <cstdint>
#include <string_view>

#include "coll/schedule/problem.hpp"

namespace telpher::coll::between {

/// Bytes of the longest vector. Blocking calls from `tried_from` on are tried (trials.hpp), or go
/// by a schedule from `least_bytes` on; non-blocking and persistent ones from `later_from` on.
struct limits {
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::uint64_t tried_from = never, least_bytes = never, later_from = never;
};
/// Nothing goes between nodes before the first take_limits().
const limits& limits_of(operation what) noexcept;
/// When the job is joined: its ranks have the same settings and table from now on, which a process
/// that waited for it (sessions) may not have had.
void take_limits() noexcept;

/// The first entry of a TELPHER_COLL_BETWEEN that is none; "" if all are right.
std::string_view wrong_limit(std::string_view list);

}  // namespace telpher::coll::between
