// SPDX-License-Identifier: BSD-3-Clause
// The host's side of the lingering copier: a kernel of one block that polls a mailbox in pinned
// host memory for the next copy and leaves when none came for TELPHER_LINGER_TIME.
// kernel/linger.hpp has the protocol. In short: the host writes command n into mailbox[n % depth].
// The kernel completes commands in order and stores n to `done`. When it decides to leave it reads
// no more commands and stores the last completed number + 1 to `gone`. So commands with numbers >=
// a non-zero `gone` were not seen, and the kernel is launched again from there. The kernel has a
// stream of its own. It also leaves after some time while commands keep coming, because on a device
// that runs fewer streams at once than there are, other work may be waiting behind it.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"
#include "memory/memory.hpp"
#include "path/kernel_watch.hpp"

namespace telpher::path {

/// Decides whether a kernel that stays for later work is worth its place on the device.
class burst {
 public:
  /// To be called at the start of each piece of work. True if TELPHER_LINGER is on, or if the
  /// previous piece began less than TELPHER_LINGER_TIME ago (twice that while streams of the
  /// program wait for us). So the first piece after a pause does not use such a kernel. Never true
  /// if another rank uses the device too, unless the setting is on.
  bool goes_on(const memory::place& where) noexcept;
  /// To be called before a piece that would be given to such a kernel; `served`: how many the last
  /// one took. False after kernels that left with the one piece for which they were launched: for
  /// one piece more after each of these. (Messages of a slow network come one by one, and so do
  /// those of programs that compute in between: there a launch takes longer than a copy, and the
  /// kernel holds up a program that waits for its device.)
  bool pays(std::uint32_t served) noexcept;
  /// Permits or forbids kernels that stay, for all devices.
  static void permit(bool permitted) noexcept;

 private:
  static constexpr std::uint32_t most_passed_over = 63;

  std::uint64_t last_ns_ = 0;
  std::uint32_t passed_over_ = 0, to_pass_over_ = 0;
};

class lingering_copier {
 public:
  explicit lingering_copier(const memory::place& where) noexcept : where_(where) {}
  ~lingering_copier();

  /// Gives a copy to the kernel; launches the kernel if it is not running. Returns the command's
  /// number, or would_block if the mailbox is full. `near`: `to` lies in the device's memory.
  result<std::uint32_t> submit(void* to, const void* from, std::size_t bytes,
                               bool near = false) noexcept;
  status poll(std::uint32_t sequence) noexcept;
  /// How many copies the last kernel took. More than one while it is there, or if there was none.
  std::uint32_t served() const noexcept;

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
  std::uint32_t next_ = 1;   // number of the next command; 0 is never used
  bool running_ = false;     // launched, and not seen to have failed
  std::uint32_t first_ = 0;  // the first command of the last launch
  device::stream stream_{};
  kernel_watch watch_;
  status broken_ = status::ok;
};

}  // namespace telpher::path
