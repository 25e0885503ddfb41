// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/stepped.hpp"

#include "kernel/exchange.hpp"

namespace telpher::coll::exchange {

status stepped::advance() noexcept {
  while (next_ < c_.what.steps.size()) {
    const step& s = c_.what.steps[next_];
    if (s.kind == step_kind::signal)
      TELPHER_TRY(signal(s.peer));
    else if (s.kind == step_kind::wait)
      TELPHER_TRY(wait(s.peer));
    else
      TELPHER_TRY(move(s));
    ++next_;
  }
  return settle();
}

/// What follows goes to the stream, in which the kernel that stays is not.
status stepped::begin_in_stream() noexcept {
  if (kernel_copies_) TELPHER_TRY(settle());
  dirty_ = true;
  recorded_ = false;
  return status::ok;
}

status stepped::copy(const step& s) noexcept {
  void* const to = reinterpret_cast<void*>(address_of(s.to, c_));
  const void* const from = reinterpret_cast<const void*>(address_of(s.sources[0], c_));
  const std::uint64_t bytes = s.to.count * c_.unit;
  if (!dirty_ && t_.small) {
    by_kernel_.to = to;
    by_kernel_.from = from;
    by_kernel_.bytes = bytes;
    by_kernel_.near = s.to.rank == c_.what.rank;
    if (path::copier::on(t_.where).start_by_linger(by_kernel_)) {
      kernel_copies_ = true;
      return status::ok;
    }
  }
  TELPHER_TRY(begin_in_stream());
  return t_.where.owner->copy(to, from, bytes, context_.stream());
}

status stepped::move(const step& s) noexcept {
  if (s.kind == step_kind::copy) return copy(s);
  if (s.kind != step_kind::reduce) return status::invalid_argument;
  TELPHER_TRY(begin_in_stream());
  // A program of one reduction: nothing in it waits.
  std::vector<std::uint64_t>& words = t_.chosen.program->words;
  TELPHER_TRY(compile(c_, {&s, 1}, words));
  run launched;
  constexpr std::uint64_t block_bytes = 64 * 1024;
  const std::uint64_t bytes = s.to.count * c_.unit;
  const int blocks = static_cast<int>(std::min<std::uint64_t>(bytes / block_bytes + 1, 64));
  return launched.start(context_, t_.reduce.body(), words, blocks);
}

status stepped::settle() noexcept {
  if (kernel_copies_) {
    TELPHER_TRY(path::copier::on(t_.where).poll(by_kernel_));  // they end in order
    kernel_copies_ = false;
  }
  if (!dirty_) return status::ok;
  if (!recorded_) {
    if (!event_) {
      TELPHER_TRY(memory::pooled_event::acquire(t_.where).into(event_));
    }
    TELPHER_TRY(event_.record(context_.stream()));
    recorded_ = true;
  }
  TELPHER_TRY(event_.query());
  dirty_ = false;
  return status::ok;
}

status stepped::signal(int peer) noexcept {
  TELPHER_TRY(settle());
  const auto p = static_cast<std::size_t>(peer);
  const std::uint64_t number = ++signals_[p];
  t_.step_flags_of[p]->from[static_cast<std::size_t>(c_.what.rank)].store(
      t_.number << 16 | number, std::memory_order_release);
  return status::ok;
}

status stepped::wait(int peer) noexcept {
  const auto p = static_cast<std::size_t>(peer);
  const auto& flag = t_.step_flags_of[static_cast<std::size_t>(c_.what.rank)]->from[p];
  awaited_ = peer;
  if (flag.load(std::memory_order_acquire) < (t_.number << 16 | (waits_[p] + 1)))
    return status::would_block;
  ++waits_[p];
  awaited_ = -1;
  return status::ok;
}

}  // namespace telpher::coll::exchange
