// SPDX-License-Identifier: BSD-3-Clause
// A rank's workspace on one communicator: device memory that its peers map once. Workspaces are
// kept for the next communicator when one is freed: an importer's mapping of a released allocation
// would dangle, and making one costs milliseconds.
//   flags   [block][rank] 64-bit words that peers' kernels signal with
//   inbox   packed memory (kernel/exchange.hpp)
//   scratch the schedule's scratch space
#pragma once

#include "coll/exchange/program.hpp"
#include "kernel/kernel.hpp"
#include "memory/ipc_cache.hpp"
#include "memory/memory.hpp"
#include "path/slot.hpp"

namespace telpher::coll::exchange {

class workspace {
 public:
  workspace() = default;
  workspace(workspace&& o) noexcept : block_(std::exchange(o.block_, nullptr)) {}
  workspace& operator=(workspace&& o) noexcept {
    std::swap(block_, o.block_);
    return *this;
  }
  ~workspace();

  /// A workspace with flags and inbox cleared.
  static result<workspace> take(const memory::place& where) noexcept;
  /// Clears the inbox again; peers must be known not to use it.
  status clear_inbox() noexcept;

  explicit operator bool() const noexcept { return block_ != nullptr; }
  std::byte* base() const noexcept;
  /// As peers open it; exportable is 0 where they cannot.
  const path::exported_memory& exported() const noexcept;

  static std::uint64_t* flags_in(std::byte* base) noexcept {
    return reinterpret_cast<std::uint64_t*>(base);
  }
  /// Sets scratch and inbox of a rank whose workspace is mapped at `base`.
  static void place_in(spaces& s, std::byte* base) noexcept;

  /// Releases all that are not in use; when no peer has them mapped any more.
  static void release_kept() noexcept;

 private:
  struct block;
  explicit workspace(block* b) noexcept : block_(b) {}
  static result<block*> make(const memory::place& where) noexcept;
  block* block_ = nullptr;
};

}  // namespace telpher::coll::exchange
