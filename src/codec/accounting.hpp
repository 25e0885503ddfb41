// SPDX-License-Identifier: BSD-3-Clause
// Counts what was compressed in this process, and bounds how far a value may differ from what was
// sent. MPI_Finalize reports it.
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
  double error = 0;  // bound on the absolute error of every value

  /// Plain bytes per coded byte; a guess before the first message.
  double ratio() const noexcept;
};

/// Counts a message that was sent compressed; its errors are at most 2^error_exponent.
void count(method m, std::uint64_t plain, std::uint64_t coded,
           std::optional<int> error_exponent) noexcept;
/// Counts the bound on the total error that several messages cause in one value.
void count_error(method m, double bound) noexcept;
totals totals_of(method m) noexcept;

/// One line about a method; "" if it was not used.
std::string summary(method m);

}  // namespace telpher::codec
