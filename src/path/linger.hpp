// SPDX-License-Identifier: BSD-3-Clause
// The host's side of the lingering copier: a kernel of one block that polls a mailbox in pinned
// host memory for the next copy and leaves when none came for TELPHER_LINGER_TIME. The protocol is
// written out in kernel/linger.hpp; in short: the host writes command n into mailbox[n % depth],
// the kernel finishes commands in order and stores n to `done`; before it leaves it stores the last
// finished number + 1 to `gone`, and reads no command after it decided to leave. So a command whose
// number is above a non-zero `gone` - 1 was not seen, and the kernel is launched again from there.
// It has a stream of its own, and leaves after some time also while commands come: where a device
// runs fewer streams side by side than there are, what waits behind it comes on.
#pragma once

#include <chrono>
#include <cstdint>

#include "kernel/kernel.hpp"
#include "memory/memory.hpp"
#include "path/kernel_watch.hpp"

namespace telpher::path {

/// Whether a kernel that stays for what comes next is worth its place on the device.
class burst {
 public:
  /// At the start of each piece of work: TELPHER_LINGER says so, or the piece before began less
  /// than TELPHER_LINGER_TIME ago. So what comes first after a pause goes without such a kernel.
  /// Never where another rank uses the device too, unless the setting says so.
  bool goes_on(const memory::place& where) noexcept;
  /// Whether they may stay anywhere.
  static void permit(bool permitted) noexcept;

 private:
  std::chrono::steady_clock::time_point last_;
};

class linger_engine {
 public:
  explicit linger_engine(const memory::place& where) noexcept : where_(where) {}
  ~linger_engine();

  /// Hands a copy to the kernel, launching it if it is not there. The command's number, or
  /// would_block when the mailbox is full.
  result<std::uint32_t> submit(void* to, const void* from, std::size_t bytes) noexcept;
  status poll(std::uint32_t sequence) noexcept;

 private:
  status prepare() noexcept;
  status launch(std::uint32_t first) noexcept;
  status look_for_kernel(std::uint32_t sequence) noexcept;
  std::uint32_t done() const noexcept;

  memory::place where_;
  memory::buffer memory_;
  kernel::linger_command* mailbox_ = nullptr;
  std::uint32_t* done_ = nullptr;
  std::uint32_t* gone_ = nullptr;
  std::uint32_t next_ = 1;  // number of the next command; 0 is never used
  bool running_ = false;    // launched and not seen gone
  device::stream stream_{};
  kernel_watch watch_;
  status broken_ = status::ok;
};

}  // namespace telpher::path
