// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/communicator.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>

#include "base/lasting.hpp"
#include "coll/exchange/launch.hpp"
#include "host_mpi/intracomm.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::coll::exchange {
namespace {

std::mutex guard;
struct entry {
  std::unique_ptr<communicator> made;
  host_mpi::lifetime life;
};
made_at_start<std::unordered_map<MPI_Comm, entry>> by_comm;

lasting<std::vector<std::unique_ptr<communicator>>> channels;

/// Of communicators that were freed unseen by Telpher. Peers may still look at this rank's parts.
lasting<std::vector<std::unique_ptr<communicator>>> orphans;

/// Under the guard. Without memory for the entry the state is kept for ever.
void keep_orphan(std::unique_ptr<communicator> one) noexcept {
  if (!one) return;
  try {
    orphans->push_back(std::move(one));
  } catch (const std::bad_alloc&) {
    static_cast<void>(one.release());
  }
}

bool world_ranks(ticket::peer_table& peers, MPI_Comm comm, int ranks, std::vector<int>& world) {
  bool here = true;
  for (int r = 0; r < ranks; ++r) {
    world.push_back(host_mpi::world_rank(peers.job(), comm, r));
    here = here && world.back() >= 0 && peers.shares_node(world.back());
  }
  return here;
}

}  // namespace

// --- life ---

void communicator::start() noexcept {
  by_comm.make();
}

communicator* communicator::find(MPI_Comm comm, bool& known) noexcept {
  std::lock_guard lock(guard);
  const auto found = by_comm->find(comm);
  known = found != by_comm->end() && !found->second.life.over();
  return known ? found->second.made.get() : nullptr;
}

