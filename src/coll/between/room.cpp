// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/room.hpp"

#include <algorithm>
#include <new>

#include "base/settings.hpp"
#include "coll/between/votes.hpp"
#include "host_mpi/job.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::coll::between {

bool fits_the_host(std::uint64_t bytes) noexcept {
  return bytes <= room::block_bytes();
}

// --- slots ---

slot* slot_ring::take() noexcept {
  for (slot& s : slots_)
    if (!s.taken) {
      s.taken = true;
      return &s;
    }
  return nullptr;
}

slot* slot_ring::grow(const memory::place& where) noexcept {
  auto data = memory::buffer::host(room::block_bytes(), where.owner, true);
  if (!data) return nullptr;
  auto event = memory::pooled_event::acquire(where);
  if (!event) return nullptr;
  data->filled();
  try {
    slots_.push_back({std::move(*data), std::move(*event), true});
    return &slots_.back();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

status slot_ring::fill(const memory::place& where) noexcept {
  while (slots_.size() < usual) {
    slot* s = grow(where);
    if (!s) return status::out_of_memory;
    s->taken = false;
  }
  return status::ok;
}

void slot_ring::abandon() noexcept {
  new std::deque<slot>(std::move(slots_));
}

// --- the room ---

std::uint64_t room::scratch_bytes() noexcept {
  return config().coll_scratch;
}

std::uint64_t room::block_bytes() noexcept {
  return config().coll_block;
}

namespace {

constexpr std::size_t first_byte = 4096;  // of a host scratch space, behind the cookie

/// Of the ranks of the node, while the room is made.
class local_comm {
 public:
  local_comm(MPI_Comm comm, int first, int rank) noexcept {
    if (pmpi::Comm_split(comm, first, rank, &made) == MPI_SUCCESS)
      pmpi::Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  }
  local_comm(const local_comm&) = delete;
  local_comm& operator=(const local_comm&) = delete;
  ~local_comm() {
    if (made != MPI_COMM_NULL) pmpi::Comm_free(&made);
  }
  MPI_Comm made = MPI_COMM_NULL;
};

}  // namespace

/// All that the making of a room takes of the host's memory, but for the spaces themselves.
room::room(const std::vector<int>& node) : node_(node) {
  signalled_.resize(node.size());
  awaited_.resize(node.size());
  lines_.reserve(node.size());
  host_spaces_.reserve(node.size());
  spaces_.reserve(node.size());
}

std::unique_ptr<room> room::make(MPI_Comm comm, const std::vector<int>& node,
                                 const vote& all) noexcept {
  std::unique_ptr<room> made;
  if (!all(has_memory_for([&] { made.reset(new room(node)); }))) return nullptr;
  int rank = 0;
  pmpi::Comm_rank(comm, &rank);
  made->own_ = made->index_of(rank);
  const local_comm own(comm, node.front(), rank);
  if (pmpi::Comm_split(comm, 0, rank, &made->wire) != MPI_SUCCESS) return nullptr;
  pmpi::Comm_set_errhandler(made->wire, MPI_ERRORS_RETURN);
  const bool good = made->share_flags(comm, own.made);
  const bool shared = made->share_host_scratch(own.made);
  if (!all(good && shared)) return nullptr;
  made->host_spaces_[made->own_].close_descriptor();
  return made;
}

bool room::equip(MPI_Comm comm, const memory::place& device, const vote& all) noexcept {
  if (tried_) return equipped();
  tried_ = true;
  if (!all(out.fill(device) == status::ok && in.fill(device) == status::ok)) return false;
  int rank = 0;
  pmpi::Comm_rank(comm, &rank);
  const local_comm own(comm, node_.front(), rank);
  const auto first = exchange::workspace::first_kind();
  const bool good =
      share_scratch(comm, own.made, device, first, all) ||
      (first == exchange::workspace_kind::device && exchange::workspace::tries_host_next() &&
       share_scratch(comm, own.made, device, exchange::workspace_kind::host, all));
  if (good) where = device;
  return good;
}

bool room::share_flags(MPI_Comm comm, MPI_Comm local) noexcept {
  const auto at = ticket::peers().own().arena().take(sizeof(exchange::step_flags));
  has_flags_ = at.has_value();
  flags_at_ = at.value_or(0);
  if (has_flags_)
    new (ticket::peers().own().staging(flags_at_, sizeof(exchange::step_flags), nullptr))
        exchange::step_flags{};
  std::array<std::uint64_t, exchange::most_ranks> places;
  const std::uint64_t own = has_flags_ ? flags_at_ + 1 : 0;
  {
    ticket::blocking_call blocked;
    if (pmpi::Allgather(&own, 1, MPI_UINT64_T, places.data(), 1, MPI_UINT64_T, local) !=
        MPI_SUCCESS)
      return false;
  }
  for (std::size_t i = 0; i < node_.size(); ++i) {
    const int world = host_mpi::world_rank(ticket::job(), comm, node_[i]);
    auto* line =
        places[i] == 0
            ? nullptr
            : reinterpret_cast<exchange::step_flags*>(ticket::peers().segment_of(world).staging(
                  places[i] - 1, sizeof(exchange::step_flags), nullptr));
    if (!line) return false;
    lines_.push_back(line);
  }
  return true;
}

bool room::share_host_scratch(MPI_Comm local) noexcept {
  const std::size_t bytes = first_byte + scratch_bytes() + block_bytes();
  auto made = shared_memory::create(bytes, "telpher-between");
  const shared_memory_name own = made ? made->name() : shared_memory_name{};
  std::array<shared_memory_name, exchange::most_ranks> names;
  {
    ticket::blocking_call blocked;
    if (pmpi::Allgather(&own, sizeof own, MPI_BYTE, names.data(), sizeof own, MPI_BYTE, local) !=
        MPI_SUCCESS)
      return false;
  }
  for (std::size_t i = 0; i < node_.size(); ++i) {
    auto space = i == own_ ? std::move(made) : shared_memory::open(names[i]);
    if (!space) return false;
    host_spaces_.push_back(std::move(*space));
  }
  return true;
}

bool room::share_scratch(MPI_Comm comm, MPI_Comm local, const memory::place& device,
                         exchange::workspace_kind kind, const vote& all) noexcept {
  spaces_.clear();
  auto made = exchange::workspace::make(kind, device);
  if (!all(made.has_value())) return false;
  own_space_ = std::move(*made);
  bool good = false;
  try {
    good = map_scratch(comm, local, device, kind);
  } catch (const std::bad_alloc&) {
  }
  return all(good);
}

bool room::map_scratch(MPI_Comm comm, MPI_Comm local, const memory::place& device,
                       exchange::workspace_kind kind) {
  std::array<path::exported_memory, exchange::most_ranks> exports;
  const path::exported_memory own = own_space_.exported();
  {
    ticket::blocking_call blocked;
    if (pmpi::Allgather(&own, sizeof own, MPI_BYTE, exports.data(), sizeof own, MPI_BYTE, local) !=
        MPI_SUCCESS)
      return false;
  }
  for (std::size_t i = 0; i < node_.size(); ++i) {
    if (i == own_) {
      spaces_.emplace_back(own_space_);
      continue;
    }
    const int world = host_mpi::world_rank(ticket::job(), comm, node_[i]);
    auto opened = exchange::mapped_workspace::open(kind, world, exports[i], device);
    if (!opened) return false;
    spaces_.push_back(std::move(*opened));
  }
  return true;
}

room::~room() {
  if (wire == MPI_COMM_NULL) return;
  spaces_.clear();
  if (abandoned_) return;  // a peer is lost: nobody can be waited for
  {
    ticket::blocking_call blocked;
    pmpi::Barrier(wire);
    pmpi::Comm_free(&wire);
  }
  if (!has_flags_) return;
  auto held = ticket::progress().lock();
  ticket::peers().own().arena().give(flags_at_, sizeof(exchange::step_flags));
}

void room::abandon() noexcept {
  out.abandon();
  in.abandon();
  own_space_.abandon();
  new std::vector<shared_memory>(std::move(host_spaces_));
  abandoned_ = true;
}

std::size_t room::index_of(int rank) const noexcept {
  const auto found = std::lower_bound(node_.begin(), node_.end(), rank);
  return found != node_.end() && *found == rank ? static_cast<std::size_t>(found - node_.begin())
                                                : node_.size();
}

std::byte* room::scratch_of(int rank, bool on_host) const noexcept {
  const std::size_t i = index_of(rank);
  if (on_host) return i < host_spaces_.size() ? host_spaces_[i].data() + first_byte : nullptr;
  if (i >= spaces_.size()) return nullptr;
  exchange::spaces s;
  exchange::workspace::place_in(s, spaces_[i].base());
  return reinterpret_cast<std::byte*>(s.scratch);
}

std::byte* room::unwanted() const noexcept {
  return host_spaces_[own_].data() + first_byte + scratch_bytes();
}

void room::signal(int peer, bool failed) noexcept {
  const std::size_t i = index_of(peer);
  const std::uint64_t value = ++signalled_[i] << 1 | (failed ? 1 : 0);
  lines_[i]->from[own_].store(value, std::memory_order_release);
}

status room::wait(int peer) noexcept {
  const std::size_t i = index_of(peer);
  const std::uint64_t value = lines_[own_]->from[i].load(std::memory_order_acquire);
  if (value >> 1 <= awaited_[i]) return status::would_block;
  ++awaited_[i];
  return (value & 1) != 0 ? status::peer_lost : status::ok;
}

}  // namespace telpher::coll::between
