// SPDX-License-Identifier: BSD-3-Clause
// The messages of one rank's schedule. Each goes in blocks of at most TELPHER_COLL_BLOCK, which
// both ends cut alike, one MPI message a block; the host MPI keeps the blocks of two ranks in
// order. Nothing is announced, and nothing waits:
//
//   out   given -> its source is written (device work `after` is done) -> the copy engine brings
//         block after block to a pinned slot -> an event says so -> Isend -> the slot is free
//   in    expected -> Irecv into a pinned slot, ahead of the schedule while slots are free ->
//         `receive` brings it to its place as work on the runner's stream -> the slot is free
//
// Where the schedule runs in host memory, or the host MPI takes device memory (path/direct.hpp),
// blocks are not copied: they leave from the memory itself, and come into it.
//
// Slots are few. Messages that a peer takes late could hold all of them, while one that it needs
// sooner waits. So when all slots wait for receivers and nothing moves for a while, one slot is
// added.
//
// Errors ride along: a rank that has failed sends empty blocks, and one that receives a block
// shorter than it should be has failed. Messages to a rank that has failed land in memory that the
// room has for them.
//
// Whatever throws std::bad_alloc has changed nothing, and can be called again.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "base/stall_clock.hpp"
#include "coll/between/room.hpp"

namespace telpher::coll::between {

class messages {
 public:
  /// `in`: the stream of received blocks' copies; none: all blocks are in host memory.
  messages(room& r, std::optional<device::stream> in) noexcept;

  /// Every message that will come, in the order of `receive`. `to`: where, if nothing else uses the
  /// place, so that the host MPI may have it at once.
  void expect(int peer, std::uint64_t bytes, std::byte* to = nullptr) {
    in_.push_back({peer, bytes, to});
  }
  /// `kept` is held until the bytes have left.
  void send(int peer, std::byte* from, std::uint64_t bytes, std::uint64_t after,
            std::shared_ptr<const void> kept = nullptr) {
    out_.push_back({peer, from, bytes, after, std::move(kept)});
  }
  /// The next expected message: ok when all of it is where it belongs, for work that follows on the
  /// stream. `free`: work that used the place is done.
  status receive(std::byte* to, bool free);

  /// Does what can be done; `done`: all device work up to this number is. True if something moved.
  bool advance(std::uint64_t done);
  /// Whether what is being sent lies there: it may not be overwritten.
  bool reads(const std::byte* at, std::uint64_t bytes) const noexcept;
  bool idle() const noexcept { return out_.empty() && in_.empty() && emptying_.empty(); }
  /// The peer of the message that `receive` waits for, or that is being sent; -1.
  int awaited() const noexcept;

  /// Sends empty blocks from now on.
  void fail(status s) noexcept {
    if (failed(status_)) return;
    status_ = s;
  }
  /// The first failure.
  status outcome() const noexcept { return status_; }

 private:
  struct message {
    int peer;
    std::byte* at;
    std::uint64_t bytes;
    std::uint64_t after = 0;
    std::shared_ptr<const void> kept = nullptr;
    std::uint64_t cut = 0;   // blocks so far
    std::uint64_t read = 0;  // bytes whose place is free again
    int travelling = 0;      // blocks with the host MPI
  };
  struct coming {
    int peer;
    std::uint64_t bytes;
    std::byte* to;
    std::uint64_t posted = 0, arrived = 0;
  };
  struct block {
    message* of = nullptr;
    std::byte* at = nullptr;
    std::uint64_t bytes = 0;
    slot* through = nullptr;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  bool cut_blocks(std::uint64_t done);
  bool start_block(message& m);
  bool send_copied() noexcept;
  bool end_sent() noexcept;
  bool post();
  void post_block(coming& m, std::byte* at, slot* through);
  bool free_landed() noexcept;
  static block& append(std::list<block>& to, slot* through);
  bool test(block& b, MPI_Status* s) noexcept;
  status take(const block& b, std::size_t got, std::byte* to) noexcept;
  static std::uint64_t next_block(std::uint64_t bytes, std::uint64_t from) noexcept;

  room& room_;
  device::stream in_stream_;
  device::stream out_stream_;
  bool direct_;
  status status_ = status::ok;
  std::list<message> out_;
  std::list<block> copying_;  // in the order of the copies
  std::list<block> sent_;     // with the host MPI
  std::list<coming> in_;
  std::list<block> posted_;    // in the order of the schedule
  std::list<block> emptying_;  // slots whose copies are on the stream
  stall_clock full_;
};

}  // namespace telpher::coll::between
