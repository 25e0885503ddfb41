// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/room.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/settings.hpp"
#include "coll/between/votes.hpp"
#include "host_mpi/intracomm.hpp"
#include "host_mpi/test.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::coll::between {

bool fits_the_host(std::uint64_t bytes) noexcept {
  return bytes <= config().coll_block;
}
bool fits_a_kernel(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t most_chunks = 1024;  // a program numbers its signals with 16 bits
  return bytes > config().coll_kernel_from && bytes <= config().coll_kernel_limit &&
         bytes <= most_chunks * config().coll_block;
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
  auto data = memory::buffer::host(config().coll_block, where.owner, true);
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

namespace {

// A rank's host memory: the cookie comes first, then the flags, then the scratch space.
constexpr std::size_t flags_at = 64, calls_at = 1024, first_byte = 4096;
static_assert(flags_at + sizeof(exchange::step_flags) <= calls_at);

constexpr std::size_t host_flags_bytes =
    kernel::exchange::most_blocks * kernel::exchange::most_ranks * sizeof(std::uint64_t);

}  // namespace

/// Takes all host memory that making the room needs, except for the spaces.
room::room(const std::vector<int>& node, int ranks) : node_(node) {
  signalled_.resize(node.size());
  awaited_.resize(node.size());
  host_spaces_.reserve(node.size());
  spaces_.reserve(node.size());
  cards_.resize(static_cast<std::size_t>(ranks));
}

std::unique_ptr<room> room::begin(MPI_Comm comm, const std::vector<int>& node) noexcept {
  const auto [ranks, rank] = host_mpi::place_in(comm);
  std::unique_ptr<room> begun;
  if (!all_say(comm, has_memory_for([&] { begun.reset(new room(node, ranks)); }))) return nullptr;
  begun->own_ = begun->index_of(rank);
  ticket::blocking_call blocked;
  if (pmpi::Comm_split(comm, 0, rank, &begun->wire) != MPI_SUCCESS) return nullptr;
  pmpi::Comm_set_errhandler(begun->wire, MPI_ERRORS_RETURN);
  return begun;
}

// --- together, without waiting ---

bool room::ended() noexcept {
  const status s = host_mpi::test(request_);
  if (s == status::host_mpi_error) {
    good_ = false;
    all_say_ = 0;
  }
  return s != status::would_block;
}

template <class Own, class Open>
status room::take_step(const Own& own, const Open& open) noexcept {
  if (now_ == step::own_part) {
    good_ = own();
    now_ = step::cards;
    if (pmpi::Iallgather(&own_card_, sizeof own_card_, MPI_BYTE, cards_.data(), sizeof own_card_,
                         MPI_BYTE, wire, &request_) != MPI_SUCCESS)
      good_ = false;
  }
  if (now_ == step::cards) {
    if (!ended()) return status::would_block;
    good_ = open() && good_;
    said_ = good_;
    all_say_ = 0;
    now_ = step::saying;
    if (pmpi::Iallreduce(&said_, &all_say_, 1, MPI_INT, MPI_MIN, wire, &request_) != MPI_SUCCESS)
      all_say_ = 0;
  }
  if (!ended()) return status::would_block;
  now_ = step::own_part;
  return all_say_ == 1 ? status::ok : status::not_supported;
}

status room::make() noexcept {
  if (made_) return status::ok;
  const status came = take_step([&] { return own_part(); }, [&] { return open_parts(); });
  if (came == status::would_block) return came;
  made_ = came == status::ok;
  if (made_) {
    host_spaces_[own_].close_descriptor();
  } else {
    host_spaces_.clear();
    own_host_space_ = shared_memory();
  }
  return came;
}

status room::equip(const memory::place& device) noexcept {
  while (!tried_) {
    const status came = take_step([&] { return own_space(device); }, [&] { return open_spaces(); });
    if (came == status::would_block) return came;
    const bool again =
        kind_ == exchange::workspace_kind::device && exchange::workspace::tries_host_next();
    if (came == status::ok) where = device;
    tried_ = equipped() || !again;
    kind_ = exchange::workspace_kind::host;
  }
  return equipped() ? status::ok : status::not_supported;
}

bool room::make_now() noexcept {
  status came = status::ok;
  ticket::progress().wait_until("a room of a communicator between nodes",
                                [&] { return (came = make()) != status::would_block; });
  return came == status::ok;
}

void room::equip_now(const memory::place& device) noexcept {
  ticket::progress().wait_until("a room's devices",
                                [&] { return equip(device) != status::would_block; });
}

// --- in host memory ---

/// This rank's last call that has begun, last that has failed, last whose kernel has ended.
struct room::kernel_calls {
  std::atomic<std::uint64_t> begun{0}, failed{0}, over{0};
};

bool room::own_part() noexcept {
  own_card_.host_space = {};
  auto space = shared_memory::create(first_byte + config().coll_scratch + config().coll_block,
                                     "telpher-between");
  if (!space) return false;
  new (space->data() + flags_at) exchange::step_flags{};
  new (space->data() + calls_at) kernel_calls{};
  own_card_.host_space = space->name();
  own_host_space_ = std::move(*space);
  return true;
}

bool room::open_parts() noexcept {
  for (std::size_t i = 0; i < node_.size(); ++i) {
    const shared_memory_name& of = cards_[static_cast<std::size_t>(node_[i])].host_space;
    if (of.bytes == 0) return false;
    if (i == own_) {
      host_spaces_.push_back(std::move(own_host_space_));
      continue;
    }
    auto space = shared_memory::open(of);
    if (!space) return false;
    host_spaces_.push_back(std::move(*space));
  }
  return true;
}

exchange::step_flags& room::flags_of(std::size_t i) const noexcept {
  return *reinterpret_cast<exchange::step_flags*>(host_spaces_[i].data() + flags_at);
}

room::kernel_calls& room::kernel_calls_of(std::size_t i) const noexcept {
  return *reinterpret_cast<kernel_calls*>(host_spaces_[i].data() + calls_at);
}

// --- on devices ---

bool room::own_space(const memory::place& device) noexcept {
  spaces_.clear();
  own_card_.space = {};
  if (out.fill(device) != status::ok || in.fill(device) != status::ok) return false;
  auto flags = memory::buffer::for_kernels(host_flags_bytes, device.owner);
  if (!flags) return false;
  host_flags_ = std::move(*flags);
  std::memset(host_flags_.data(), 0, host_flags_bytes);
  auto space = exchange::workspace::make(kind_, device);
  if (!space) return false;
  own_space_ = std::move(*space);
  own_card_.space = own_space_.exported();
  device_ = device;
  return true;
}

bool room::open_spaces() noexcept {
  if (!good_) return false;
  for (std::size_t i = 0; i < node_.size(); ++i) {
    if (i == own_) {
      spaces_.push_back({own_space_.id(), own_space_.base()});
      continue;
    }
    const int world = host_mpi::world_rank(ticket::job(), wire, node_[i]);
    const path::exported_memory& of = cards_[static_cast<std::size_t>(node_[i])].space;
    if (of.address == 0) return false;
    auto opened = exchange::mapped_workspace::open(kind_, world, of, device_);
    if (!opened) return false;
    spaces_.push_back(std::move(*opened));
  }
  return true;
}

room::~room() {
  if (wire == MPI_COMM_NULL) return;
  spaces_.clear();
  if (abandoned_) return;  // a peer is lost: nobody can be waited for
  ticket::blocking_call blocked;
  if (made_) pmpi::Barrier(wire);
  pmpi::Comm_free(&wire);
}

void room::close_mappings() noexcept {
  spaces_.clear();
  made_ = false;
}

void room::abandon() noexcept {
  out.abandon();
  in.abandon();
  own_space_.abandon();
  new memory::buffer(std::move(host_flags_));
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
  exchange::workspace::place_in(s, spaces_[i].base.get());
  return reinterpret_cast<std::byte*>(s.scratch);
}

std::byte* room::unwanted() const noexcept {
  return host_spaces_[own_].data() + first_byte + config().coll_scratch;
}

void room::signal(int peer, bool failed) noexcept {
  const std::size_t i = index_of(peer);
  const std::uint64_t value = ++signalled_[i] << 1 | (failed ? 1 : 0);
  flags_of(i).from[own_].store(value, std::memory_order_release);
}

status room::wait(int peer) noexcept {
  const std::size_t i = index_of(peer);
  const std::uint64_t value = flags_of(own_).from[i].load(std::memory_order_acquire);
  if (value >> 1 <= awaited_[i]) return status::would_block;
  ++awaited_[i];
  return (value & 1) != 0 ? status::peer_lost : status::ok;
}

// --- one kernel ---

std::uint64_t* room::kernel_flags_of(std::size_t place) const noexcept {
  return exchange::workspace::flags_in(spaces_[place].base.get());
}

std::uint64_t room::next_kernel_call() noexcept {
  kernel_calls_of(own_).begun.store(++kernel_calls_, std::memory_order_release);
  return kernel_calls_;
}

void room::tell_failure(std::uint64_t call) noexcept {
  kernel_calls_of(own_).failed.store(call, std::memory_order_release);
}

bool room::has_failed(std::uint64_t call) const noexcept {
  for (std::size_t i = 0; i < host_spaces_.size(); ++i)
    if (i != own_ && kernel_calls_of(i).failed.load(std::memory_order_acquire) == call) return true;
  return false;
}

void room::tell_kernel_is_over(std::uint64_t call) noexcept {
  kernel_calls_of(own_).over.store(call, std::memory_order_release);
}

bool room::kernels_are_over(std::uint64_t call) const noexcept {
  for (std::size_t i = 0; i < host_spaces_.size(); ++i)
    if (i != own_ && kernel_calls_of(i).over.load(std::memory_order_acquire) < call) return false;
  return true;
}

bool room::is_begun(std::uint64_t call) const noexcept {
  for (std::size_t i = 0; i < host_spaces_.size(); ++i)
    if (i != own_ && kernel_calls_of(i).begun.load(std::memory_order_acquire) >= call) return true;
  return false;
}

}  // namespace telpher::coll::between
