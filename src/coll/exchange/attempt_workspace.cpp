// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a call come by each other's workspaces: those that all have mapped for the
// communicator are found, or all ranks make and open what is missing, of one kind or of the next,
// by the votes that all hear.
#include <new>

#include "base/log.hpp"
#include "coll/exchange/attempt.hpp"
#include "coll/exchange/communicator.hpp"
#include "path/neighbours.hpp"

namespace telpher::coll::exchange {
namespace {

// Ranks of one device whose kernels wait for each other there, if it runs them side by side. Such a
// kernel has up to 64 blocks (kernel::exchange::most_blocks): those of four ranks are on a large
// GPU at the same time, and what waits in vain makes room after a while.
constexpr int most_together = 4;

}  // namespace

void attempt::use_workspace(int rank, std::byte* base) noexcept {
  const auto i = static_cast<std::size_t>(rank);
  workspace::place_in(map_[i], base);
  kernel_flags_[i] = workspace::flags_in(base);
}

/// The same answer at all ranks.
bool attempt::find_workspaces() noexcept {
  for (int r = 0; r < c_.ranks; ++r) {
    const description& d = c_.talk.description_of(r);
    std::byte* base =
        c_.workspaces[static_cast<std::size_t>(r)].find({d.workspace_base, d.workspace_generation});
    if (!base) return false;
    use_workspace(r, base);
  }
  return true;
}

attempt::then attempt::make_workspace() noexcept {
  c_.where = a_.where;
  const bool made = lane_.make_space(c_.kind) == status::ok;
  if (made) {
    workspace& w = lane_.space(c_.kind);
    w.era = call_number::era(number_);
    agreement_line& own = c_.talk.own();
    own.workspace = w.exported();
    own.may_wait = c_.where.owner->kernels_may_wait(c_.where.device);
    own.runs_together = path::properties_of(c_.where).runs_together;
  }
  c_.talk.vote(made);
  return go(&attempt::hear_made, "has voted");
}

attempt::then attempt::hear_made() noexcept {
  const agreement::answer all = c_.talk.result();
  if (all == agreement::answer::pending) return then::later;
  if (all == agreement::answer::no) return spoil_workspaces();
  c_.talk.vote(open_workspaces());
  return go(&attempt::hear_opened, "has voted");
}

attempt::then attempt::hear_opened() noexcept {
  const agreement::answer all = c_.talk.result();
  if (all == agreement::answer::pending) return then::later;
  if (all == agreement::answer::no) return spoil_workspaces();
  c_.state = communicator::phase::ready;
  return choose_path();
}

/// All ranks have heard the vote: all try the next kind, or none.
attempt::then attempt::spoil_workspaces() noexcept {
  for (auto& of_rank : c_.workspaces) of_rank.clear();
  if (c_.kind == workspace_kind::device && workspace::tries_host_next()) {
    c_.kind = workspace_kind::host;
    return make_workspace();
  }
  // One refusal costs this call; several are taken for an answer. All ranks count the same.
  constexpr int most_refusals = 3;
  const bool again = ++c_.refusals < most_refusals;
  c_.state = again ? communicator::phase::fresh : communicator::phase::unusable;
  c_.kind = workspace::first_kind();
  TELPHER_INFO("%s: a rank's device memory cannot be mapped by its peers: staged%s", call_,
               again ? "" : " from now on");
  return leave();
}

bool attempt::open_workspaces() noexcept {
  c_.may_wait = true;
  c_.takes_turns = false;
  c_.shares_devices = false;
  bool good = true;
  for (int r = 0; r < c_.ranks; ++r) {
    const agreement_line& line = c_.talk.line(r);
    int before = 0;  // ranks of the same device
    for (int q = 0; q < r; ++q) before += c_.talk.line(q).workspace.uuid == line.workspace.uuid;
    const bool fits = before == 0 || (line.runs_together && before < most_together);
    c_.may_wait = c_.may_wait && line.may_wait && fits;
    c_.shares_devices = c_.shares_devices || before > 0;
    c_.takes_turns = c_.takes_turns || (line.may_wait && !fits);
    try {
      good = good && open_workspace(r);
    } catch (const std::bad_alloc&) {
      good = false;
    }
  }
  return good;
}

bool attempt::open_workspace(int rank) {
  const auto i = static_cast<std::size_t>(rank);
  const path::exported_memory& there = c_.talk.line(rank).workspace;
  std::byte* base = c_.workspaces[i].find(workspace::id_of(there));
  if (!base && rank == c_.rank) {
    base = lane_.space(c_.kind).base();
    c_.workspaces[i].add(mapped_workspace(lane_.space(c_.kind)));
  } else if (!base) {
    auto opened = mapped_workspace::open(c_.kind, c_.world[i], there, c_.where);
    if (!opened) return false;
    base = opened->base();
    c_.workspaces[i].add(std::move(*opened));
  }
  use_workspace(rank, base);
  return true;
}

}  // namespace telpher::coll::exchange
