// SPDX-License-Identifier: BSD-3-Clause
// A persistent collective among the devices of a node as one kernel that streams and graphs launch
// again and again without the host (kernel/exchange.hpp, Replays). How its ranks agree:
// call_replay.cpp. It has a room of its own, which peers map, because the host does not know when
// peers' kernels use it; and it keeps the peers' buffers mapped. What lies in the room:
//   calls    two 64-bit numbers a block
//   stop     the word that would end a wait: always 0
//   flags    [block][rank] 64-bit words that peers' kernels signal with
//   space    the schedule's scratch space; or packed memory, twice
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "coll/exchange/packed_copies.hpp"
#include "coll/exchange/program.hpp"
#include "coll/exchange/selection.hpp"
#include "coll/reduction.hpp"
#include "kernel/kernel.hpp"
#include "path/matched_room.hpp"

namespace telpher::coll::exchange {

class kernel_replay {
 public:
  struct terms {
    choice chosen;
    memory::place where;
    reduction reduce;
    std::uint64_t unit;    // bytes of an element
    std::uint64_t volume;  // bytes of the longest vector of any rank
    bool all_depend;       // who has ended the call knows that all ranks have begun it
    int rank;
    std::function<void()> gone;  // called then; only where start_on() serves
  };
  kernel_replay(const kernel_replay&) = delete;
  kernel_replay& operator=(const kernel_replay&) = delete;
  ~kernel_replay();
  /// Whether a choice can be replayed.
  static bool serves(const choice& c) noexcept;
  /// With its room, which peers may open.
  static result<std::unique_ptr<kernel_replay>> make(terms&& t) noexcept;

  const path::exported_memory& room() const noexcept { return room_->exported(); }
  /// `process`: the peer's world rank.
  status open_room(int rank, int process, const path::exported_memory& there) noexcept;
  /// Buffers of a peer, null where it has none, and the own ones. After a failure it may be called
  /// again: what is open stays so.
  status open_buffers(int rank, int process, const path::exported_memory* input,
                      const path::exported_memory* output) noexcept;
  void own_buffers(const void* input, void* output) noexcept;
  /// The own buffers are such copies. Null: they are not.
  void pack_by(std::shared_ptr<packed_copies> copies) noexcept { packs_ = std::move(copies); }
  /// When all that the schedule needs is open.
  status compile() noexcept;

  /// The device of the program's memory, and of the streams that may start it.
  const memory::place& where() const noexcept { return terms_.where; }
  /// Who starts it: a stream of the program's, a graph that takes the stream's work, or the host
  /// whenever a graph has come there.
  enum class starter { stream, graph, host_for_graph };
  /// Starts it in a stream, which goes on when it is complete.
  status start(device::stream s, starter by) noexcept;
  /// Starts it on these buffers, which later starts use too. Only if it was matched for any
  /// buffers.
  status start_on(const void* input, void* output, device::stream s, starter by) noexcept;
  /// How many starts that were no graph's are over, modulo 2^32.
  std::uint32_t ended() const noexcept;

  /// The room, if peers may still signal there when the last call has ended at this rank; or null.
  std::shared_ptr<path::matched_room> room_that_stays() const noexcept {
    return begins() == meeting::of_call_before ? room_ : nullptr;
  }

 private:
  explicit kernel_replay(terms&& t) noexcept : terms_(std::move(t)) {}
  bool packed() const noexcept { return is_packed(terms_.chosen.by); }
  kernel::packed_format format() const noexcept { return format_of(terms_.chosen.by); }
  meeting begins() const noexcept;
  std::uint64_t half_bytes() const noexcept;
  status compile_programs() noexcept;
  void place_room(int rank, std::byte* base) noexcept;
  result<std::byte*> open(int process, const path::exported_memory& there) noexcept;

  terms terms_;
  std::shared_ptr<path::matched_room> room_;
  std::vector<memory::mapping> opened_;
  space_map map_{};
  std::vector<std::uint64_t> words_, other_words_;  // of the program, and that of the second half
  memory::buffer long_code_;
  kernel::exchange parameters_{};
  std::shared_ptr<packed_copies> packs_;
  std::size_t first_waiter_ = 0;  // a block each
};

}  // namespace telpher::coll::exchange
