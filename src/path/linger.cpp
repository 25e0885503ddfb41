// SPDX-License-Identifier: BSD-3-Clause
#include "path/linger.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "device/registry.hpp"
#include "kernel/linger.hpp"
#include "memory/held_streams.hpp"
#include "path/neighbours.hpp"

namespace telpher::path {
namespace {

constexpr std::uint32_t depth = 64;
constexpr int threads = 1024;  // 64 KiB with four 16-byte loads in flight a thread
constexpr std::uint32_t last_sequence = 0xfff00000;  // the copier's last: numbers must not wrap
constexpr std::uint64_t most_stays =
    20;  // times TELPHER_LINGER_TIME; one launch in that time costs little
constexpr std::size_t done_at = depth * sizeof(kernel::linger_command);
constexpr std::size_t gone_at = done_at + 128;
constexpr std::size_t memory_bytes = gone_at + 128;

bool reached(std::uint32_t counter, std::uint32_t sequence) noexcept {
  return static_cast<std::int32_t>(counter - sequence) >= 0;
}

std::uint32_t load(std::uint32_t* word) noexcept {
  return std::atomic_ref(*word).load(std::memory_order_acquire);
}

bool permitted_here = false;

// Work in the order of streams comes when a device has got to it, and comes late where a copy was
// started for the piece before: by the time alone no kernel would ever stay. (An 8-byte ping-pong
// on an H100: a piece every 60 us by the copy engine, every 32 from a kernel that stays.)
double longest_gap_us() noexcept {
  constexpr double in_streams = 2;
  return config().linger_time.value * (memory::held_streams::instance().any() ? in_streams : 1.0);
}

}  // namespace

bool burst::goes_on(const memory::place& where) noexcept {
  if (config().linger == "off") return false;
  if (config().linger == "on") return true;
  if (!permitted_here || !may_wait_on(where)) return false;
  const std::uint64_t now = now_ns();
  const double since_us = static_cast<double>(now - std::exchange(last_ns_, now)) / 1e3;
  return since_us < longest_gap_us();
}

bool burst::pays(std::uint32_t served) noexcept {
  if (served > 1 || config().linger == "on") {
    to_pass_over_ = 0;
    return true;
  }
  if (passed_over_ < to_pass_over_) return ++passed_over_, false;
  passed_over_ = 0;
  to_pass_over_ = std::min(2 * to_pass_over_ + 1, most_passed_over);
  return true;
}

void burst::permit(bool permitted) noexcept {
  permitted_here = permitted;
}

status lingering_copier::prepare() noexcept {
  if (mailbox_) return status::ok;
  TELPHER_TRY(memory::buffer::for_kernels(memory_bytes, where_.owner).into(memory_));
  std::memset(memory_.data(), 0, memory_bytes);
  auto* base = static_cast<std::byte*>(memory_.data());
  mailbox_ = reinterpret_cast<kernel::linger_command*>(base);
  done_ = reinterpret_cast<std::uint32_t*>(base + done_at);
  gone_ = reinterpret_cast<std::uint32_t*>(base + gone_at);
  return status::ok;
}

std::uint32_t lingering_copier::done() const noexcept {
  return load(done_);
}

status lingering_copier::launch(std::uint32_t first) noexcept {
  running_ = false;
  std::atomic_ref(*gone_).store(0, std::memory_order_release);
  const auto patience_ns = static_cast<std::uint64_t>(config().linger_time.value * 1e3);
  const kernel::linger parameters{
      mailbox_, done_, gone_, first, depth, patience_ns, most_stays * patience_ns};
  auto s = memory::stream(where_, memory::stream_role::linger);
  broken_ = s ? where_.owner->launch(kernel::id::linger, &parameters, 1, threads, *s) : error_of(s);
  TELPHER_TRY(broken_);
  stream_ = *s;
  watch_.begin();
  running_ = true;
  first_ = first;
  return status::ok;
}

std::uint32_t lingering_copier::served() const noexcept {
  const std::uint32_t gone = running_ ? load(gone_) : 0;
  return gone == 0 ? depth : gone - first_;
}

result<std::uint32_t> lingering_copier::submit(void* to, const void* from, std::size_t bytes,
                                               bool near) noexcept {
  TELPHER_TRY(broken_);
  if (next_ >= last_sequence) return status::not_supported;
  TELPHER_TRY(prepare());
  const std::uint32_t sequence = next_;
  if (!reached(done() + depth - 1, sequence)) return status::would_block;
  kernel::write_command(mailbox_, depth, sequence, to, from, static_cast<std::uint32_t>(bytes),
                        near ? kernel::linger_command::near : 0);
  // A kernel that has left without it is launched here, not when somebody polls. One that leaves
  // later is found by poll(). Earlier commands may not have been seen either: from the first such.
  const std::uint32_t gone = running_ ? load(gone_) : sequence;
  if (gone != 0 && !reached(gone - 1, sequence)) TELPHER_TRY(launch(gone));
  ++next_;
  return sequence;
}

status lingering_copier::poll(std::uint32_t sequence) noexcept {
  if (reached(done(), sequence)) return status::ok;
  TELPHER_TRY(broken_);
  const std::uint32_t gone = load(gone_);
  if (gone == 0) return look_for_kernel(sequence);
  if (reached(gone - 1, sequence)) return status::ok;  // finished between the two loads
  TELPHER_TRY(launch(gone));
  return status::would_block;
}

// A kernel that has ended either left by the protocol or will never write again.
status lingering_copier::look_for_kernel(std::uint32_t sequence) noexcept {
  if (watch_.poll(where_, stream_) == status::would_block) return status::would_block;
  if (reached(done(), sequence)) return status::ok;
  if (load(gone_) != 0) return status::would_block;
  TELPHER_ERROR("the lingering copier ended without saying so: a device fault");
  running_ = false;
  return broken_ = status::device_error;
}

lingering_copier::~lingering_copier() {
  if (!running_ || device::any_was_reset()) return;
  // The kernel leaves by itself. Its mailbox must not be freed before.
  const std::uint64_t begin = now_ns();
  while (load(gone_) == 0 && us_since(begin) < 2e6) std::this_thread::yield();
  if (load(gone_) == 0) TELPHER_WARN("the lingering copier did not leave within 2 s");
}

}  // namespace telpher::path
