// SPDX-License-Identifier: BSD-3-Clause
// Anonymous memory that other processes of the same user on the same machine can map. It has no
// name in the file system: a peer opens it through /proc/<pid>/fd. So nothing is left behind when
// its last user ends, even if a rank is killed, and no other user can guess or take its name. If
// /proc does not show the peer (another PID namespace), the peer is asked for the descriptor, where
// it offers it (base/descriptor_broker.hpp). If that fails, too, open fails. Ranks learn from this
// that they do not share a node.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/descriptor.hpp"
#include "base/descriptor_broker.hpp"
#include "base/status.hpp"

namespace telpher {

/// Names a segment to other processes; trivially copyable, sent through the host MPI.
struct shared_memory_name {
  std::int32_t pid;
  std::int32_t descriptor;
  std::uint64_t bytes;
  std::uint64_t cookie;      // first 8 bytes of the segment; open checks them
  offered_descriptor offer;  // for those to whom /proc does not show it; may be none
};

class shared_memory {
 public:
  shared_memory() = default;
  shared_memory(shared_memory&& other) noexcept { swap(other); }
  shared_memory& operator=(shared_memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~shared_memory();

  /// Makes a segment of `bytes` zero bytes (lazily touched) whose first 8 bytes are a random
  /// cookie.
  static result<shared_memory> create(std::size_t bytes, const char* label) noexcept;
  /// Maps a segment of another process (or of this one). Checks size and cookie.
  static result<shared_memory> open(const shared_memory_name& name) noexcept;

  /// Lets processes fetch the descriptor to which /proc does not show it: name() has the offer.
  status offer() noexcept;
  /// From now on create() offers each segment of this process.
  static void offer_all() noexcept;

  /// To be called when all who will open the segment have done so.
  void close_descriptor() noexcept {
    descriptor_ = {};
    offer_ = {};
  }

  explicit operator bool() const noexcept { return address_ != nullptr; }
  std::byte* data() const noexcept { return address_; }
  std::size_t size() const noexcept { return bytes_; }
  const shared_memory_name& name() const noexcept { return name_; }

 private:
  static result<shared_memory> map(int opened, const shared_memory_name& name) noexcept;
  void swap(shared_memory& other) noexcept;

  std::byte* address_ = nullptr;
  std::size_t bytes_ = 0;
  descriptor descriptor_;  // peers open it; the maker's
  kept_offer offer_;
  shared_memory_name name_{};
};

/// 64 random bits from the system.
std::uint64_t random_bits() noexcept;

}  // namespace telpher
