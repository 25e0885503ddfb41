// SPDX-License-Identifier: BSD-3-Clause
// Packed copies of the buffers that have gaps at this rank, for a call on which ranks vote
// (exchange/packed_copies.hpp). The memory is taken before the vote: a rank that has none says that
// it cannot take part. The runner packs before its first step and unpacks after its last, in the
// stream of its device work. The other ranks need not know.
#pragma once

#include <memory>

#include "coll/exchange/packed_copies.hpp"

namespace telpher::coll::between {

/// Null: none are needed.
using copies = std::shared_ptr<exchange::packed_copies>;

/// Makes `a` the same call on packed copies, if it has gaps; without memory for them a call that is
/// not possible.
copies pack(exchange::arguments& a) noexcept;

}  // namespace telpher::coll::between
