// SPDX-License-Identifier: BSD-3-Clause
// A workspace: memory of one rank that its device and those of its peers use in a call. It belongs
// to a launch context (launch.hpp), whose call it serves, whatever the communicator: a process has
// as many as it ever has calls at once, at most `most_contexts` for each device, however many
// communicators there are. Nobody touches the workspace of a rank that has ended its call: the
// verifier proves it of every schedule, and of a call that failed the workspace is not used again.
// Peers map it once for each communicator.
//   device  device memory, opened by peers through the vendor's handles
//   host    a shared segment that every rank registers with its device, where device memory cannot
//           be opened and the devices use host memory as their own (backend::shares_host_memory)
// Running kernels read what peers' kernels write there. So device memory comes from the back end's
// allocate_flags: AMD's devices may keep other memory in a cache that a peer's write does not
// reach. What lies in a workspace:
//   flags   [block][rank] 64-bit words that peers' kernels signal with
//   inbox   packed memory (kernel/exchange.hpp)
//   scratch the schedule's scratch space
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "coll/exchange/program.hpp"
#include "kernel/kernel.hpp"
#include "memory/imported.hpp"
#include "memory/memory.hpp"
#include "path/slot.hpp"

namespace telpher::coll::exchange {

enum class workspace_kind : std::uint8_t { device, host };

/// What tells a rank's workspaces apart; a released one's never comes again.
struct workspace_id {
  std::uint64_t base;  // 0: none
  std::uint64_t generation;
  bool operator==(const workspace_id&) const = default;
};

class workspace {
 public:
  /// Which kinds TELPHER_COLL_WORKSPACE lets ranks try; the first of them first.
  static workspace_kind first_kind() noexcept;
  static bool tries_host_next() noexcept;
  /// With flags and inbox cleared; not_supported where peers could not use it.
  static result<workspace> make(workspace_kind kind, const memory::place& where) noexcept;
  /// Clears the inbox again; peers must be known not to use it.
  status clear_inbox() noexcept;

  explicit operator bool() const noexcept { return base_ != nullptr; }
  const std::shared_ptr<std::byte>& base() const noexcept { return base_; }
  workspace_id id() const noexcept { return id_of(exported_); }
  static workspace_id id_of(const path::exported_memory& m) noexcept {
    return {m.address, m.generation};
  }
  /// As peers open it. Of a segment the handle is its name.
  const path::exported_memory& exported() const noexcept { return exported_; }
  /// Keeps it until the process ends: peers may go on writing there.
  void abandon() noexcept;

  std::uint32_t era = 0;  // of the numbers in the inbox (call_number)

  static std::uint64_t* flags_in(std::byte* base) noexcept {
    return reinterpret_cast<std::uint64_t*>(base);
  }
  /// Sets scratch and inbox of a rank whose workspace is mapped at `base`.
  static void place_in(spaces& s, std::byte* base) noexcept;

 private:
  workspace_kind kind_ = workspace_kind::device;
  memory::place where_;
  std::shared_ptr<std::byte> base_;
  path::exported_memory exported_{};
};

/// A workspace as it is mapped here; communicators share what they have mapped.
struct mapped_workspace {
  workspace_id id;
  std::shared_ptr<std::byte> base;  // keeps the mapping

  /// `process`: the peer's world rank.
  static result<mapped_workspace> open(workspace_kind kind, int process,
                                       const path::exported_memory& there,
                                       const memory::place& where) noexcept;
};

/// The workspaces of one rank, or of this one, that all ranks of a communicator have mapped. All
/// ranks are told of the same ones, so their lists are the same.
class known_workspaces {
 public:
  std::byte* find(const workspace_id& id) const noexcept {
    for (const mapped_workspace& w : all_)
      if (w.id == id) return w.base.get();
    return nullptr;
  }
  void add(mapped_workspace&& w) {
    if (all_.size() == most) all_.erase(all_.begin());
    all_.push_back(std::move(w));
  }
  void clear() noexcept { all_.clear(); }

 private:
  static constexpr std::size_t most = 8;  // more than a process has at once
  std::vector<mapped_workspace> all_;
};

}  // namespace telpher::coll::exchange
