// SPDX-License-Identifier: BSD-3-Clause
#include "path/matched_partitions.hpp"

#include <algorithm>
#include <utility>

#include "path/matched_launch.hpp"
#include "path/exported.hpp"
#include "telpher/device_partitions.h"

namespace telpher::path {
namespace {

using kernel::partition_pieces;

/// A receiver does not know how many partitions its sender has when it makes its room.
constexpr std::uint64_t least_marks = 1024;
constexpr std::uint64_t marks_for(bool sends, std::uint64_t partitions) noexcept {
  return sends ? partitions : std::max(partitions, least_marks);
}

}  // namespace

// --- an end ---

std::size_t matched_partitions::room_for(bool sends, std::uint64_t partitions) noexcept {
  return matched_room::part(sizeof(telpher_device_partitions)) +
         matched_room::part(marks_for(sends, partitions) * sizeof(std::uint64_t)) +
         (sends ? matched_room::part(partitions * sizeof(std::uint32_t)) : 0);
}

matched_partitions::matched_partitions(std::shared_ptr<matched_room> room, bool sends,
                                       std::byte* buffer, std::uint64_t bytes,
                                       std::uint64_t partitions, far_way far) noexcept
    : matched_end(std::move(room), sends, buffer, bytes),
      partitions_(partitions),
      far_(std::move(far)),
      room_marks_(marks_for(sends, partitions)) {
  record_ = room_->take(sizeof(telpher_device_partitions));
  marks_ = room_->take(room_marks_ * sizeof(std::uint64_t));
  if (sends_) {
    arrivals_ = room_->take(partitions * sizeof(std::uint32_t));
    return;
  }
  export_buffer();
}

matched_side matched_partitions::side() const noexcept {
  matched_side s = matched_end::side();
  s.words = record_;
  s.inbox = marks_;
  s.partitions = partitions_;
  s.marks = room_marks_;
  return s;
}

status matched_partitions::connect(int process, int own, const matched_side& other) noexcept {
  if (other.bytes != bytes_) return status::not_supported;
  mark_count_ = sends_ ? partitions_ : other.partitions;
  if (mark_count_ > (sends_ ? other.marks : room_marks_)) return status::not_supported;
  peer_ = process;
  TELPHER_TRY(open_peer(process, own, other));
  return write_record();
}

status matched_partitions::open_peer(int process, int own, const matched_side& other) noexcept {
  auto* base = reinterpret_cast<std::byte*>(other.room.address);
  auto* target = reinterpret_cast<std::byte*>(other.buffer.address);
  if (!is_far()) {
    const auto room = open_room(process, own, other);
    TELPHER_TRY(room);
    base = *room;
    if (sends_) {
      const auto buffer = open_buffer(process, own, other);
      TELPHER_TRY(buffer);
      target = *buffer;
    }
  }
  peer_record_ = reinterpret_cast<telpher_device_partitions*>(base + other.words);
  if (!sends_) return status::ok;
  peer_marks_ = reinterpret_cast<std::uint64_t*>(base + other.inbox);
  peer_target_ = target;
  return status::ok;
}

status matched_partitions::write_record() noexcept {
  const auto for_kernels = [this]<class T>(T* address) {
    return address ? static_cast<T*>(where().owner->kernel_address(address)) : nullptr;
  };
  const auto of_peer = [&]<class T>(T* address) {
    return is_far() ? address : for_kernels(address);
  };
  telpher_device_partitions r{};
  r.bytes = partition_bytes();
  r.partitions = partitions_;
  r.buffer = for_kernels(buffer_);
  r.target = of_peer(peer_target_);
  r.marks = for_kernels(in_room<std::uint64_t>(marks_));
  r.target_marks = of_peer(peer_marks_);
  r.mark_bytes = bytes_ / mark_count_;
  r.queue = far_.queue;
  r.peer = peer_;
  return memory::copy_and_wait(where(), record(), &r, sizeof r);
}

partition_pieces::piece matched_partitions::piece() const noexcept {
  return {record(),
          sends_ ? nullptr : &peer_record_->opened,
          in_room<std::uint64_t>(marks_),
          static_cast<std::uint32_t>(mark_count_),
          far_rank(),
          room_->ended(waiter_)};
}

const void* matched_partitions::handle() const noexcept {
  return where().owner->kernel_address(record());
}

// --- launches ---

namespace {

constexpr int most_threads = 1024;
constexpr int most_ready_blocks = 32;
constexpr std::uint64_t bytes_per_block = 64 * 1024;

constexpr auto piece_of = [](const matched_partitions& p) { return p.piece(); };

}  // namespace

status matched_partitions::ready(std::uint64_t partition, device::stream s) noexcept {
  const std::uint64_t bytes = partition_bytes();
  const kernel::partition_ready p{record(),
                                  buffer_ + partition * bytes,
                                  peer_target_ + partition * bytes,
                                  bytes,
                                  peer_marks_ + partition,
                                  in_room<std::uint64_t>(marks_) + partition,
                                  in_room<std::uint32_t>(arrivals_) + partition,
                                  far_rank()};
  const auto blocks = std::min<std::uint64_t>(bytes / bytes_per_block + 1, most_ready_blocks);
  const auto threads = std::min<std::uint64_t>((bytes / 16 / 32 + 1) * 32, most_threads);
  return where().owner->launch(kernel::id::partition_ready, &p, static_cast<int>(blocks),
                               static_cast<int>(threads), s);
}

status start_partitions(std::span<matched_partitions* const> ends, device::stream s,
                        bool captured) noexcept {
  return holding(ends, captured, [&] {
    return in_lists<partition_pieces>(
        ends,
        [&](device::backend& owner, partition_pieces& p) {
          return owner.launch(kernel::id::partitions_start, &p, 1, 32, s);
        },
        piece_of);
  });
}

status await_partitions(std::span<matched_partitions* const> ends, device::stream s) noexcept {
  return in_lists<partition_pieces>(
      ends,
      [&](device::backend& owner, partition_pieces& p) {
        return owner.launch(kernel::id::partitions_wait, &p, static_cast<int>(p.count), 128, s);
      },
      piece_of);
}

}  // namespace telpher::path