communicator* communicator::get(MPI_Comm of_comm) noexcept {
  ticket::progress().tidy_when_due();
  bool known = false;
  communicator* there = find(of_comm, known);
  if (known) return there && there->state != phase::absent ? there : nullptr;
  if (of_comm == MPI_COMM_NULL) return nullptr;
  try {
    const host_mpi::lifetime life(of_comm);
    auto fresh = make(of_comm, true);
    std::lock_guard lock(guard);
    entry& e = (*by_comm)[of_comm];
    keep_orphan(std::move(e.made));
    e = {std::move(fresh), life};
    return e.made.get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool communicator::may_serve(MPI_Comm comm, int& size, int& own_rank) noexcept {
  if (!host_mpi::is_our_intracomm(ticket::job(), comm)) return false;
  const host_mpi::place_in own(comm);
  size = own.ranks;
  own_rank = own.rank;
  return size >= 2 && size <= most_ranks;
}

std::unique_ptr<communicator> communicator::make(MPI_Comm of_comm, bool willing) {
  int size = 0, own_rank = 0;
  if (!may_serve(of_comm, size, own_rank)) return nullptr;
  auto fresh = std::make_unique<communicator>(of_comm, size, own_rank);
  return fresh->take_part(willing) ? std::move(fresh) : nullptr;
}

communicator* communicator::channel(MPI_Comm comm, bool wanted) noexcept {
  constexpr std::ptrdiff_t most_in_use = 256;  // some 10 KB of shared memory each
  auto held = ticket::progress().lock();
  for (const auto& one : *channels) static_cast<void>(one->joined());
  std::erase_if(*channels, [](const auto& one) { return one->released_ && one->unseen(); });
  for (const auto& one : *channels)
    if (!one->rooms.empty() && one->all_released()) one->rooms.clear();
  const auto in_use = std::count_if(channels->begin(), channels->end(),
                                    [](const auto& one) { return one->has_part_; });
  try {
    auto fresh = make(comm, wanted && in_use < most_in_use);
    if (!fresh) return nullptr;
    channels->push_back(std::move(fresh));
    return channels->back().get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

communicator* communicator::ready_slow(MPI_Comm comm) noexcept {
  const unsigned ended = host_mpi::lifetime::ended();
  communicator* c = get(comm);
  if (c) c->settle();
  if (c && c->state == phase::absent) c = nullptr;
  bool known = false;
  if (!ticket::progress().threaded()) {
    find(comm, known);  // not known: there was no memory for the entry
    last_ = {known, comm, c, ended};
  }
  return c;
}

void communicator::keep_order(MPI_Comm comm) noexcept {
  bool known = false;
  communicator* c = find(comm, known);
  if (!c) return;
  auto held = c->progress_.lock();
  c->calls.drain_to_host(held);
}

void communicator::decline(std::uint64_t call) noexcept {
  if (has_part_) protocol.decline(call);
}

shared_part* communicator::own_part() const noexcept {
  return reinterpret_cast<shared_part*>(
      peers_.own().staging(part_at_, sizeof(shared_part), nullptr));
}

// Does not wait, because the first collective may be a non-blocking one.
bool communicator::take_part(bool willing) noexcept {
  path::own_segment& own = peers_.own();
  willing = world_ranks(peers_, comm, ranks, world) && willing;
  cards_.resize(static_cast<std::size_t>(ranks));
  auto held = progress_.lock();
  const auto at = willing ? own.arena().take(sizeof(shared_part)) : std::nullopt;
  has_part_ = willing = at.has_value();
  part_at_ = at.value_or(0);
  if (willing) {
    auto* part = new (own_part()) shared_part{};
    protocol = agreement(part->line, ranks, rank);
  }
  static std::uint64_t parts = 0;  // under the lock
  card_ = {part_at_, willing, ++parts, {}};
  name_retired();
  return pmpi::Iallgather(&card_, sizeof card_, MPI_BYTE, cards_.data(), sizeof card_, MPI_BYTE,
                          comm, &join_request_) == MPI_SUCCESS;
}

bool communicator::joined() noexcept {
  auto held = progress_.lock();
  if (state != phase::joining) return true;
  int complete = 0;
  const int code = pmpi::Test(&join_request_, &complete, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && !complete) return false;
  if (code == MPI_SUCCESS) drop_what_all_have_retired();
  const bool together = code == MPI_SUCCESS && all_willing();
  if (code == MPI_SUCCESS && !together) give_part();  // no rank looks at it
  state = together && link() ? phase::fresh : phase::absent;
  return true;
}

// All ranks have the same cards, so all find the same.
bool communicator::all_willing() const noexcept {
  return std::ranges::all_of(cards_, [](const card& c) { return c.willing != 0; });
}

bool communicator::retired() const noexcept {
  return has_part_ && released_ && state != phase::joining && rooms.empty() && calls.empty();
}

void communicator::name_retired() noexcept {
  std::size_t named = 0;
  for (const auto& one : *channels)
    if (named < card::most_retired && one->world == world && one->retired())
      card_.retired[named++] = one->name();
}

// `channel` destroys them.
void communicator::drop_what_all_have_retired() const noexcept {
  for (const auto& one : *channels) {
    const auto names_it = [&](const card& c) { return c.names(one->name()); };
    if (one->retired() && one->world == world && std::ranges::all_of(cards_, names_it))
      one->give_part();
  }
}

// This rank's kernels use peers' rooms no more: the program has waited for its streams.
void communicator::release() noexcept {
  auto held = progress_.lock();
  released_ = true;
  if (has_part_) own_part()->released.store(true, std::memory_order_release);
}

bool communicator::all_released() const noexcept {
  for (int r = 0; r < ranks; ++r) {
    const auto* released = released_of[static_cast<std::size_t>(r)];
    if (!released || !released->load(std::memory_order_acquire)) return false;
  }
  return true;
}

bool communicator::unseen() const noexcept {
  return state != phase::joining && !has_part_;
}

bool communicator::link() noexcept {
  std::array<agreement_line*, most_ranks> lines{};
  for (int r = 0; r < ranks; ++r) {
    const auto i = static_cast<std::size_t>(r);
    auto* part = reinterpret_cast<shared_part*>(
        peers_.segment_of(world[i]).staging(cards_[i].part_at, sizeof(shared_part), nullptr));
    if (!part) return false;
    lines[i] = &part->line;
    step_flags_of[i] = &part->flags;
    released_of[i] = &part->released;
  }
  protocol.know(lines.data());
  return true;
}

// Only in a call that may wait for all ranks.
void communicator::settle() noexcept {
  progress_.wait_unlocked("a collective behind others", [this] {
    auto held = progress_.lock();
    return joined() && calls.empty();
  });
}

communicator::~communicator() {
  give_part();
}

void communicator::give_part() noexcept {
  if (!has_part_) return;
  auto held = progress_.lock();
  peers_.own().arena().give(part_at_, sizeof(shared_part));
  has_part_ = false;
}

// Peers may still look at this rank's line until they have entered MPI_Comm_free as well.
void communicator::forget(MPI_Comm freed) noexcept {
  std::unique_ptr<communicator> gone;
  {
    std::lock_guard lock(guard);
    const auto found = by_comm->find(freed);
    if (found == by_comm->end()) return;
    const bool over = found->second.life.over();
    gone = std::move(found->second.made);
    by_comm->erase(found);
    last_ = {};
    if (over) return keep_orphan(std::move(gone));
  }
  if (!gone) return;
  gone->settle();
  if (gone->state == phase::absent) return;
  ticket::blocking_call blocked;
  pmpi::Barrier(freed);
}

void communicator::shut_down() noexcept {
  for (auto& [comm, one] : *by_comm)
    if (one.made) one.made->settle();
  for (auto& one : *channels) one->settle();
  for (auto& one : *orphans) one->settle();
  auto& progress = ticket::progress();
  progress.meet_node("MPI_Finalize");  // no rank is in a collective
  {
    std::lock_guard lock(guard);
    by_comm->clear();
    channels->clear();
    orphans->clear();
    last_ = {};
  }
  memory::allocations::instance().clear();
  progress.meet_node("MPI_Finalize");  // no rank has a workspace mapped
  release_contexts();
}

}  // namespace telpher::coll::exchange
