// SPDX-License-Identifier: BSD-3-Clause
// A call that prepares the replay of its collective instead of running. The ranks choose as for any
// call. Then each makes a room, and opens its peers' rooms and, if the choice needs them, buffers.
// All vote after each. With the second vote the call ends.
#include <utility>

#include "base/clock.hpp"
#include "coll/exchange/call.hpp"
#include "coll/exchange/communicator.hpp"
#include "coll/exchange/exchange.hpp"
#include "memory/held_streams.hpp"

namespace telpher::coll::exchange {
namespace {

// While a stream waits, closing of mappings is put off (memory/held_streams.hpp). A vendor may then
// refuse to open what peers have made at the addresses of freed memory. That is over soon, unless a
// graph holds the stream, or the stream waits for what the program does later. Then the ranks do
// without a replay: once nothing has changed for so long, or other streams have come and gone for
// long enough.
constexpr std::uint64_t most_quiet_ns = 3'000'000'000;
constexpr std::uint64_t most_wait_ns = 30'000'000'000;
constexpr std::uint64_t retry_ns = 1'000'000;

/// Whether each rank's result needs data of every rank. Then a rank that has ended the call knows
/// that all have begun it.
bool all_depend(const problem& p) noexcept {
  switch (p.what) {
    case operation::allreduce:
    case operation::allgather:
    case operation::alltoall:
    case operation::reduce_scatter_block:
      return p.count > 0;
    default:
      return false;
  }
}

}  // namespace

call::then call::make_room() noexcept {
  if (!kernel_replay::serves(chosen_)) return stage();
  std::function<void()> gone;
  if (facts_.any_buffers) gone = [channel = &c_] { channel->release(); };
  auto made = kernel_replay::make({chosen_, arguments_.where, arguments_.reduce, facts_.unit,
                                   volume(), all_depend(problem_), c_.rank, std::move(gone)});
  if (made) {
    replay_ = std::move(*made);
    c_.protocol.own().workspace = replay_->room();
  }
  return vote(static_cast<bool>(made), &call::open_rooms, &call::drop_replay);
}

call::then call::drop_replay() noexcept {
  replay_.reset();
  return stage();
}

call::then call::open_rooms() noexcept {
  if (now_ns() < rooms_next_ns_) return then::later;
  const std::uint64_t before = memory::held_streams::instance().changes();
  const status opened = open_further_rooms();
  rooms_next_ns_ = now_ns() + retry_ns;
  if (opened != status::ok && may_open_later(before)) return then::later;
  return vote(opened == status::ok, &call::keep_replay, &call::drop_replay);
}

/// Whether mappings may have been in the way. `before`: the changes before it was tried; a mapping
/// may have been closed since.
bool call::may_open_later(std::uint64_t before) noexcept {
  auto& streams = memory::held_streams::instance();
  if (!streams.any_put_off() && streams.changes() == before) return false;
  const std::uint64_t now = now_ns();
  if (rooms_tried_ns_ == 0) rooms_tried_ns_ = rooms_changed_ns_ = now;
  if (std::exchange(rooms_changes_, before) != before) rooms_changed_ns_ = now;
  return now - rooms_changed_ns_ < most_quiet_ns && now - rooms_tried_ns_ < most_wait_ns;
}

// After a failure it goes on with the same rank.
status call::open_further_rooms() noexcept {
  const auto process = [this](int r) { return c_.world[static_cast<std::size_t>(r)]; };
  for (int& r = rooms_open_; r < c_.ranks; ++r)
    if (r != c_.rank) TELPHER_TRY(replay_->open_room(r, process(r), c_.protocol.line(r).workspace));
  for (int& r = buffers_open_; chosen_.mapped && r < c_.ranks; ++r) {
    if (r == c_.rank) continue;
    const description& d = c_.protocol.description_of(r);
    TELPHER_TRY(replay_->open_buffers(r, process(r), d.has_input ? &d.input : nullptr,
                                      d.has_output ? &d.output : nullptr));
  }
  replay_->own_buffers(arguments_.input, arguments_.output);
  replay_->pack_by(packed_);
  return replay_->compile();
}

call::then call::keep_replay() noexcept {
  c_.protocol.finish();
  if (auto room = replay_->room_that_stays()) c_.rooms.push_back(std::move(room));
  explain();
  return then::done;
}

// --- of a persistent collective ---

bool matching::advance() noexcept {
  if (over_) return true;
  if (!channel_.joined()) return false;
  if (channel_.state == communicator::phase::absent) return over_ = true;
  if (!std::exchange(begun_, true)) call_.set_number(channel_.protocol.next_call());
  return over_ = call_.advance() != call::outcome::pending;
}

std::unique_ptr<kernel_replay> matching::take() noexcept {
  auto made = call_.take_replay();
  if (any_buffers_ && !made) channel_.release();
  return made;
}

std::unique_ptr<matching> channel_rounds::match(const char* name) noexcept {
  return std::make_unique<matching>(name, channel_, arguments(arguments_), false);
}

std::unique_ptr<matching> match_any_buffers(const char* name, MPI_Comm comm,
                                            arguments&& a) noexcept {
  const bool wanted = a.possible && !a.scattered && a.where.on_device();
  a.gapped.reset();  // each start packs by itself
  communicator* const channel = communicator::channel(comm, wanted);
  if (!channel) return nullptr;
  return std::make_unique<matching>(name, *channel, std::move(a), true);
}

}  // namespace telpher::coll::exchange
