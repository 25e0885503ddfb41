// SPDX-License-Identifier: BSD-3-Clause
#include "rma/relay.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/log.hpp"
#include "memory/held_streams.hpp"
#include "ticket/progress.hpp"
#pragma GCC visibility push(default)
#include "telpher/device.h"
#pragma GCC visibility pop

namespace telpher::rma {
namespace {

// A large put is as fast as a piece's fixed costs at the receiver are spread: 1 MB of one block
// took 427 us in pieces of 32 KB, 177 in these (two H100s, MPICH's shared memory).
constexpr std::uint64_t slot_count = 32;
constexpr std::size_t message_bytes = 256 * 1024, command_bytes = sizeof(telpher_device_command),
                      capacity = message_bytes - command_bytes;
constexpr std::size_t arrival_count = 16, line_bytes = 128;
static_assert(command_bytes == 64 && (slot_count & (slot_count - 1)) == 0);

std::atomic_ref<std::uint64_t> shared(std::uint64_t& word) noexcept {
  return std::atomic_ref<std::uint64_t>(word);
}

bool is_answered(std::uint32_t what) noexcept {
  return (what & (telpher_device::relayed_get | telpher_device::relayed_quiet)) != 0;
}

}  // namespace

// --- the life of one ---

result<std::unique_ptr<relay>> relay::make(const char* what, const wire& by,
                                           const memory::place& here, std::byte* base) noexcept {
  std::unique_ptr<relay> made(new (std::nothrow) relay);
  if (!made) return status::out_of_memory;
  made->here_ = here;
  made->base_ = base;
  made->what_ = what;
  made->by_ = by;
  const status s = made->prepare();
  if (!failed(s)) return made;
  made->by_.owned = false;
  return s;
}

status relay::prepare() noexcept {
  int ranks = 0;
  pmpi::Comm_rank(by_.comm, &rank_);
  pmpi::Comm_size(by_.comm, &ranks);
  try {
    in_use_.resize(slot_count);
    arrivals_.resize(arrival_count);
    put_to_.resize(static_cast<std::size_t>(ranks));
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  constexpr std::size_t bytes = line_bytes + (slot_count + arrival_count) * message_bytes;
  const auto pinned = here_.owner->allocate_pinned(bytes);
  TELPHER_TRY(pinned);
  pinned_ = static_cast<std::byte*>(*pinned);
  std::memset(pinned_, 0, bytes);
  freed_ = reinterpret_cast<std::uint64_t*>(pinned_);
  slots_ = pinned_ + line_bytes;
  for (std::size_t i = 0; i < arrival_count; ++i)
    arrivals_[i].message = slots_ + (slot_count + i) * message_bytes;

  TELPHER_TRY(memory::own_stream::make(here_).into(stream_));
  auto queue = memory::buffer::device(here_, sizeof(telpher_device_queue));
  TELPHER_TRY(queue);
  telpher_device_queue q{};
  q.freed = static_cast<const std::uint64_t*>(here_.owner->kernel_address(freed_));
  q.slots = static_cast<unsigned char*>(here_.owner->kernel_address(slots_));
  q.count = slot_count;
  q.stride = message_bytes;
  q.capacity = capacity;
  TELPHER_TRY(memory::copy_and_wait(here_, queue->data(), &q, sizeof q));
  queue_ = std::move(*queue);
  for_kernels_ = static_cast<telpher_device_queue*>(here_.owner->kernel_address(queue_.data()));
  TELPHER_TRY(here_.owner->prepare(here_.device, kernel::id::add_word));
  for (arrival& a : arrivals_) receive_next(a);
  return broken_ ? status::host_mpi_error : status::ok;
}

// After a failure the host MPI may still read or write what is pinned: it stays.
relay::~relay() {
  if (broken_) return;
  for (arrival& a : arrivals_)
    if (a.request != MPI_REQUEST_NULL) {
      pmpi::Cancel(&a.request);
      pmpi::Wait(&a.request, MPI_STATUS_IGNORE);
    }
  if (stream_.get()) static_cast<void>(here_.owner->synchronise(stream_.get()));
  if (pinned_)  // which waits for the device
    memory::held_streams::instance().call_when_free([owner = here_.owner, pinned = pinned_] {
      static_cast<void>(owner->release_pinned(pinned));
    });
  if (by_.owned) pmpi::Comm_free(&by_.comm);
}

// --- errors ---

bool relay::check(int code, const char* what) noexcept {
  if (code == MPI_SUCCESS) return true;
  fail(what);
  return false;
}

void relay::fail(const char* what) noexcept {
  if (broken_.exchange(true)) return;
  TELPHER_ERROR(
      "%s: %s failed; what kernels of this rank ask of ranks on other nodes is refused from here "
      "on",
      what_, what);
  for (std::uint64_t n = first_; n != first_ + slot_count; ++n)
    shared(command_at(n)->answered).store(telpher_device::broken, std::memory_order_release);
  shared(*freed_).store(telpher_device::broken, std::memory_order_release);
  for (std::size_t rank = 0; rank < put_to_.size(); ++rank) {
    MPI_Request told = MPI_REQUEST_NULL;
    const int to = static_cast<int>(rank);
    if (to != rank_ &&
        pmpi::Isend(nullptr, 0, MPI_BYTE, to, by_.command, by_.comm, &told) == MPI_SUCCESS)
      pmpi::Request_free(&told);
  }
  quiets_done_.store(telpher_device::broken, std::memory_order_release);
}

void relay::warn_if_stalled(bool moved) noexcept {
  if (moved || (first_ == next_ && quiet_.empty()))
    clock_.moved();
  else if (clock_.warns())
    TELPHER_WARN(
        "%s: %zu commands of this rank's kernels are under way and none has moved for %.0f s; the "
        "oldest is for rank %d",
        what_, static_cast<std::size_t>(next_ - first_), clock_.seconds(),
        first_ == next_ ? -1 : command_at(first_)->rank);
}

// --- commands of the own kernels ---

telpher_device_command* relay::command_at(std::uint64_t number) const noexcept {
  return reinterpret_cast<telpher_device_command*>(slots_ + number % slot_count * message_bytes);
}

bool relay::take_commands() noexcept {
  const std::uint64_t before = next_;
  while (shared(command_at(next_)->ready).load(std::memory_order_acquire) == next_ + 1) {
    telpher_device_command* const c = command_at(next_);
    if (broken_)
      shared(c->answered).store(telpher_device::broken, std::memory_order_release);
    else
      begin(next_);
    ++next_;
  }
  return next_ != before;
}

void relay::begin(std::uint64_t number) noexcept {
  telpher_device_command* const c = command_at(number);
  slot& s = in_use_[number % slot_count];
  s.requests.clear();
  s.answers = is_answered(c->what);
  s.answered = false;
  if (s.answers) unanswered_.push_back(number);
  if (c->what == telpher_device::relayed_quiet) return ask_for_quiet(c, s.requests);
  const bool get = c->what == telpher_device::relayed_get;
  const bool put = (c->what & telpher_device::relayed_put) != 0;
  const int carried = static_cast<int>(c->bytes);
  MPI_Request r = MPI_REQUEST_NULL;
  if (get) {
    if (!check(pmpi::Irecv(c + 1, carried, MPI_BYTE, c->rank, by_.answer, by_.comm, &r),
               "MPI_Irecv"))
      return;
    s.requests.push_back(r);
  } else {
    put_to_[static_cast<std::size_t>(c->rank)] = true;
  }
  const int bytes = static_cast<int>(command_bytes) + (put ? carried : 0);
  if (check(pmpi::Isend(c, bytes, MPI_BYTE, c->rank, by_.command, by_.comm, &r), "MPI_Isend"))
    s.requests.push_back(r);
}

// Asks every rank that we have put to since the last request. Keep `c` unchanged until `requests`
// have ended.
void relay::ask_for_quiet(telpher_device_command* c, std::vector<MPI_Request>& requests) noexcept {
  for (std::size_t rank = 0; rank < put_to_.size(); ++rank) {
    if (!put_to_[rank]) continue;
    put_to_[rank] = false;
    const int to = static_cast<int>(rank);
    MPI_Request r = MPI_REQUEST_NULL;
    if (!check(pmpi::Irecv(nullptr, 0, MPI_BYTE, to, by_.answer, by_.comm, &r), "MPI_Irecv"))
      return;
    requests.push_back(r);
    const int bytes = static_cast<int>(command_bytes);
    if (!check(pmpi::Isend(c, bytes, MPI_BYTE, to, by_.command, by_.comm, &r), "MPI_Isend")) return;
    requests.push_back(r);
  }
}

bool relay::all_complete(std::vector<MPI_Request>& requests) noexcept {
  int flag = 0;
  return check(pmpi::Testall(static_cast<int>(requests.size()), requests.data(), &flag,
                             MPI_STATUSES_IGNORE),
               "MPI_Testall") &&
         flag != 0;
}

bool relay::advance_commands() noexcept {
  bool moved = false;
  std::erase_if(unanswered_, [&](std::uint64_t number) {
    slot& s = in_use_[number % slot_count];
    if (broken_ || !all_complete(s.requests)) return false;
    s.answered = true;
    shared(command_at(number)->answered).store(number + 1, std::memory_order_release);
    return moved = true;
  });
  for (; !broken_ && first_ != next_; ++first_, moved = true) {
    slot& s = in_use_[first_ % slot_count];
    if (s.answers
            ? !s.answered ||
                  shared(command_at(first_)->taken).load(std::memory_order_acquire) != first_ + 1
            : !all_complete(s.requests))
      break;
  }
  if (moved && !broken_) shared(*freed_).store(first_, std::memory_order_release);
  return moved;
}

// The host's own: when all commands that there are have been sent.
bool relay::advance_quiets() noexcept {
  if (broken_ || quiets_done_.load(std::memory_order_relaxed) ==
                     quiets_wanted_.load(std::memory_order_acquire))
    return false;
  if (quiet_under_way_ == 0) {
    const std::uint64_t wanted = quiets_wanted_.load(std::memory_order_acquire);
    if (take_commands() || first_ != next_) return false;
    static telpher_device_command ask = [] {
      telpher_device_command c{};
      c.what = telpher_device::relayed_quiet;
      return c;
    }();
    quiet_under_way_ = wanted;
    ask_for_quiet(&ask, quiet_);
  }
  if (broken_ || !all_complete(quiet_)) return false;
  quiet_.clear();
  quiets_done_.store(std::exchange(quiet_under_way_, 0), std::memory_order_release);
  return true;
}

// --- commands of other ranks ---

void relay::receive_next(arrival& a) noexcept {
  check(pmpi::Irecv(a.message, static_cast<int>(message_bytes), MPI_BYTE, MPI_ANY_SOURCE,
                    by_.command, by_.comm, &a.request),
        "MPI_Irecv");
}

status relay::carry_out(arrival& a) noexcept {
  const auto* const c = reinterpret_cast<const telpher_device_command*>(a.message);
  std::byte* const bytes = a.message + command_bytes;
  device::backend& device = *here_.owner;
  const device::stream own = stream_.get();
  if (c->what & telpher_device::relayed_put)
    TELPHER_TRY(device.copy(at(c->offset), bytes, c->bytes, own));
  if (c->what & telpher_device::relayed_get)
    TELPHER_TRY(device.copy(bytes, at(c->offset), c->bytes, own));
  // A copy, as it needs no processor of the device, which a kernel that waits for it may fill.
  if (c->what & telpher_device::relayed_set)
    TELPHER_TRY(device.copy(at(c->signal), &c->value, sizeof c->value, own));
  if (c->what & telpher_device::relayed_add) {
    const kernel::add_word k{reinterpret_cast<std::uint64_t*>(at(c->signal)), c->value};
    TELPHER_TRY(device.launch(kernel::id::add_word, &k, 1, 1, own));
  }
  auto written = memory::pooled_event::acquire(here_);
  TELPHER_TRY(written);
  TELPHER_TRY(written->record(own));
  a.written = std::move(*written);
  a.replies = is_answered(c->what);
  return status::ok;
}

bool relay::take_arrivals() noexcept {
  bool moved = false;
  while (!broken_ && next_arrival_ - first_busy_ < arrival_count) {
    arrival& a = arrivals_[next_arrival_ % arrival_count];
    int flag = 0;
    MPI_Status from;
    if (!check(pmpi::Test(&a.request, &flag, &from), "MPI_Test") || !flag) break;
    a.source = from.MPI_SOURCE;
    int bytes = 0;
    pmpi::Get_count(&from, MPI_BYTE, &bytes);
    if (bytes == 0) {
      fail("another rank's part");
      break;
    }
    if (failed(carry_out(a))) {
      fail("writing what another rank has put");
      break;
    }
    ++next_arrival_;
    moved = true;
  }
  return moved;
}

// In their order, so that receives are posted in it.
bool relay::advance_arrivals() noexcept {
  bool moved = false;
  for (; !broken_ && first_busy_ != next_arrival_; ++first_busy_, moved = true) {
    arrival& a = arrivals_[first_busy_ % arrival_count];
    if (a.written) {
      const status s = a.written.query();
      if (s == status::would_block) break;
      if (failed(s)) {
        fail("the device's work for another rank");
        break;
      }
      a.written = {};
      if (a.replies) {
        const auto* const c = reinterpret_cast<const telpher_device_command*>(a.message);
        const int bytes = c->what & telpher_device::relayed_get ? static_cast<int>(c->bytes) : 0;
        if (!check(pmpi::Isend(a.message + command_bytes, bytes, MPI_BYTE, a.source, by_.answer,
                               by_.comm, &a.request),
                   "MPI_Isend"))
          break;
      }
    }
    int flag = 1;
    if (a.replies && !check(pmpi::Test(&a.request, &flag, MPI_STATUS_IGNORE), "MPI_Test")) break;
    if (!flag) break;
    receive_next(a);
  }
  return moved;
}

bool relay::serve() noexcept {
  bool moved = take_commands();
  moved |= take_arrivals();
  moved |= advance_arrivals();
  moved |= advance_commands();
  moved |= advance_quiets();
  warn_if_stalled(moved);
  return moved;
}

// --- the program's threads ---

bool relay::quiet(const char* call) noexcept {
  const std::uint64_t wanted = quiets_wanted_.fetch_add(1, std::memory_order_acq_rel) + 1;
  ticket::progress().wait_until(
      call, [&] { return quiets_done_.load(std::memory_order_acquire) >= wanted; });
  return quiets_done_.load(std::memory_order_acquire) != telpher_device::broken;
}

// A rank that has come here has had its answers, but may owe some.
void relay::leave(const char* call) noexcept {
  MPI_Request all = MPI_REQUEST_NULL;
  if (pmpi::Ibarrier(by_.comm, &all) != MPI_SUCCESS) return;
  ticket::progress().wait_until(call, [&] {
    int flag = 0;
    return pmpi::Test(&all, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0;
  });
}

}  // namespace telpher::rma
