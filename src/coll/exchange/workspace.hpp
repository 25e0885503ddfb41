// SPDX-License-Identifier: BSD-3-Clause
// A rank's workspace on one communicator: memory that its device and those of its peers use, mapped
// by them once.
//   device  device memory, opened by peers through the vendor's handles
//   host    a shared segment that every rank registers with its device, where device memory cannot
//           be opened and the devices use host memory as their own (backend::shares_host_memory)
// Workspaces are kept for the next communicator when one is freed: an importer's mapping of a
// released allocation would dangle, and making one costs milliseconds. What lies in one:
//   flags   [block][rank] 64-bit words that peers' kernels signal with
//   inbox   packed memory (kernel/exchange.hpp)
//   scratch the schedule's scratch space
#pragma once

#include <utility>

#include "base/shared_memory.hpp"
#include "coll/exchange/program.hpp"
#include "kernel/kernel.hpp"
#include "memory/ipc_cache.hpp"
#include "memory/memory.hpp"
#include "path/slot.hpp"

namespace telpher::coll::exchange {

enum class workspace_kind : std::uint8_t { device, host };

/// A shared segment, registered with one device while this lives.
class registered_segment {
 public:
  registered_segment() = default;
  registered_segment(registered_segment&& o) noexcept
      : memory_(std::move(o.memory_)), owner_(std::exchange(o.owner_, nullptr)) {}
  registered_segment& operator=(registered_segment&& o) noexcept {
    std::swap(memory_, o.memory_);
    std::swap(owner_, o.owner_);
    return *this;
  }
  ~registered_segment();
  static result<registered_segment> of(shared_memory memory, const memory::place& where) noexcept;

  const shared_memory_name& name() const noexcept { return memory_.name(); }
  /// Behind the cookie.
  std::byte* data() const noexcept { return memory_.data() + data_at; }

  static constexpr std::size_t data_at = 4096;

 private:
  shared_memory memory_;
  device::backend* owner_ = nullptr;
};

class workspace {
 public:
  workspace() = default;
  workspace(workspace&& o) noexcept : block_(std::exchange(o.block_, nullptr)) {}
  workspace& operator=(workspace&& o) noexcept {
    std::swap(block_, o.block_);
    return *this;
  }
  ~workspace();

  /// Which kinds TELPHER_COLL_WORKSPACE lets ranks try; the first of them first.
  static workspace_kind first_kind() noexcept;
  static bool tries_host_next() noexcept;
  /// A workspace with flags and inbox cleared; not_supported where peers could not use it.
  static result<workspace> take(workspace_kind kind, const memory::place& where) noexcept;
  /// Clears the inbox again; peers must be known not to use it.
  status clear_inbox() noexcept;

  explicit operator bool() const noexcept { return block_ != nullptr; }
  std::byte* base() const noexcept;
  /// As peers open it. Of a segment the handle is its name.
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
  static result<block*> make(workspace_kind kind, const memory::place& where) noexcept;
  block* block_ = nullptr;
};

/// A peer's workspace as it is mapped here.
class peer_workspace {
 public:
  /// `process`: the peer's world rank.
  static result<peer_workspace> open(workspace_kind kind, int process,
                                     const path::exported_memory& there,
                                     const memory::place& where) noexcept;
  std::byte* base() const noexcept { return base_; }

 private:
  memory::ipc_cache::mapping mapping_;
  registered_segment segment_;
  std::byte* base_ = nullptr;
};

}  // namespace telpher::coll::exchange
