// SPDX-License-Identifier: BSD-3-Clause
// Whether the outputs that a symbolic run has left are what MPI promises. What is wrong, or an
// empty text.
#pragma once

#include <string>
#include <vector>

#include "schedules/cells.hpp"
#include "coll/schedule/problem.hpp"

namespace telpher::coll {

std::string check_output(const problem& p, std::int32_t rank, const cells& output,
                         const value_table& values);

/// All ranks' outputs are the same expressions.
std::string check_same_bits(const std::vector<const cells*>& outputs);

}  // namespace telpher::coll
