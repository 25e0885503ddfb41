// SPDX-License-Identifier: BSD-3-Clause
// What instrumented code tells the checker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace model {

enum class access_kind : std::uint8_t { load, store, swap };

struct access_request {
  const void* at;
  unsigned bytes;
  access_kind kind;
  int order;
  std::uint64_t operand = 0;
  std::uint64_t expected = 0;
  /// Of a swap: what is stored in place of `old`, if anything.
  std::optional<std::uint64_t> (*change)(std::uint64_t old, std::uint64_t operand,
                                         std::uint64_t expected) = nullptr;
};

/// Whether the caller is a thread of a scenario; else nothing is to be told.
bool in_model() noexcept;
/// The value that was there.
std::uint64_t access(const access_request& request);
void plain_access(const void* at, std::size_t bytes, bool writes);
/// Nanoseconds.
std::uint64_t look_at_clock();

}  // namespace model
