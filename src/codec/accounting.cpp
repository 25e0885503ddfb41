// SPDX-License-Identifier: BSD-3-Clause
#include "codec/accounting.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>

namespace telpher::codec {
namespace {

constexpr double assumed_ratio = 1.5;  // what lossless codecs reach on floating-point data

std::mutex guard;
totals all[3];

}  // namespace

double totals::ratio() const noexcept {
  return coded == 0 ? assumed_ratio : static_cast<double>(plain) / static_cast<double>(coded);
}

void count(method m, std::uint64_t plain, std::uint64_t coded,
           std::optional<int> error_exponent) noexcept {
  const std::lock_guard lock(guard);
  totals& t = all[static_cast<int>(m)];
  ++t.messages;
  t.plain += plain;
  t.coded += coded;
  if (error_exponent) t.error = std::max(t.error, std::ldexp(1.0, *error_exponent));
}

void count_error(method m, double bound) noexcept {
  const std::lock_guard lock(guard);
  totals& t = all[static_cast<int>(m)];
  t.error = std::max(t.error, bound);
}

totals totals_of(method m) noexcept {
  const std::lock_guard lock(guard);
  return all[static_cast<int>(m)];
}

std::string summary(method m) {
  const totals t = totals_of(m);
  if (t.messages == 0) return "";
  char text[192];
  int n = std::snprintf(text, sizeof text, "%s: %llu messages, %llu bytes sent as %llu (%.2f to 1)",
                        to_string(m), static_cast<unsigned long long>(t.messages),
                        static_cast<unsigned long long>(t.plain),
                        static_cast<unsigned long long>(t.coded), t.ratio());
  if (m == method::zfp)
    std::snprintf(text + n, sizeof text - static_cast<std::size_t>(n),
                  ", no value off by more than %.3g", t.error);
  return text;
}

}  // namespace telpher::codec
