// SPDX-License-Identifier: BSD-3-Clause
#include "coll/two_level/team.hpp"

#include <algorithm>
#include <map>
#include <new>

#include "base/settings.hpp"
#include "host_mpi/job.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::coll::two_level {
namespace {

/// What a rank sees of its node: the first rank there, and a mark of all of them.
struct card {
  int first;
  int ranks;
  std::uint64_t mark;

  friend bool operator==(const card&, const card&) = default;
};

card card_of(const std::vector<int>& node) {
  std::uint64_t mark = 1469598103934665603u;
  for (const int r : node) mark = (mark ^ static_cast<std::uint64_t>(r)) * 1099511628211u;
  return {node.front(), static_cast<int>(node.size()), mark};
}

std::vector<int> ranks_here(MPI_Comm comm, int ranks) {
  ticket::peer_table& peers = ticket::peers();
  std::vector<int> here;
  for (int r = 0; r < ranks; ++r) {
    const int world = host_mpi::world_rank(peers.job(), comm, r);
    if (world >= 0 && peers.shares_node(world)) here.push_back(r);
  }
  return here;
}

/// The shape from the cards of all ranks; no nodes where the ranks do not see the same nodes.
shape shape_of(const std::vector<card>& cards, int own_rank) {
  std::map<int, std::vector<int>> found;
  for (std::size_t r = 0; r < cards.size(); ++r)
    found[cards[r].first].push_back(static_cast<int>(r));
  shape s;
  std::size_t least = cards.size(), most = 0;
  for (auto& [first, node] : found) {
    for (const int r : node)
      if (!(cards[static_cast<std::size_t>(r)] == card_of(node))) return {};
    least = std::min(least, node.size());
    most = std::max(most, node.size());
    s.nodes.push_back(std::move(node));
  }
  if (most > static_cast<std::size_t>(exchange::most_ranks)) return {};
  s.lanes = static_cast<int>(least);
  s.even = s.consecutive = least == most;
  int next = 0;
  for (const auto& node : s.nodes)
    for (const int r : node) s.consecutive = s.consecutive && r == next++;
  const shape::seat own = s.seat_of(own_rank);
  s.node = own.node;
  s.index = own.index;
  return s;
}

void free_comm(MPI_Comm& comm) noexcept {
  if (comm == MPI_COMM_NULL) return;
  exchange::communicator::forget(comm);
  host_mpi::forget(comm);
  pmpi::Comm_free(&comm);
}

}  // namespace

shape::seat shape::seat_of(int rank) const noexcept {
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto found = std::lower_bound(nodes[n].begin(), nodes[n].end(), rank);
    if (found != nodes[n].end() && *found == rank)
      return {static_cast<int>(n), static_cast<int>(found - nodes[n].begin())};
  }
  return {0, 0};
}

std::unique_ptr<team> team::make(MPI_Comm comm) noexcept {
  int ranks = 0, own_rank = 0;
  pmpi::Comm_size(comm, &ranks);
  pmpi::Comm_rank(comm, &own_rank);
  try {
    const card own = card_of(ranks_here(comm, ranks));
    std::vector<card> cards(static_cast<std::size_t>(ranks));
    ticket::blocking_call blocked;
    if (pmpi::Allgather(&own, sizeof own, MPI_BYTE, cards.data(), sizeof own, MPI_BYTE, comm) !=
        MPI_SUCCESS)
      return nullptr;
    auto fresh = std::make_unique<team>(comm);
    fresh->among = shape_of(cards, own_rank);
    if (fresh->among.nodes.size() < 2 || !fresh->split()) return nullptr;
    return fresh;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool team::split() noexcept {
  int own_rank = 0;
  pmpi::Comm_rank(comm, &own_rank);
  const int lane = leads() ? among.index : MPI_UNDEFINED;
  if (pmpi::Comm_split(comm, among.node, own_rank, &local) != MPI_SUCCESS ||
      pmpi::Comm_split(comm, lane, among.node, &leaders) != MPI_SUCCESS)
    return false;
  // Errors come back to the call, which raises them on the program's communicator.
  pmpi::Comm_set_errhandler(local, MPI_ERRORS_RETURN);
  if (leads()) pmpi::Comm_set_errhandler(leaders, MPI_ERRORS_RETURN);
  devices = exchange::communicator::of(local);
  return true;
}

bool team::prepare_room(const memory::place& device, const between::room::vote& all) noexcept {
  try {
    room = between::room::make(comm, local, among.own_node(), device, all);
  } catch (const std::bad_alloc&) {
  }
  return room != nullptr;
}

void team::settle(const char* what, bool all) noexcept {
  auto& e = ticket::progress();
  auto held = e.lock();
  e.wait_until(held, what, [&] { return all ? crossings.settled() : crossings.empty(); });
}

team::~team() {
  settle("MPI_Comm_free", true);
  room.reset();
  free_comm(leaders);
  free_comm(local);
}

bool team::prepare(const memory::place& device) noexcept {
  const std::size_t block = config().coll_block;
  const std::size_t node = block * among.own_node().size();
  const auto make = [](memory::buffer& to, result<memory::buffer> made) {
    if (made) to = std::move(*made);
    to.filled();
    return made.has_value();
  };
  where_ = device;
  return make(device_, memory::buffer::device(device, slots * block)) &&
         make(send_, memory::buffer::host(slots * block, device.owner, true)) &&
         make(receive_, memory::buffer::host(slots * block, device.owner, true)) &&
         make(image_in_, memory::buffer::host(node, device.owner)) &&
         make(image_out_, memory::buffer::host(node, device.owner));
}

memory_ref team::part(const memory::buffer& b, const memory::place& p, int slot) noexcept {
  return {static_cast<std::byte*>(b.data()) + static_cast<std::size_t>(slot) * config().coll_block,
          p};
}

}  // namespace telpher::coll::two_level
