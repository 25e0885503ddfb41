// SPDX-License-Identifier: BSD-3-Clause
// Runs of the exchange kernel. A process has a few launch contexts, and a run holds one. A context
// has a stream, and words in pinned memory by which the host sees the end of a run or ends it
// early. The number of contexts limits the kernels that wait for peers on a device. All of them
// must fit there at once, or two communicators could block each other. After a small call in a
// burst the kernel stays for the next call (kernel/exchange_stay.hpp). It runs in a second stream,
// so that other work of the context never queues behind it.
#pragma once

#include <cstdint>
#include <memory>
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
  /// would_block: all are in use.
  static result<launch_context> take(const memory::place& where) noexcept;
  /// One more where all are in use. For a blocking call that other ranks count on: there are as
  /// many as threads of the program. Then kernels that do not fit on the device together pause for
  /// each other.
  static result<launch_context> take_surely(const memory::place& where) noexcept;
  /// One more context, for kernels that wait for no other rank. Any number of calls may hold it;
  /// its stream orders their work. Under the progress lock. Its runs must not be polled
  /// (run::poll).
  static result<launch_context> common(const memory::place& where) noexcept;

  explicit operator bool() const noexcept { return state_ != nullptr; }
  device::stream stream() const noexcept;

  /// The context's workspace of a kind; empty before the first make_space().
  workspace& space(workspace_kind kind) const noexcept;
  status make_space(workspace_kind kind) const noexcept;
  /// After a rank has failed in a call: the workspaces are kept until the process ends and not used
  /// again, because peers may still write there.
  void abandon_workspaces() const noexcept;
  /// The parameters of the next run. The caller fills in what the communicator knows (epoch,
  /// packed_epoch, me, flags), run::start the rest.
  kernel::exchange& parameters() const noexcept;

 private:
  struct give_back {
    void operator()(context_state* s) const noexcept;
  };
  explicit launch_context(context_state* s) noexcept : state_(s) {}
  static result<launch_context> take(const memory::place& where, int most) noexcept;
  static result<launch_context> make(const memory::place& where, bool for_all) noexcept;
  friend class run;
  std::unique_ptr<context_state, give_back> state_;
};

/// Whether the kernel may stay after the program, and of which kind the program is.
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
  /// Makes waiting blocks give up; poll() tells when they have.
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

/// Numbers of calls. Signals and packed words carry them (kernel/exchange.hpp). A workspace serves
/// calls of many communicators, and each call must have a later number than those before it. So
/// each rank says with its proposal the least number that the call may have here: least(). The call
/// gets the largest of these, and by note() every rank asks for a larger one the next time. Packed
/// words carry the lower half, which is never 0. Two numbers with different upper halves (`era`)
/// may look alike there: so a rank clears its inbox when the era changes, before it proposes its
/// number, and a call to which ranks propose different eras is staged.
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
