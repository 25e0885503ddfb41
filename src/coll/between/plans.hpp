// SPDX-License-Identifier: BSD-3-Clause
// Which schedule a call between nodes runs. Every rank chooses alike: only what all of them know
// counts. Scratch space is of fixed size, so the choice cuts the vector into chunks, or each block
// into pieces, that fit.
#pragma once

#include <optional>

#include "coll/algorithms/catalogue.hpp"

namespace telpher::coll::between {

struct plan {
  const algorithm* what = nullptr;
  schedule own;
};

/// `p` says all but the chunk; `unit`: bytes of an element, `lanes`: leaders of a node. `rounds`:
/// messages round values, and only some algorithms have the same bits at all ranks then. None where
/// no schedule fits into the scratch space.
std::optional<plan> choose(problem p, std::uint64_t unit, int lanes, int rank, bool rounds);

}  // namespace telpher::coll::between
