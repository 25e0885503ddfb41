// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/sites.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>

#include "base/lasting.hpp"
#include "coll/between/votes.hpp"
#include "coll/between/ways.hpp"
#include "host_mpi/intracomm.hpp"
#include "ticket/peers.hpp"

namespace telpher::coll::between {
namespace {

std::mutex guard;
lasting<std::vector<std::unique_ptr<site>>> sites;

std::unique_ptr<site> take_out(const site* which) noexcept {
  std::lock_guard lock(guard);
  const auto at = std::find_if(sites->begin(), sites->end(),
                               [&](const auto& one) { return one.get() == which; });
  if (at == sites->end()) return nullptr;
  auto taken = std::move(*at);
  sites->erase(at);
  return taken;
}

/// False for the site of an earlier communicator with the same handle.
bool is_of(const site& s, MPI_Comm comm) noexcept {
  return s.comm == comm && !s.life.over();
}

site* find(MPI_Comm comm) noexcept {
  std::lock_guard lock(guard);
  for (const auto& one : *sites)
    if (is_of(*one, comm) && !one->channel) return one.get();
  return nullptr;
}

}  // namespace

site& site_of(MPI_Comm comm) {
  if (site* const known = find(comm)) return *known;
  auto made = std::make_unique<site>(comm);
  std::lock_guard lock(guard);
  return *sites->emplace_back(std::move(made));
}

void vote_again(MPI_Comm comm) noexcept {
  if (site* const known = find(comm)) known->of_calls.clear();
}

void forget_site(site& s) noexcept {
  take_out(&s);
}

namespace {

constexpr std::ptrdiff_t most_prepared = 64;  // each takes a communicator of the host MPI

/// Persistent collectives have a limit of their own.
bool has_place() noexcept {
  std::lock_guard lock(guard);
  return std::ranges::count(*sites, false, [](const auto& one) { return one->channel; }) <=
         most_prepared;
}

/// The same answer at all ranks.
bool crosses_nodes(MPI_Comm comm) noexcept {
  ticket::peer_table& peers = ticket::peers();
  if (!host_mpi::is_our_intracomm(peers.job(), comm)) return false;
  for (int r = 0, ranks = host_mpi::place_in(comm).ranks; r < ranks; ++r)
    if (!peers.shares_node(host_mpi::world_rank(peers.job(), comm, r))) return true;
  return false;
}

void begin_room(site& s) noexcept {
  if (!s.met) {
    auto found = shape_of(s.comm);
    s.met = found.has_value();
    if (found) s.among = std::move(*found);
  }
  if (s.met && !s.among.nodes.empty()) s.room = room::begin(s.comm, s.among.own_node());
}

}  // namespace

void prepare(MPI_Comm comm) noexcept {
  if (!ticket::job().all_devices || !any_worthwhile() || !crosses_nodes(comm)) return;
  site* s = nullptr;
  const bool ready = has_memory_for([&] { s = &site_of(comm); }) && has_place();
  if (all_say(comm, ready)) begin_room(*s);
  if (s && !s->room) forget_site(*s);
}

bool has_room(site& s) noexcept {
  if (!s.room) begin_room(s);
  if (s.room && s.room->make_now()) return true;
  const bool for_good = s.met && s.among.nodes.empty();
  s.refused = ++s.refusals >= site::most_refusals || for_good;
  return false;
}

site* begun_site(MPI_Comm comm) noexcept {
  site* const s = find(comm);
  return s && !s->refused && s->room ? s : nullptr;
}

void site::settle(const char* what, bool all) noexcept {
  ticket::progress().wait_until(what,
                                [&] { return all ? crossings.settled() : crossings.empty(); });
}

site::~site() {
  settle("MPI_Comm_free", true);
}

// --- channels ---

namespace {

constexpr std::size_t most_channels = 8;  // of a communicator

/// The channels of a communicator, in the order in which all ranks have made them.
struct channels {
  std::array<site*, most_channels> all{};
  std::size_t count = 0;

  explicit channels(MPI_Comm comm) noexcept {
    std::lock_guard lock(guard);
    for (const auto& one : *sites)
      if (is_of(*one, comm) && one->channel) all[count++] = one.get();
  }
};

/// Collective: which of them no rank uses. False: some rank does not agree, or the host MPI fails.
bool find_unused(MPI_Comm comm, const channels& there, bool mine,
                 std::array<bool, most_channels>& unused) noexcept {
  std::array<std::int64_t, most_channels + 1> words{};
  words[most_channels] = mine;
  for (std::size_t i = 0; i < there.count; ++i) words[i] = !there.all[i]->in_use;
  if (!least(comm, words) || words[most_channels] != 1) return false;
  std::copy_n(words.begin(), most_channels, unused.begin());
  return true;
}

/// A new one without a room. The memory for its entry is reserved.
std::unique_ptr<site> prepared(const site& of) noexcept {
  std::unique_ptr<site> made;
  const bool there = has_memory_for([&] {
    made = std::make_unique<site>(of.comm, true);
    made->among = of.among;
    std::lock_guard lock(guard);
    sites->reserve(sites->size() + 1);
  });
  return there ? std::move(made) : nullptr;
}

site* make_channel(std::unique_ptr<site> made) noexcept {
  made->room = room::begin(made->comm, made->among.own_node());
  if (!made->room || !made->room->make_now()) return nullptr;
  std::lock_guard lock(guard);
  return sites->emplace_back(std::move(made)).get();
}

}  // namespace

site* take_channel(site& of) noexcept {
  const channels there(of.comm);
  auto fresh = prepared(of);
  std::array<bool, most_channels> unused{};
  if (!find_unused(of.comm, there, fresh != nullptr, unused)) return nullptr;
  const auto first = std::find(unused.begin(), unused.end(), true);
  site* taken = nullptr;
  if (first != unused.end())
    taken = there.all[static_cast<std::size_t>(first - unused.begin())];
  else if (there.count < most_channels)
    taken = make_channel(std::move(fresh));
  if (taken) taken->in_use = true;
  return taken;
}

// --- the end ---

// A channel that is in use stays: persistent requests may live longer than their communicator.
void forget(MPI_Comm comm) noexcept {
  const channels there(comm);
  std::array<bool, most_channels> unused{};
  if (there.count > 0) static_cast<void>(find_unused(comm, there, true, unused));
  for (std::size_t i = 0; i < there.count; ++i) {
    there.all[i]->comm = MPI_COMM_NULL;
    if (unused[i]) take_out(there.all[i]);  // without the lock, because it waits for other ranks
  }
  if (site* const own = find(comm)) take_out(own);
}

// Ranks with several threads may have made their rooms in different orders, so that no room can
// wait for its own ranks here: the node's ranks meet once for all rooms.
void shut_down() noexcept {
  std::vector<std::unique_ptr<site>> ending;
  {
    std::lock_guard lock(guard);
    ending.swap(*sites);
  }
  for (const auto& one : ending) {
    one->settle("MPI_Finalize", true);
    if (one->room) one->room->close_mappings();
  }
  ticket::progress().meet_node("MPI_Finalize");  // no rank has another's memory mapped
}

}  // namespace telpher::coll::between
