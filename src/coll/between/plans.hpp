// SPDX-License-Identifier: BSD-3-Clause
// Which schedule a call between nodes runs. Every rank chooses alike: only what all of them know
// counts. Scratch space is of fixed size, so the choice cuts the vector into chunks, or each block
// into pieces, that fit. A communicator keeps the plans of its last calls: most programs make few
// kinds of them, again and again.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "coll/algorithms/catalogue.hpp"
#include "coll/schedule/builder.hpp"

namespace telpher::coll::between {

struct plan {
  const algorithm* what = nullptr;
  schedule own;
  std::vector<piece> reads, writes;  // of the own input and output, in elements; ascending, apart
};

/// `p` says all but the chunk; `unit`: bytes of an element, `lanes`: leaders of a node. `rounds`:
/// messages round values, and only some algorithms have the same bits at all ranks then. None where
/// no schedule fits into the scratch space.
std::optional<plan> choose(problem p, std::uint64_t unit, int lanes, int rank, bool rounds);

class kept_plans {
 public:
  /// `choose` with the same arguments, of which `lanes` and `rank` are always the same. Null where
  /// there is none. May throw std::bad_alloc.
  std::shared_ptr<const plan> find(const problem& p, std::uint64_t unit, int lanes, int rank,
                                   bool rounds);

 private:
  static constexpr std::size_t most = 16;
  struct entry {
    problem of;
    std::uint64_t unit;
    bool rounds;
    std::shared_ptr<const plan> made;
  };
  std::vector<entry> entries_;
  std::size_t next_ = 0;  // is replaced when there are as many as may be
};

}  // namespace telpher::coll::between
