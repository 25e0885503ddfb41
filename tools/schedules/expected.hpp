// SPDX-License-Identifier: BSD-3-Clause
// What MPI promises of a problem: how large a rank's spaces are, and what its output holds at the
// end. The verifier compares a schedule with this; no algorithm knows of it.
#pragma once

#include <cstdint>
#include <vector>

#include "coll/schedule/problem.hpp"

namespace telpher::coll {

/// Elements [offset, offset + count) of the output hold the inputs of ranks first to last, reduced
/// in that order, from element `origin` of each. One rank: a copy.
struct expectation {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
  std::uint64_t origin = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
};

/// In the order of their offsets, none of them empty. Nothing else of the output may be written.
std::vector<expectation> expected_output(const problem& p, std::int32_t rank);

/// One more than the largest index that belongs to the rank's input or output.
std::uint64_t input_extent(const problem& p, std::int32_t rank);
std::uint64_t output_extent(const problem& p, std::int32_t rank);

}  // namespace telpher::coll
