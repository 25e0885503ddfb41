// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a call get at each other's workspaces. If all ranks' workspaces are mapped for
// the communicator, they are found. Else all ranks make and map them, and vote on it. After a no
// they try the next kind.
#include <new>

#include "base/log.hpp"
#include "coll/exchange/call.hpp"
#include "coll/exchange/communicator.hpp"
#include "path/neighbours.hpp"

namespace telpher::coll::exchange {
namespace {

// So many ranks of one device may have kernels that wait for each other, if the device runs them
// side by side. A kernel has up to 64 blocks (kernel::exchange::most_blocks). A large GPU has room
// for those of four ranks. Blocks that wait too long pause and make room.
constexpr int most_together = 4;

}  // namespace

/// The same answer at all ranks.
bool call::find_workspaces() noexcept {
  for (int r = 0; r < c_.ranks; ++r) {
    const description& d = c_.protocol.description_of(r);
    std::byte* base =
        c_.workspaces[static_cast<std::size_t>(r)].find({d.workspace_base, d.workspace_generation});
    if (!base) return false;
    execution_->place_workspace(r, base);
  }
  return true;
}

call::then call::make_workspace() noexcept {
  c_.where = arguments_.where;
  const bool made = execution_->context().make_space(c_.kind) == status::ok;
  if (made) {
    workspace& w = execution_->context().space(c_.kind);
    w.era = call_number::era(signal_number_);
    agreement_line& own = c_.protocol.own();
    own.workspace = w.exported();
    own.may_wait = c_.where.owner->kernels_may_wait(c_.where.device);
    own.runs_together = path::properties_of(c_.where).runs_together;
  }
  return vote(made, &call::map_workspaces, &call::discard_workspaces);
}

call::then call::map_workspaces() noexcept {
  compare_devices();
  bool mapped = true;
  for (int r = 0; r < c_.ranks; ++r) mapped = mapped && map_workspace(r);
  c_.protocol.own().delivers_lines = delivers_lines();
  return vote(mapped, &call::use_workspaces, &call::discard_workspaces);
}

call::then call::use_workspaces() noexcept {
  c_.state = communicator::phase::ready;
  c_.delivers_lines = true;
  for (int r = 0; r < c_.ranks; ++r)
    c_.delivers_lines = c_.delivers_lines && c_.protocol.line(r).delivers_lines;
  return describe_to_choose();
}

/// All ranks do the same: they try the next kind, or stage the call.
call::then call::discard_workspaces() noexcept {
  for (auto& of_rank : c_.workspaces) of_rank.clear();
  if (c_.kind == workspace_kind::device && workspace::tries_host_next()) {
    c_.kind = workspace_kind::host;
    return make_workspace();
  }
  // After several refusals nobody tries again. All ranks count the same.
  constexpr int most_refusals = 3;
  const bool again = ++c_.refusals < most_refusals;
  c_.state = again ? communicator::phase::fresh : communicator::phase::unusable;
  c_.kind = workspace::first_kind();
  TELPHER_INFO("%s: a rank's device memory cannot be mapped by its peers: staged%s", name(),
               again ? "" : " from now on");
  return stage();
}

void call::compare_devices() noexcept {
  c_.may_wait = true;
  c_.takes_turns = false;
  c_.shares_devices = false;
  for (int r = 0; r < c_.ranks; ++r) {
    const agreement_line& line = c_.protocol.line(r);
    int before = 0;  // ranks of the same device
    for (int q = 0; q < r; ++q) before += c_.protocol.line(q).workspace.uuid == line.workspace.uuid;
    const bool fits = before == 0 || (line.runs_together && before < most_together);
    c_.may_wait = c_.may_wait && line.may_wait && fits;
    c_.shares_devices = c_.shares_devices || before > 0;
    c_.takes_turns = c_.takes_turns || (line.may_wait && !fits);
  }
}

/// Whether this rank's device delivers lines to those of all ranks. No, if it cannot see one.
bool call::delivers_lines() const noexcept {
  for (int r = 0; r < c_.ranks; ++r) {
    const auto there = path::place_of(c_.where.owner, c_.protocol.line(r).workspace.uuid);
    if (!there || !c_.where.owner->delivers_lines(c_.where.device, there->device)) return false;
  }
  return true;
}

bool call::map_workspace(int rank) noexcept {
  const auto i = static_cast<std::size_t>(rank);
  const path::exported_memory& there = c_.protocol.line(rank).workspace;
  std::byte* base = c_.workspaces[i].find(workspace::id_of(there));
  if (!base) {
    const workspace& own = execution_->context().space(c_.kind);
    auto opened = rank == c_.rank ? mapped_workspace{own.id(), own.base()}
                                  : mapped_workspace::open(c_.kind, c_.world[i], there, c_.where);
    if (!opened) return false;
    base = opened->base.get();
    try {
      c_.workspaces[i].add(std::move(*opened));
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  execution_->place_workspace(rank, base);
  return true;
}

}  // namespace telpher::coll::exchange
