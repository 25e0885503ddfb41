// SPDX-License-Identifier: BSD-3-Clause
// The table of paths: how a message may move, in order of preference (base/paths.def), and for
// which sizes. Both ends choose from it, and TELPHER_EXPLAIN prints it. Each path's record lies in
// the file that moves its bytes. docs/understand/adding-a-path.md says how to add one.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "datatype/unpack_plan.hpp"
#include "memory/windows.hpp"
#include "path/path.hpp"
#include "path/segment.hpp"
#include "path/transfer.hpp"

namespace telpher::path {

/// Which messages a path is for; values may be combined.
enum reach : unsigned {
  eager = 1,       // the payload travels with the message, through the host MPI
  process = 2,     // announced, both ends in this process: they agree in a slot
  node = 4,        // announced, two processes of a node: they agree in a slot
  network = 8,     // announced, between nodes: they agree by messages (path/pipelined.hpp)
  by_copier = 16,  // how the copies of `process` and `node` are made (path/copier.hpp)
};

enum class use : std::uint8_t {
  always,        // even if another path is forced: it is the fallback
  unless_other,  // not if TELPHER_PATH forces another path
  if_forced,
};

/// Limits are settings; their defaults were measured (results/README.md). Null: no limit. They say
/// what is fast. Whoever chooses a path applies them (table.cpp), but not to a path that is forced,
/// or where only an eager path can take the message. A path that cannot take more than its limit
/// refuses by itself.
struct size_range {
  std::size_t settings::*least = nullptr;
  std::size_t settings::*most = nullptr;
  bool holds(std::size_t bytes) const noexcept {
    return (!least || bytes >= config().*least) && (!most || bytes <= config().*most);
  }
};
inline constexpr size_range mapped_sizes{nullptr, &settings::mapped_limit};
inline constexpr size_range raw_sizes{nullptr, &settings::raw_limit};
inline constexpr size_range rdma_sizes{&settings::rdma_threshold, nullptr};
inline constexpr size_range unpack_sizes{nullptr, &settings::unpack_limit};
inline constexpr size_range batch_sizes{nullptr, &settings::batch_limit};
inline constexpr size_range linger_sizes{nullptr, &settings::linger_limit};

/// The sender's end of a message, while its path is chosen and started.
struct send_end {
  region from;
  // eager
  const device::pointer_info* info = nullptr;  // of the payload's address
  memory::buffer* packed = nullptr;            // keeps the payload alive
  bool may_announce = true;                    // false: an eager path must take it
  bool ready = true;                           // false: the device is still at work on the payload
  bool near = false;                           // the receiver is a rank of this node
  memory::window window;                       // set by `serves`
  const void* bytes = nullptr;                 // result: where the host MPI can read them
  memory::buffer keep;                         // result: kept until the host MPI has read them
  // on a node
  own_segment* own = nullptr;
  slot* cell = nullptr;
  std::uint32_t epoch = 0;
  int peer = -1;
};

/// How a kernel in the stream moves bytes to a buffer with gaps, or from a shape. `unpacks` says
/// whether they are in the program's buffer then, or in `to`.
using unpack_planner = std::function<result<datatype::unpack_plan>(
    const void* from, const datatype::strided* shape, device::stream s, bool& unpacks)>;

/// The receiver's end.
struct receive_end {
  reach between;
  region to;
  // eager
  const void* landed = nullptr;
  bool landed_pinned = false;
  bool in_place = false;  // `to` is the program's buffer
  // announced
  segment* sender = nullptr;
  slot* cell = nullptr;
  std::uint32_t epoch = 0;
  int peer = -1;
  unpack_planner plan;                       // of a buffer with gaps, or from a shape; else empty
  bool unpacks = false;                      // result: that is done, and `to` is not used
  std::unique_ptr<path::transfer> transfer;  // result; null: the bytes have arrived
};

struct record {
  kind name;
  unsigned between;  // reach
  use when;
  size_range sizes = {};
  /// Eager: whether it can serve a message. Called at the sender, which starts with it if so.
  bool (*serves)(send_end&) noexcept = nullptr;
  /// Eager: counts the message. The receiver's end is counted by those who call.
  status (*start_send)(send_end&) noexcept = nullptr;
  /// Starting is the test: any status but ok means that nothing has changed.
  status (*start_receive)(receive_end&) noexcept = nullptr;
  /// On a node: the state by which the receiver asks for the sender's part, and that part.
  slot_state asks = slot_state::free;
  std::unique_ptr<transfer> (*answer)(const send_end&) noexcept = nullptr;
  /// Eager, may be null: what is tried before start_send, under the progress lock. not_supported:
  /// start_send is called.
  status (*send_by_kernel)(send_end&) noexcept = nullptr;
};

#define TELPHER_PATH(name, choice, what) extern const record name##_path;
#include "base/paths.def"
#undef TELPHER_PATH

/// In order of preference; the eager ones are the first.
std::span<const record* const> all_paths() noexcept;

/// For `serves` of eager paths: false if the device is still at work on the payload and the message
/// may be announced instead. An eager send is complete when the call returns, so it would have to
/// wait for the device.
inline bool may_wait_for(const send_end& e) noexcept {
  return e.ready || !e.may_announce;
}

/// The eager path for a message; null: the message is announced.
const record* choose_eager(send_end& e) noexcept;
/// Whether some eager path is for messages of this size.
bool eager_size(std::size_t bytes) noexcept;
/// Whether a path between nodes can take a message to a peer. Asked at most once for each row.
using can_serve = bool(kind by, int peer, std::size_t bytes) noexcept;
/// The path of a message to another node, before its ticket leaves. `can` is true of pipelined.
const record* choose_network(int peer, std::size_t bytes, can_serve* can) noexcept;
/// Starts the first path that can; `transfer` says which one it is.
const record* start_receive(receive_end& e) noexcept;
/// The sender's part that a state asks for.
std::unique_ptr<transfer> answer(slot_state asked, const send_end& e) noexcept;

}  // namespace telpher::path
