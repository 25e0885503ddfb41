// SPDX-License-Identifier: BSD-3-Clause
// Anonymous memory that other processes of the same user on the same machine can map. It has no
// name in the file system: a peer opens it through /proc/<pid>/fd. So nothing is left behind when
// its last user ends, even if a rank is killed, and no other user can guess or take its name. If
// /proc does not show the peer (another PID namespace), open fails. Ranks learn from this that they
// do not share a node.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/descriptor.hpp"
#include "base/status.hpp"

namespace telpher {

/// Names a segment to other processes; trivially copyable, sent through the host MPI.
struct shared_memory_name {
  std::int32_t pid;
  std::int32_t descriptor;
  std::uint64_t bytes;
  std::uint64_t cookie;  // first 8 bytes of the segment; open checks them
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

  /// To be called when all who will open the segment have done so.
  void close_descriptor() noexcept { descriptor_ = {}; }

  explicit operator bool() const noexcept { return address_ != nullptr; }
  std::byte* data() const noexcept { return address_; }
  std::size_t size() const noexcept { return bytes_; }
  const shared_memory_name& name() const noexcept { return name_; }

 private:
  void swap(shared_memory& other) noexcept;

  std::byte* address_ = nullptr;
  std::size_t bytes_ = 0;
  descriptor descriptor_;  // peers open it; the maker's
  shared_memory_name name_{};
};

/// 64 random bits from the system.
std::uint64_t random_bits() noexcept;

}  // namespace telpher
