// SPDX-License-Identifier: BSD-3-Clause
// Runs of the exchange kernel. A process has a few launch contexts. Each is a stream of its own
// with the words in pinned memory by which the host sees the end of a run and ends it early; a run
// holds its context. Their number bounds how many kernels that wait for peers a device may hold at
// once: all of them must find room beside each other, or two communicators could block one another.
// After a small call in a burst a context's kernel stays for the next (kernel/exchange_stay.hpp),
// in a second stream, so that what else the context does never queues behind it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "coll/exchange/workspace.hpp"
#include "kernel/kernel.hpp"
#include "memory/memory.hpp"
#include "path/kernel_watch.hpp"

namespace telpher::coll::exchange {

constexpr int most_contexts = 4;

struct context_state;

/// A held launch context; free again on destruction.
class launch_context {
 public:
  launch_context() = default;
  launch_context(launch_context&& o) noexcept;
  launch_context& operator=(launch_context&& o) noexcept;
  ~launch_context();
  /// would_block: all are in use.
  static result<launch_context> take(const memory::place& where) noexcept;
  /// A context beside these for kernels that wait for nobody. Any number of calls may hold it: what
  /// it runs is ordered by its stream. Under the engine's lock, and never to be polled by
  /// run::poll.
  static result<launch_context> common(const memory::place& where) noexcept;

  explicit operator bool() const noexcept { return state_ != nullptr; }
  device::stream stream() const noexcept;

  /// The context's workspace of a kind; empty before the first make_space().
  workspace& space(workspace_kind kind) const noexcept;
  status make_space(workspace_kind kind) const noexcept;
  /// Some rank has failed in a call: what the others still do there must harm nobody.
  void abandon_workspaces() const noexcept;
  /// Of the next run: what the communicator knows is filled in by the caller (epoch, packed_epoch,
  /// me, flags), the rest by run::start.
  kernel::exchange& parameters() const noexcept;

 private:
  explicit launch_context(context_state* s) noexcept : state_(s) {}
  static result<launch_context> make(const memory::place& where, bool for_all) noexcept;
  friend class run;
  context_state* state_ = nullptr;
};

/// Whether a kernel that stays may do a program: what the program uses of the launch's parameters.
enum class staying { no, packed, with_flags };

/// Puts a program where a launch with these parameters finds it. One that is too long for them is
/// copied to `memory`, or to memory taken for it, which becomes `taken`.
status place_program(kernel::exchange& p, const std::vector<std::uint64_t>& program,
                     device::backend* owner, memory::buffer& taken,
                     void* memory = nullptr) noexcept;

/// One run of an exchange kernel, in as many launches as it takes (kernel/exchange.hpp, Pauses).
class run {
 public:
  static constexpr int most_blocks = 256;

  /// Takes at most kernel::exchange::most_blocks blocks for a program that waits. A program that is
  /// too long for the launch's parameters is copied to `memory`, or to memory taken for it.
  status start(launch_context& on, kernel::id k, const std::vector<std::uint64_t>& program,
               int blocks, staying way = staying::no, void* memory = nullptr) noexcept;
  /// ok: all blocks are through, or were stopped. would_block: not yet; a kernel that paused was
  /// launched again. device_error: the kernel has died.
  status poll() noexcept;
  /// Blocks that wait shall give up; poll() tells when they have.
  void stop() noexcept;

 private:
  status launch() noexcept;
  bool taken_by_resident(staying way) noexcept;
  void next_number() noexcept;
  bool all_ended() noexcept;
  bool has_died() noexcept;

  context_state* state_ = nullptr;
  memory::buffer long_code_;
  kernel::id kernel_{};
  int blocks_ = 0;
  std::uint32_t number_ = 0;
  int ended_ = 0;  // blocks that are known to have ended
  bool paused_ = false;
  bool commanded_ = false;  // given to a kernel that was there
  bool stopped_ = false;
  path::kernel_watch watch_;
};

/// Numbers of calls, which their signals and packed words carry (kernel/exchange.hpp): a workspace
/// serves calls of many communicators, and each must have a later number than those before it. So a
/// rank says with its call which number is the least for it, the call has the largest of these, and
/// no rank says less than that again. Packed words carry the lower half, which is not 0; of numbers
/// with different upper halves (`era`) two may look alike there, so a rank clears its inbox when
/// the era changes, before it says so.
class call_number {
 public:
  static std::uint64_t least() noexcept;
  /// The number of a call, which all ranks know now.
  static void note(std::uint64_t number) noexcept;
  static std::uint32_t era(std::uint64_t number) noexcept {
    return static_cast<std::uint32_t>(number >> 32);
  }
  static std::uint32_t packed(std::uint64_t number) noexcept {
    return static_cast<std::uint32_t>(number);
  }
};

/// Gives streams and memory back; no peer has a workspace of this process mapped any more.
void release_contexts() noexcept;

}  // namespace telpher::coll::exchange
