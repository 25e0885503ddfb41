// SPDX-License-Identifier: BSD-3-Clause
// What was compressed in this process, and how far a value may be from what was sent: the report at
// MPI_Finalize.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codec/plan.hpp"

namespace telpher::codec {

struct totals {
  std::uint64_t messages = 0;
  std::uint64_t plain = 0;  // bytes
  std::uint64_t coded = 0;
  double error = 0;  // no value is off by more

  /// Plain bytes for each coded one; a guess before the first message.
  double ratio() const noexcept;
};

/// Counts one message that was sent compressed; its errors are at most 2 to the exponent.
void count(method m, std::uint64_t plain, std::uint64_t coded,
           std::optional<int> error_exponent) noexcept;
/// Counts what several messages together did to a value.
void count_error(method m, double bound) noexcept;
totals totals_of(method m) noexcept;

/// One line about a method, "" if it was not used.
std::string summary(method m);

}  // namespace telpher::codec
