// SPDX-License-Identifier: BSD-3-Clause
// Which schedule a call between nodes runs. Every rank chooses alike: only what all of them know
// counts. Scratch space is of fixed size, so the choice cuts the vector into chunks, or each block
// into pieces, that fit. A communicator keeps the plans of its last calls: most programs make few
// kinds of them, again and again.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "coll/algorithms/catalogue.hpp"
#include "coll/between/kernel_plan.hpp"
#include "coll/between/problems.hpp"
#include "coll/schedule/builder.hpp"

namespace telpher::coll::between {

struct plan {
  const algorithm* by;
  schedule own;
  std::optional<kernel_plan> in_kernel;  // of a call that is one kernel (kernel_runner.hpp)
  std::vector<piece> reads, writes;  // of the own input and output, in elements; ascending, apart
};

/// What else a plan depends on, at all ranks alike.
struct plan_form {
  bool rounds = false;  // messages round values: only some algorithms have equal bits at all ranks
  bool kernel = false;  // the call is one kernel at each rank
  bool operator==(const plan_form&) const = default;
};

/// `p` says all but the chunk; `unit`: bytes of an element, `rails`: leaders of a node. None where
/// no schedule fits into the scratch space.
std::optional<plan> choose(problem p, std::uint64_t unit, int rails, int rank, plan_form form);

/// All ranks keep the plans of the same calls, in the same places. So all know alike whether a plan
/// has to be made, for which some rank may have no memory. Of some calls each rank knows only its
/// own part (same_at_all in problems.hpp): the vote says which places have all parts of the call.
class kept_plans {
 public:
  /// The call that is asked for. It keeps its memory, so that an equal one needs none.
  problem at_hand;

  struct entry {
    problem of;
    std::uint64_t unit;
    std::uint64_t longest;  // block, as the vote had it
    plan_form form;
    // Null: no schedule fits.
    std::shared_ptr<const plan> made;
    std::shared_ptr<const plan> in_place;  // of a rank that may be in place alone
  };
  const entry* find(std::uint64_t unit, plan_form form) const noexcept;
  /// For a call of which each rank knows only its own part.
  const entry* find_parts(const terms& all, plan_form form) const noexcept;
  /// The places that have this rank's part.
  parts_kept own_parts(const exchange::arguments& a) const noexcept;
  /// `choose` for the call at hand; `rails` and `rank` are always the same. May throw
  /// std::bad_alloc, and keeps nothing then.
  const entry& make(const terms& all, int rails, int rank, plan_form form);
  /// Drops all plans, at all ranks: some rank could not make one that others have kept.
  void forget() noexcept;

 private:
  static constexpr std::size_t most = 16;
  std::vector<entry> entries_;
  std::size_t next_ = 0;  // is replaced when there are as many as may be
  std::array<std::optional<entry>, most_parts> parts_;
  std::size_t next_part_ = 0;
};

}  // namespace telpher::coll::between
