// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/message_channel.hpp"

#include <algorithm>

#include "base/settings.hpp"
#include "device/registry.hpp"
#include "host_mpi/intracomm.hpp"
#include "mpi/entry.hpp"
#include "path/path.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::mpi {
namespace {

using pointer = message_channel::pointer;

int key = MPI_KEYVAL_INVALID;

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int delete_channel(MPI_Comm, int, void* of, void*) {
  delete static_cast<pointer*>(of);
  return MPI_SUCCESS;
}

bool may_serve(MPI_Comm comm) noexcept {
  return key != MPI_KEYVAL_INVALID && config().coll != "staged" &&
         host_mpi::is_our_intracomm(ticket::job(), comm);
}

bool runtime_started() noexcept {
  const auto all = device::backends();
  return std::any_of(all.begin(), all.end(), [](device::backend* b) { return b->started(); });
}

// A dimension has two neighbours. What one sends, the opposite side of the other receives, also
// where both are one rank (MPI-4.1, 8.6). A message has the receiver's index as its tag.
neighbourhood of_grid(MPI_Comm comm, int dimensions) {
  neighbourhood found;
  for (int d = 0; d < dimensions; ++d) {
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    pmpi::Cart_shift(comm, d, 1, &below, &above);
    for (const int rank : {below, above}) {
      const std::size_t i = found.from.size();
      found.from.push_back({rank, static_cast<int>(i), i});
      found.to.push_back({rank, static_cast<int>(i ^ 1), i});
    }
  }
  return found;
}

std::vector<neighbour> listed(const std::vector<int>& ranks) {
  std::vector<neighbour> list;
  list.reserve(ranks.size());
  for (const int rank : ranks) list.push_back({rank, 0, list.size()});
  return list;
}

neighbourhood of_graph(MPI_Comm comm, int rank) {
  int count = 0;
  pmpi::Graph_neighbors_count(comm, rank, &count);
  std::vector<int> ranks(static_cast<std::size_t>(count));
  pmpi::Graph_neighbors(comm, rank, count, ranks.data());
  return {listed(ranks), listed(ranks)};
}

neighbourhood of_distributed_graph(MPI_Comm comm) {
  int in = 0, out = 0, weighted = 0;
  pmpi::Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  const auto n_in = static_cast<std::size_t>(in), n_out = static_cast<std::size_t>(out);
  std::vector<int> from(n_in), to(n_out), from_weights(n_in), to_weights(n_out);
  pmpi::Dist_graph_neighbors(comm, in, from.data(), from_weights.data(), out, to.data(),
                             to_weights.data());
  return {listed(to), listed(from)};
}

}  // namespace

// --- the state ---

message_channel::message_channel(MPI_Comm comm)
    : staged_before_(path::used(path::kind::coll_staged).messages) {
  pmpi::Comm_rank(comm, &rank_);
  pmpi::Comm_size(comm, &size_);
  int topology = MPI_UNDEFINED;
  pmpi::Topo_test(comm, &topology);
  has_topology_ = topology != MPI_UNDEFINED;
  if (topology == MPI_CART) {
    int dimensions = 0;
    pmpi::Cartdim_get(comm, &dimensions);
    neighbours_ = of_grid(comm, dimensions);
    tags_ = std::max(2 * dimensions, 1);
  } else if (topology == MPI_GRAPH) {
    neighbours_ = of_graph(comm, rank_);
  } else if (topology == MPI_DIST_GRAPH) {
    neighbours_ = of_distributed_graph(comm);
  }
}

message_channel::~message_channel() {
  if (wire_ == MPI_COMM_NULL) return;
  entry::comm_freed(wire_);
  pmpi::Comm_free(&wire_);
}

pointer message_channel::known(MPI_Comm comm) noexcept {
  pointer* found = nullptr;
  int flag = 0;
  if (key == MPI_KEYVAL_INVALID || comm == MPI_COMM_NULL) return nullptr;
  pmpi::Comm_get_attr(comm, key, &found, &flag);
  return flag ? *found : nullptr;
}

pointer message_channel::of(MPI_Comm comm) noexcept {
  if (!may_serve(comm)) return nullptr;
  if (pointer there = known(comm)) return there;
  auto fresh = std::make_unique<pointer>(std::make_shared<message_channel>(comm));
  if (pmpi::Comm_set_attr(comm, key, fresh.get()) != MPI_SUCCESS) return nullptr;
  return *fresh.release();
}

const neighbourhood& message_channel::everybody() {
  if (!everybody_.to.empty()) return everybody_;
  for (int i = 0; i < size_; ++i) {
    const int to = (rank_ + i) % size_, from = (rank_ + size_ - i) % size_;
    everybody_.to.push_back({to, 0, static_cast<std::size_t>(to)});
    everybody_.from.push_back({from, 0, static_cast<std::size_t>(from)});
  }
  return everybody_;
}

bool message_channel::settles_now() noexcept {
  if (final_) return false;
  ++blocking_calls_;
  return (blocking_calls_ & (blocking_calls_ - 1)) == 0;
}

void message_channel::settle(MPI_Comm comm, bool mine) noexcept {
  const std::uint64_t staged = path::used(path::kind::coll_staged).messages;
  final_ = in_force_ = agree(comm, mine || staged != staged_before_);
  staged_before_ = staged;
}

bool message_channel::agree(MPI_Comm comm, bool mine) noexcept {
  const ticket::blocking_call blocked;
  int own = mine, all = 0;
  if (pmpi::Allreduce(&own, &all, 1, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS) return false;
  return all != 0 && open(comm);
}

// MPI_Comm_create copies no attributes, and so calls no function of the program.
bool message_channel::open(MPI_Comm comm) noexcept {
  if (wire_ != MPI_COMM_NULL) return true;
  MPI_Group members = MPI_GROUP_NULL;
  pmpi::Comm_group(comm, &members);
  const int code = pmpi::Comm_create(comm, members, &wire_);
  pmpi::Group_free(&members);
  if (code != MPI_SUCCESS) {
    wire_ = MPI_COMM_NULL;
    return false;
  }
  pmpi::Comm_set_errhandler(wire_, MPI_ERRORS_RETURN);
  return true;
}

int message_channel::take_tags() noexcept {
  const std::int64_t first = std::int64_t{tags_} * (persistent_ + 1);
  if (first + tags_ > ticket::job().tag_limit) return -1;
  ++persistent_;
  return static_cast<int>(first);
}

namespace by_messages {

void start() noexcept {
  if (pmpi::Comm_create_keyval(copy_nothing, delete_channel, &key, nullptr) != MPI_SUCCESS)
    key = MPI_KEYVAL_INVALID;
}

void stop() noexcept {
  if (key == MPI_KEYVAL_INVALID) return;
  if (host_mpi::world_model)
    for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
      if (message_channel::known(comm)) pmpi::Comm_delete_attr(comm, key);
  pmpi::Comm_free_keyval(&key);
  key = MPI_KEYVAL_INVALID;
}

void topology_made(MPI_Comm made) noexcept {
  int topology = MPI_UNDEFINED;
  if (!may_serve(made)) return;
  if (pmpi::Topo_test(made, &topology); topology == MPI_UNDEFINED) return;
  if (const pointer channel = message_channel::of(made)) channel->expect(made, runtime_started());
}

}  // namespace by_messages

}  // namespace telpher::mpi
