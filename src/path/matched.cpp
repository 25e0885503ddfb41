// SPDX-License-Identifier: BSD-3-Clause
#include "path/matched.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/settings.hpp"
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

/// Whether the receiver's buffer takes such messages where it is open by then. An AMD device may
/// keep memory of the program's in its caches while a peer writes it.
bool may_go_direct(const memory::place& where, std::uint64_t bytes) noexcept {
  return bytes >= config().stream_matched_direct && bytes > matched_pieces::packed_limit &&
         where.owner->owner() != device::vendor::hip;
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
  s.buffer = exported_buffer_;
  return s;
}

result<std::byte*> matched_end::open_room(int process, int own,
                                          const matched_side& other) noexcept {
  if (!other.room.exportable || !room_->exported().exportable) return status::not_supported;
  if (process == own) return reinterpret_cast<std::byte*>(other.room.address);
  auto opened = open_for(process, other.room, where());
  TELPHER_TRY(opened);
  peer_room_ = std::move(opened->mapping);
  return opened->data;
}

void matched_end::export_buffer() noexcept {
  device::pointer_info info;
  memory::classify(buffer_, info);
  if (failed(export_region({where(), buffer_, bytes_}, info, exported_buffer_)))
    exported_buffer_.exportable = 0;
}

result<std::byte*> matched_end::open_buffer(int process, int own,
                                            const matched_side& other) noexcept {
  if (!other.buffer.exportable || !other.buffer.holds(bytes_)) return status::not_supported;
  if (process == own) return reinterpret_cast<std::byte*>(other.buffer.address);
  auto opened = open_for(process, other.buffer, where());
  TELPHER_TRY(opened);
  peer_buffer_ = std::move(opened->mapping);
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
  if (may_go_direct(where(), bytes_)) export_buffer();
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
  if (!may_go_direct(where(), bytes_)) exported_buffer_.exportable = 0;
  if (!sends_) return status::ok;
  if (may_go_direct(where(), bytes_))
    if (const auto target = open_buffer(process, own, other)) peer_target_ = *target;
  peer_inbox_ = *base + other.inbox;
  stride_ = other.stride;
  return status::ok;
}

kernel::matched_pieces::piece matched_message::piece() const noexcept {
  std::byte* const inbox = sends_ ? peer_inbox_ : room_->base() + inbox_;
  return {reinterpret_cast<kernel::matched_words*>(room_->base() + words_),
          peer_words(),
          buffer_,
          inbox,
          stride_,
          bytes_,
          room_->ended(waiter_),
          peer_target_};
}

matched_pieces::piece matched_message::opening() const noexcept {
  matched_pieces::piece one{};
  one.end = reinterpret_cast<kernel::matched_words*>(room_->base() + words_);
  one.peer = peer_words();
  return one;
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

template <class Piece>
status launch(kernel::id k, int most_blocks, std::span<matched_message* const> ends,
              device::stream s, const Piece& piece_of) noexcept {
  const auto one = [&](device::backend& owner, matched_pieces& p) {
    const int blocks = kernel::deal_blocks(p, p.count + most_blocks, bytes_per_block(p));
    return owner.launch(k, &p, blocks, threads_for(p), s);
  };
  return in_lists<matched_pieces>(ends, one, piece_of);
}

}  // namespace

// Receives first: their senders may look soon.
status start_messages(std::span<matched_message* const> sends,
                      std::span<matched_message* const> opens, device::stream s,
                      bool captured) noexcept {
  std::vector<matched_message*> all(opens.begin(), opens.end());
  all.insert(all.end(), sends.begin(), sends.end());
  return holding(sends, captured, [&] {
    return launch(kernel::id::matched_put, most_put_blocks, all, s,
                  [](const matched_message& m) { return m.sends() ? m.piece() : m.opening(); });
  });
}

status await_receives(std::span<matched_message* const> ends, device::stream s,
                      bool captured) noexcept {
  return holding(ends, captured, [&] {
    return launch(kernel::id::matched_take, most_take_blocks, ends, s,
                  [](const matched_message& m) { return m.piece(); });
  });
}

}  // namespace telpher::path
