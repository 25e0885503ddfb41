// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/kernel_runner.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <new>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/exchange/program.hpp"

namespace telpher::coll::between {
namespace {

constexpr std::size_t most_ranks = kernel::exchange::most_ranks;

std::uint64_t address(const void* p) noexcept {
  return reinterpret_cast<std::uintptr_t>(p);
}

}  // namespace

kernel_runner::kernel_runner(room& r, call&& c, status mine) noexcept
    : running(r, std::move(c), {}, mine), number_(r.next_kernel_call()) {
  keep(take_means());
}

/// Kernels use the places of messages.
status kernel_runner::take_means() noexcept {
  TELPHER_TRY(exchange::launch_context::take_surely(room_.where).into(context_));
  const std::pair<memory::buffer*, std::uint64_t> wanted[] = {{&leaving_, plan().leaving},
                                                              {&coming_, plan().coming}};
  for (const auto& [place, elements] : wanted) {
    if (elements == 0) continue;
    TELPHER_TRY(memory::buffer::for_kernels(elements * call_.unit, room_.where.owner).into(*place));
    place->filled();
  }
  return status::ok;
}

std::byte* kernel_runner::place_of(const kernel_plan::message& m) const noexcept {
  auto* const first = static_cast<std::byte*>((m.leaves ? leaving_ : coming_).data());
  return first ? first + m.at * call_.unit : nullptr;
}

// --- the kernel ---

/// Enough work items to have as many bytes on the bus as it holds, and equal at all ranks.
int kernel_runner::blocks() const noexcept {
  constexpr std::uint64_t most = 16, share = 8192;
  if (config().coll_blocks > 0) return static_cast<int>(config().coll_blocks);
  if (!room_.where.owner->blocks_run_together(room_.where.device)) return 1;
  return static_cast<int>(std::clamp<std::uint64_t>(call_.bytes / share, 1, most));
}

status kernel_runner::launch() {
  const std::size_t host = room_.node().size();
  exchange::space_map map{};
  kernel::exchange& p = context_.parameters();
  for (std::size_t i = 0; i < host; ++i) {
    map[i].scratch = address(room_.scratch_of(room_.node()[i], false));
    p.flags[i] = room_.kernel_flags_of(i);
  }
  map[room_.own_place()].input = address(call_.input.at);
  map[room_.own_place()].output = address(call_.output.at);
  map[host].scratch = address(leaving_.data());
  map[host].input = address(coming_.data());
  p.flags[host] = room_.host_flags();
  p.me = static_cast<std::uint32_t>(room_.own_place());
  p.epoch = number_;
  p.packed_epoch = 0;
  std::vector<std::uint64_t> program;
  const exchange::compilation c{
      .what = plan().steps, .map = map, .unit = call_.unit, .host = static_cast<int>(host)};
  TELPHER_TRY(compile(c, program));
  blocks_ = blocks();
  TELPHER_TRY(run_.start(context_, call_.by.body(), program, blocks_));
  runs_ = true;
  return status::ok;
}

/// True when it has ended.
bool kernel_runner::look_at_kernel() noexcept {
  if (!runs_) return false;
  const status s = run_.poll();
  if (s == status::would_block) return false;
  runs_ = false;
  keep(s);
  return true;
}

bool kernel_runner::look_at_signals() noexcept {
  std::uint64_t least = ~std::uint64_t{0};
  for (int b = 0; b < blocks_; ++b) {
    std::uint64_t& flag =
        room_.host_flags()[static_cast<std::size_t>(b) * most_ranks + room_.own_place()];
    const std::uint64_t word = std::atomic_ref(flag).load(std::memory_order_acquire);
    least = std::min(least, word >> 16 == number_ ? word & 0xffff : 0);
  }
  if (blocks_ == 0 || least == signalled_) return false;
  signalled_ = least;
  return true;
}

// --- messages ---

/// The host MPI gets all places of messages that will come.
void kernel_runner::expect() {
  for (; expected_ < plan().messages.size(); ++expected_)
    if (const auto& m = plan().messages[expected_]; !m.leaves)
      messages_.expect(m.peer, m.count * call_.unit, place_of(m));
}

status kernel_runner::take(const kernel_plan::message& m) {
  std::byte* const place = place_of(m);
  if (m.leaves) {
    messages_.send(m.peer, place ? place : room_.unwanted(), m.count * call_.unit, m.after);
    return status::ok;
  }
  if (signalled_ < m.after && !failing()) return status::would_block;
  TELPHER_TRY(messages_.receive(place, true));
  begun_ = true;
  if (failing()) return status::ok;
  const std::size_t host = room_.node().size();
  std::atomic_ref(room_.host_flags()[host])
      .store(number_ << 16 | ++come_, std::memory_order_release);
  return status::ok;
}

// --- the walk ---

/// Goes on as far as possible. would_block: something is awaited.
status kernel_runner::walk() {
  expect();
  TELPHER_TRY(pack());
  if (!launched_ && !failing()) {
    keep(launch());
    launched_ = true;
  }
  for (; next_ < plan().messages.size(); ++next_) TELPHER_TRY(take(plan().messages[next_]));
  if (runs_) return status::would_block;
  return unpack();
}

void kernel_runner::tell_whether_over() noexcept {
  if (!runs_ && (launched_ || failing()) && !std::exchange(told_over_, true))
    room_.tell_kernel_is_over(number_);
}

/// A rank of the node that has failed may never signal.
bool kernel_runner::move() {
  bool moved = look_at_kernel();
  tell_whether_over();
  if (lost_) return moved;
  begun_ = begun_ || room_.is_begun(number_);
  moved = look_at_signals() || moved;
  if (runs_ && !failing() && room_.has_failed(number_)) keep(status::peer_lost);
  walked_ = walk() == status::ok;
  tell_whether_over();
  return messages_.advance(signalled_) || moved;
}

void kernel_runner::tell_failure() noexcept {
  if (std::exchange(told_, true)) return;
  room_.tell_failure(number_);
  if (runs_) run_.stop();
}

bool kernel_runner::at_end() const noexcept {
  if (runs_) return false;
  if (lost_) return true;
  return walked_ && messages_.idle() && (!failing() || room_.kernels_are_over(number_));
}

void kernel_runner::abandon() noexcept {
  new memory::buffer(std::move(leaving_));
  new memory::buffer(std::move(coming_));
}

void kernel_runner::describe(char* text, std::size_t size) const noexcept {
  if (next_ < plan().messages.size() || !runs_)
    std::snprintf(text, size, "message %zu of %zu, until a message of rank %d has come or gone",
                  next_, plan().messages.size(), messages_.awaited());
  else
    std::snprintf(text, size, "until the kernels of the node's ranks have ended");
}

}  // namespace telpher::coll::between
