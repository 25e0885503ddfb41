// SPDX-License-Identifier: BSD-3-Clause
// The steps of a communicator's first call on device memory: all ranks make their workspaces and
// open those of the others, of one kind or of the next, by the votes that all hear.
#include "base/log.hpp"
#include "coll/exchange/attempt.hpp"
#include "coll/exchange/communicator.hpp"

namespace telpher::coll::exchange {

attempt::then attempt::make_workspace() noexcept {
  c_.where = a_.where;
  auto made = workspace::take(c_.kind, a_.where);
  if (made) {
    c_.own = std::move(*made);
    agreement_line& own = c_.talk.own();
    own.workspace = c_.own.exported();
    own.may_wait = c_.where.owner->kernels_may_wait(c_.where.device);
  }
  c_.talk.vote(made.has_value());
  return go(&attempt::hear_made, "has voted");
}

attempt::then attempt::hear_made() noexcept {
  const agreement::answer all = c_.talk.result();
  if (all == agreement::answer::pending) return then::later;
  if (all == agreement::answer::no) return spoil_workspace();
  c_.talk.vote(open_workspaces());
  return go(&attempt::hear_opened, "has voted");
}

attempt::then attempt::hear_opened() noexcept {
  const agreement::answer all = c_.talk.result();
  if (all == agreement::answer::pending) return then::later;
  if (all == agreement::answer::no) return spoil_workspace();
  c_.state = communicator::phase::ready;
  return choose_path();
}

/// All ranks have heard the vote: all try the next kind, or none.
attempt::then attempt::spoil_workspace() noexcept {
  for (auto& m : c_.mapped) m = {};
  c_.own = {};
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
  for (int r = 0; r < c_.ranks; ++r) {
    const auto i = static_cast<std::size_t>(r);
    const agreement_line& line = c_.talk.line(r);
    bool alone = true;
    for (int q = 0; q < r; ++q)
      alone = alone && !(c_.talk.line(q).workspace.uuid == line.workspace.uuid);
    c_.may_wait = c_.may_wait && line.may_wait && alone;
    c_.shares_devices = c_.shares_devices || !alone;
    c_.takes_turns = c_.takes_turns || (line.may_wait && !alone);
    std::byte* base = c_.own.base();
    if (r != c_.rank) {
      auto opened = peer_workspace::open(c_.kind, c_.world[i], line.workspace, c_.where);
      if (!opened) return false;
      c_.mapped[i] = std::move(*opened);
      base = c_.mapped[i].base();
    }
    workspace::place_in(c_.base[i], base);
    c_.kernel_flags[i] = workspace::flags_in(base);
  }
  return true;
}

}  // namespace telpher::coll::exchange
