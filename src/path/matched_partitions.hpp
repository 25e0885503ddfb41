// SPDX-License-Identifier: BSD-3-Clause
// The ends of a partitioned send and its receive that were matched once (kernel/partitions.hpp has
// the protocol). One kernel starts a list of them, and another one waits for a list of them. The
// kernel that marks a partition ready also writes it into the receiver's buffer. That is a kernel
// of the program, whose handle is the address of the end's record, or the kernel that ready()
// launches for the host. If the receiver is on another node, kernels give commands to a relay,
// which writes the buffer and the marks there (rma/relay.hpp).
//
// The room of an end holds its record and its marks, and at a sender the counters of the kernel
// partition_ready.
#pragma once

#include <span>

#include "path/matched.hpp"

struct telpher_device_partitions;
struct telpher_device_queue;

namespace telpher::path {

/// How kernels reach an end on another node.
struct far_way {
  telpher_device_queue* queue = nullptr;  // its address for kernels; null: end on this node
  std::shared_ptr<void> use;              // keeps the queue served
};

class matched_partitions final : public matched_end {
 public:
  /// Bytes of a room for an end of so many partitions.
  static std::size_t room_for(bool sends, std::uint64_t partitions) noexcept;

  /// `buffer`: one run of device memory of the room's place, of `bytes`.
  matched_partitions(std::shared_ptr<matched_room> room, bool sends, std::byte* buffer,
                     std::uint64_t bytes, std::uint64_t partitions, far_way far) noexcept;

  matched_side side() const noexcept override;
  status connect(int process, int own, const matched_side& other) noexcept override;
  kernel::partition_pieces::piece piece() const noexcept;
  /// What kernels of the program get.
  const void* handle() const noexcept;
  /// Of a sender: marks one partition ready, in a stream of the program's on its device.
  status ready(std::uint64_t partition, device::stream s) noexcept;
  bool is_far() const noexcept { return far_.queue != nullptr; }

 private:
  template <class T>
  T* in_room(std::uint64_t offset) const noexcept {
    return reinterpret_cast<T*>(room_->base() + offset);
  }
  telpher_device_partitions* record() const noexcept {
    return in_room<telpher_device_partitions>(record_);
  }
  std::uint64_t partition_bytes() const noexcept { return bytes_ / partitions_; }
  status open_peer(int process, int own, const matched_side& other) noexcept;
  status write_record() noexcept;
  int far_rank() const noexcept { return is_far() ? peer_ : -1; }

  std::uint64_t partitions_;
  far_way far_;
  int peer_ = -1;                                // once connected
  std::uint64_t room_marks_;                     // for so many there is room
  std::uint64_t record_, marks_, arrivals_ = 0;  // offsets in the room
  std::uint64_t mark_count_ = 0;                 // once connected
  // For an end on another node these are addresses there.
  telpher_device_partitions* peer_record_ = nullptr;
  std::uint64_t* peer_marks_ = nullptr;  // of a send, as the next one
  std::byte* peer_target_ = nullptr;
};

/// Starts ends, or waits for them, in a stream of the program's on their device. `captured`: a
/// graph takes the stream's work.
status start_partitions(std::span<matched_partitions* const> ends, device::stream s,
                        bool captured) noexcept;
status await_partitions(std::span<matched_partitions* const> ends, device::stream s) noexcept;

}  // namespace telpher::path
