// SPDX-License-Identifier: BSD-3-Clause
// Runs a schedule without kernels that wait: the host polls flags in shared host memory and gives
// the device one step after the other. For ranks that share a device, where a waiting kernel could
// keep the kernel that it waits for from running.
//
// Flags. from[p] in rank q's line is written by rank p only and holds call << 16 | number of p's
// last signal to q, as the kernel's flags do. A signal is stored (release) when all device work of
// the rank that precedes it is done and visible. A wait loads with acquire, and work that follows
// it is given to the device only afterwards. Small copies of a burst are made by the kernel that
// stays (path/copier.hpp), which is in no stream: what follows in a stream waits for them here. So
// advance() is called under the progress lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/status.hpp"
#include "coll/exchange/launch.hpp"
#include "coll/exchange/program.hpp"
#include "coll/exchange/selection.hpp"
#include "coll/reduction.hpp"
#include "memory/streams.hpp"
#include "path/copier.hpp"

namespace telpher::coll::exchange {

struct alignas(64) step_flags {
  std::array<std::atomic<std::uint64_t>, most_ranks> from;
};

/// What is told of the run of a call's schedule.
struct run_terms {
  const choice& chosen;
  memory::place where;
  reduction reduce;
  std::uint64_t unit;    // bytes of an element
  std::uint64_t number;  // call_number
  int rank;
  bool small;  // a kernel may stay for it, which runs in another stream
  const std::array<step_flags*, most_ranks>& step_flags_of;
};

class stepped {
 public:
  stepped(const compilation& c, const run_terms& t, launch_context& on) noexcept
      : c_(c), t_(t), context_(on) {}

  /// Does what can be done now: ok when all is done, would_block while something is awaited.
  status advance() noexcept;
  /// The peer that is waited for, or -1.
  int awaited() const noexcept { return awaited_; }

 private:
  status begin_in_stream() noexcept;
  status copy(const step& s) noexcept;
  status move(const step& s) noexcept;
  status settle() noexcept;
  status signal(int peer) noexcept;
  status wait(int peer) noexcept;

  const compilation& c_;
  const run_terms t_;
  launch_context& context_;
  std::size_t next_ = 0;
  bool dirty_ = false;     // work was given to the device since the last settle
  bool recorded_ = false;  // and the event stands behind it
  memory::pooled_event event_;
  path::copy_job by_kernel_;  // the last one
  bool kernel_copies_ = false;
  std::array<std::uint64_t, most_ranks> signals_{}, waits_{};
  int awaited_ = -1;
};

}  // namespace telpher::coll::exchange
