// SPDX-License-Identifier: BSD-3-Clause
// Records calls, waits, messages and device copies for `telpher trace`: one file for each rank, one
// JSON object for each line. Also emits ranges for NVIDIA's and AMD's profilers. Tracing is off by
// default; then each place that could record costs one relaxed load and a branch. Times are
// nanoseconds of the node's monotonic clock; `telpher trace` aligns the clocks of different nodes.
#pragma once

#include <cstdint>

#include "base/short_way.hpp"

namespace telpher::trace {

/// Whether anything is recorded. Ask this before doing any other work for a record.
inline bool on() noexcept {
  return short_way::any(short_way::tracing);
}

/// Reads the settings trace and trace_ranges. All ranks call it at nearly the same moment: `telpher
/// trace` uses this for its first alignment of the nodes' clocks.
void begin(int rank, int size) noexcept;
/// Writes what is pending and stops recording.
void end() noexcept;

/// Names and values of an event, as JSON. Facts that do not fit are left out.
class facts {
 public:
  facts() noexcept { text_[0] = '\0'; }  // text_ is not cleared: every call makes a span
  facts& add(const char* key, long long value) noexcept;
  /// `value` must need no escaping.
  facts& add(const char* key, const char* value) noexcept;
  const char* text() const noexcept { return text_; }

 private:
  char text_[232];
  int used_ = 0;
};

/// A call of this thread, from construction to destruction. `describe` returns the facts; it runs
/// only while something is recorded.
class span {
 public:
  template <class Describe>
  span(const char* name, Describe&& describe) noexcept {
    if (on()) [[unlikely]]
      open(name, describe());
  }
  explicit span(const char* name) noexcept {
    if (on()) [[unlikely]]
      open(name, facts());
  }
  ~span() {
    if (name_) [[unlikely]]
      close();
  }
  span(const span&) = delete;
  span& operator=(const span&) = delete;

 private:
  void open(const char* name, const facts& what) noexcept;
  void close() noexcept;

  const char* name_ = nullptr;
  std::uint64_t begin_ns_;
  facts facts_;
};

/// Records an interval; `kind` is "call", "wait", "copy", "send" or "receive".
void record(const char* kind, const char* name, std::uint64_t begin_ns, std::uint64_t end_ns,
            const facts& what) noexcept;

}  // namespace telpher::trace
