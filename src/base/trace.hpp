// SPDX-License-Identifier: BSD-3-Clause
// What `telpher trace` shows: calls, waits, messages and device copies with their times, one JSON
// object a line in one file a rank, and ranges for NVIDIA's and AMD's profilers. Off, which is the
// default, every place that could record something costs one relaxed load and a branch.
// Times are nanoseconds of this machine's monotonic clock; `telpher trace` aligns those of nodes.
#pragma once

#include <atomic>
#include <cstdint>

namespace telpher::trace {

extern std::atomic<bool> active;

/// Whether anything is recorded; asked before anything else is done for it.
inline bool on() noexcept {
  return active.load(std::memory_order_relaxed);
}

/// Reads the settings trace and trace_ranges. Ranks call it at the same moment, as nearly as they
/// can: clocks of different nodes are aligned by it at first.
void begin(int rank, int size) noexcept;
/// Writes what is left and stops.
void end() noexcept;

std::uint64_t now_ns() noexcept;

/// Names and values that go with an event, as JSON. What does not fit is left out.
class facts {
 public:
  facts() noexcept { text_[0] = '\0'; }  // the rest stays as it is: spans are made at every call
  facts& add(const char* key, long long value) noexcept;
  /// `value` must need no escaping.
  facts& add(const char* key, const char* value) noexcept;
  const char* text() const noexcept { return text_; }

 private:
  char text_[232];
  int used_ = 0;
};

/// A call of this thread, from construction to destruction. `describe` answers facts; it runs only
/// if something is recorded.
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

/// Something with a beginning and an end; `kind` is "wait", "copy", "send" or "receive".
void record(const char* kind, const char* name, std::uint64_t begin_ns, std::uint64_t end_ns,
            const facts& what) noexcept;

}  // namespace telpher::trace
