// SPDX-License-Identifier: BSD-3-Clause
#include "path/matched.hpp"

#include <algorithm>
#include <utility>

#include "kernel/copy_batch.hpp"
#include "path/matched_launch.hpp"
#include "path/exported.hpp"

namespace telpher::path {
namespace {

using kernel::matched_pieces;

/// Bytes of a slot for messages of at most so many. Packed ones take at most twice their size.
constexpr std::size_t slot_bytes(std::uint64_t bytes) noexcept {
  const std::uint64_t packed = 2 * std::min(bytes + 15, matched_pieces::packed_limit);
  return matched_room::part(std::max(bytes, packed));
}

}  // namespace

// --- both kinds ---

matched_end::matched_end(std::shared_ptr<matched_room> room, bool sends, std::byte* buffer,
                         std::uint64_t bytes) noexcept
    : room_(std::move(room)),
      sends_(sends),
      buffer_(buffer),
      bytes_(bytes),
      waiter_(room_->take_waiters(1)) {}

void matched_end::hold(bool captured) noexcept {
  if (captured)
    room_->captured();
  else
    room_->launches(waiter_, 1);
}

void matched_end::hold_no_more(bool captured) noexcept {
  if (!captured) room_->takes_back(waiter_, 1);
}

matched_side matched_end::side() const noexcept {
  matched_side s{};
  s.room = room_->exported();
  s.bytes = bytes_;
  return s;
}

result<std::byte*> matched_end::open_room(int process, int own,
                                          const matched_side& other) noexcept {
  if (process == own) return reinterpret_cast<std::byte*>(other.room.address);
  auto opened = open_for(process, other.room, where());
  TELPHER_TRY(opened);
  peer_room_ = std::move(opened->mapping);
  return opened->data;
}

// --- an end of messages ---

std::size_t matched_message::room_for(bool sends, std::uint64_t bytes) noexcept {
  return matched_room::part(sizeof(kernel::matched_words)) +
         (sends ? 0 : matched_pieces::slots * slot_bytes(bytes));
}

matched_message::matched_message(std::shared_ptr<matched_room> room, bool sends, std::byte* buffer,
                                 std::uint64_t bytes) noexcept
    : matched_end(std::move(room), sends, buffer, bytes) {
  words_ = room_->take(sizeof(kernel::matched_words));
  if (sends_) return;
  stride_ = slot_bytes(bytes);
  inbox_ = room_->take(matched_pieces::slots * stride_);
}

matched_side matched_message::side() const noexcept {
  matched_side s = matched_end::side();
  s.words = words_;
  s.inbox = inbox_;
  s.stride = stride_;
  return s;
}

status matched_message::connect(int process, int own, const matched_side& other) noexcept {
  const std::uint64_t bytes = sends_ ? bytes_ : other.bytes;
  if (bytes > (sends_ ? other.bytes : bytes_)) return status::not_supported;
  const auto base = open_room(process, own, other);
  TELPHER_TRY(base);
  bytes_ = bytes;
  peer_words_ = *base + other.words;
  if (!sends_) return status::ok;
  peer_inbox_ = *base + other.inbox;
  stride_ = other.stride;
  return status::ok;
}

kernel::matched_pieces::piece matched_message::piece() const noexcept {
  std::byte* const inbox = sends_ ? peer_inbox_ : room_->base() + inbox_;
  return {reinterpret_cast<kernel::matched_words*>(room_->base() + words_),
          &reinterpret_cast<kernel::matched_words*>(peer_words_)->peers,
          buffer_,
          inbox,
          stride_,
          bytes_,
          room_->ended(waiter_)};
}

// --- launches ---

namespace {

constexpr int most_threads = 1024;
// Blocks of a launch beyond one for each request. Those that wait keep processors from the
// program, and their copies are within the device: fewer do.
constexpr int most_put_blocks = 32, most_take_blocks = 16;

/// Blocks of packed messages do not wait for each other; others count who has come.
std::uint64_t bytes_per_block(const matched_pieces& p) noexcept {
  const auto* const end = p.pieces + p.count;
  const bool packed = std::all_of(p.pieces, end, [](const matched_pieces::piece& one) {
    return one.bytes <= matched_pieces::packed_limit;
  });
  return packed ? 16 * 1024 : 64 * 1024;
}

/// Of a block: a short message needs one warp.
int threads_for(const matched_pieces& p) noexcept {
  std::uint64_t most = 0;
  for (int i = 0; i < p.count; ++i) most = std::max(most, p.pieces[i].bytes);
  const std::uint64_t wanted = (most / 8 / 32 + 1) * 32;
  return static_cast<int>(std::min<std::uint64_t>(wanted, most_threads));
}

status launch(kernel::id k, int most_blocks, std::span<matched_message* const> ends,
              device::stream s, bool captured) noexcept {
  return holding(ends, captured, [&] {
    return in_lists<matched_pieces>(ends, [&](device::backend& owner, matched_pieces& p) {
      const int blocks = kernel::deal_blocks(p, p.count + most_blocks, bytes_per_block(p));
      return owner.launch(k, &p, blocks, threads_for(p), s);
    });
  });
}

}  // namespace

status start_sends(std::span<matched_message* const> ends, device::stream s,
                   bool captured) noexcept {
  return launch(kernel::id::matched_put, most_put_blocks, ends, s, captured);
}

status await_receives(std::span<matched_message* const> ends, device::stream s,
                      bool captured) noexcept {
  return launch(kernel::id::matched_take, most_take_blocks, ends, s, captured);
}

}  // namespace telpher::path
