// SPDX-License-Identifier: BSD-3-Clause
// Reductions by the CPU, with the values and operations of the device's kernels
// (kernel/values.hpp): the same brackets and the same rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/reduction.hpp"

namespace telpher::coll::between {

/// to = sources[0] op sources[1] op …, from the left. `to` may be one of the sources; it overlaps
/// none of them otherwise. `by` is known.
void reduce_on_host(const reduction& by, std::byte* to,
                    const std::vector<const std::byte*>& sources, std::uint64_t bytes) noexcept;

}  // namespace telpher::coll::between
