// SPDX-License-Identifier: BSD-3-Clause
// What the files of the test `progress` share.
#pragma once

#include "forms.hpp"

namespace progress_test {

using namespace mpi_test;

constexpr std::size_t large = 600000;

inline std::uint64_t identity(const suite& s, int sender, int step) {
  return mix(s.opt.seed) + static_cast<std::uint64_t>(step * 256 + sender);
}

inline void nap() {
  usleep(50000);
}

/// progress_blocked.cpp: a rank is blocked in each of the calls that may block, as receiver and as
/// sender.
void blocked_ranks(suite& s);

}  // namespace progress_test
