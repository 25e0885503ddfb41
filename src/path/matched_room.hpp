// SPDX-License-Identifier: BSD-3-Clause
// What kernels need that wait for peers in the program's own streams, where no host ends them: a
// room, which is device memory that peers open, and the hold on the stream. A stream that runs such
// a kernel is held like one that waits for the proxy (memory/held_streams.hpp): until an event
// behind the kernel is done, or, once a graph holds such a kernel, as long as the room lives.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "memory/imported.hpp"
#include "path/slot.hpp"

namespace telpher::path {

class matched_room {
 public:
  /// Cleared. not_supported where peers could not open it, or kernels must not wait.
  static result<std::shared_ptr<matched_room>> make(const memory::place& where,
                                                    std::size_t bytes) noexcept;
  ~matched_room();
  matched_room(const matched_room&) = delete;
  matched_room& operator=(const matched_room&) = delete;

  const memory::place& where() const noexcept { return where_; }
  const exported_memory& exported() const noexcept { return exported_; }
  std::byte* base() const noexcept { return base_; }
  /// The next so many bytes, as an offset.
  std::uint64_t take(std::size_t bytes) noexcept { return std::exchange(next_, next_ + bytes); }
  /// A graph holds kernels that wait.
  void captured() noexcept;

 private:
  explicit matched_room(const memory::place& where) noexcept : where_(where) {}

  memory::place where_;
  std::byte* base_ = nullptr;
  exported_memory exported_{};
  std::uint64_t next_ = 0;
  bool captured_ = false;
};

/// Around launches of such kernels in a stream. While it is captured, its room holds it
/// (matched_room::captured).
class waiting_launch {
 public:
  waiting_launch(const memory::place& where, device::stream s, bool captured) noexcept;
  ~waiting_launch();
  waiting_launch(const waiting_launch&) = delete;
  waiting_launch& operator=(const waiting_launch&) = delete;

 private:
  const memory::place& where_;
  device::stream stream_;
  bool captured_;
};

}  // namespace telpher::path
