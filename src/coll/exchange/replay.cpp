// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/replay.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "coll/exchange/launch.hpp"
#include "path/exported.hpp"

namespace telpher::coll::exchange {
namespace {

constexpr std::size_t line = 256;  // what parts of the room are aligned to
constexpr std::size_t stop_at = kernel::exchange::most_blocks * 2 * sizeof(std::uint64_t);
constexpr std::size_t flags_at = stop_at + line;
constexpr std::size_t space_at =
    flags_at + kernel::exchange::most_blocks * kernel::exchange::most_ranks * sizeof(std::uint64_t);
static_assert(stop_at % line == 0 && space_at % line == 0);

int blocks_of(const choice& c) noexcept {
  return std::min(c.blocks, static_cast<int>(kernel::exchange::most_blocks));
}

}  // namespace

bool kernel_replay::serves(const choice& c) noexcept {
  return c.plan && (is_packed(c.by) || c.by == transport::exchange);
}

// The same at all ranks.
std::uint64_t kernel_replay::half_bytes() const noexcept {
  const std::uint64_t elements = terms_.chosen.scratch;
  const std::uint64_t bytes =
      packed() ? packed_bytes(format(), elements, terms_.unit) : elements * terms_.unit;
  return (bytes + line - 1) / line * line;
}

result<std::unique_ptr<kernel_replay>> kernel_replay::make(terms&& t) noexcept {
  std::unique_ptr<kernel_replay> made(new (std::nothrow) kernel_replay(std::move(t)));
  if (!made) return status::out_of_memory;
  const int rank = made->terms_.rank;
  auto room = path::matched_room::make(made->terms_.where,
                                       space_at + (made->packed() ? 2 : 1) * made->half_bytes(),
                                       kernel::exchange::most_blocks);
  TELPHER_TRY(room);
  if (!(*room)->exported().exportable) return status::not_supported;
  made->room_ = std::move(*room);
  made->place_room(rank, made->room_->base());
  return made;
}

kernel_replay::~kernel_replay() {
  if (terms_.gone) terms_.gone();
}

void kernel_replay::place_room(int rank, std::byte* base) noexcept {
  spaces& s = map_[static_cast<std::size_t>(rank)];
  s.scratch = s.inbox = reinterpret_cast<std::uintptr_t>(base + space_at);
  parameters_.flags[rank] = reinterpret_cast<std::uint64_t*>(base + flags_at);
}

/// Maps it; the answer is its address here.
result<std::byte*> kernel_replay::open(int process, const path::exported_memory& there) noexcept {
  auto opened = path::open_for(process, there, where());
  TELPHER_TRY(opened);
  try {
    opened_.push_back(std::move(opened->mapping));
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  return opened->data;
}

status kernel_replay::open_room(int rank, int process,
                                const path::exported_memory& there) noexcept {
  const auto at = open(process, there);
  TELPHER_TRY(at);
  place_room(rank, *at);
  return status::ok;
}

status kernel_replay::open_buffers(int rank, int process, const path::exported_memory* input,
                                   const path::exported_memory* output) noexcept {
  spaces& s = map_[static_cast<std::size_t>(rank)];
  const auto place = [&](const path::exported_memory* there, std::uint64_t& at) {
    if (!there || at != 0) return status::ok;
    const auto opened = open(process, *there);
    if (opened) at = reinterpret_cast<std::uintptr_t>(*opened);
    return opened.error();
  };
  TELPHER_TRY(place(input, s.input));
  return place(output, s.output);
}

void kernel_replay::own_buffers(const void* input, void* output) noexcept {
  spaces& s = map_[static_cast<std::size_t>(terms_.rank)];
  s.input = reinterpret_cast<std::uintptr_t>(input);
  s.output = reinterpret_cast<std::uintptr_t>(output);
}

meeting kernel_replay::begins() const noexcept {
  return !packed() ? meeting::of_all : terms_.all_depend ? meeting::none : meeting::of_call_before;
}

status kernel_replay::compile_programs() noexcept {
  const compilation c{*terms_.chosen.plan, map_, terms_.unit, packed(), begins(), format()};
  TELPHER_TRY(exchange::compile(c, words_));
  parameters_.code_words = static_cast<std::uint32_t>(words_.size());
  parameters_.programs = 1;
  parameters_.format = format();
  if (packed()) {
    const auto move_by = [&](std::uint64_t bytes) {
      for (spaces& s : map_)
        if (s.inbox) s.inbox += bytes;
    };
    move_by(half_bytes());
    const status other = exchange::compile(c, other_words_);
    move_by(-half_bytes());
    TELPHER_TRY(other);
    parameters_.programs = 2;
    try {
      words_.insert(words_.end(), other_words_.begin(), other_words_.end());
    } catch (const std::bad_alloc&) {
      return status::out_of_memory;
    }
  }
  // A launch must not change what the one before it still reads.
  if (terms_.gone && words_.size() > kernel::exchange::code_capacity) return status::not_supported;
  return place_program(parameters_, words_, where().owner, long_code_);
}

status kernel_replay::compile() noexcept {
  TELPHER_TRY(compile_programs());
  std::byte* const base = room_->base();
  parameters_.me = static_cast<std::uint32_t>(terms_.rank);
  parameters_.calls = reinterpret_cast<std::uint64_t*>(base);
  parameters_.stop = reinterpret_cast<const std::uint32_t*>(base + stop_at);
  first_waiter_ = room_->take_waiters(kernel::exchange::most_blocks);
  parameters_.done = room_->ended(first_waiter_);
  parameters_.done_value = 1;
  parameters_.patience_ns = ~std::uint64_t{0};
  return status::ok;
}

status kernel_replay::start(device::stream s, starter by) noexcept {
  const bool captured = by == starter::graph;
  parameters_.of_graph = by != starter::stream;
  const int blocks = blocks_of(terms_.chosen);
  const auto waiters = static_cast<std::size_t>(blocks);
  if (packs_) TELPHER_TRY(packs_->pack(s));
  if (captured)
    room_->captured();
  else
    room_->launches(first_waiter_, waiters);
  const status done =
      where().owner->launch(terms_.reduce.body(), &parameters_, blocks, terms_.chosen.threads, s);
  if (failed(done) && !captured) room_->takes_back(first_waiter_, waiters);
  if (done == status::ok && !captured) path::count(kind_of(terms_.chosen.by), terms_.volume);
  return failed(done) || !packs_ ? done : packs_->unpack(s);
}

status kernel_replay::start_on(const void* input, void* output, device::stream s,
                               starter by) noexcept {
  const spaces& own = map_[static_cast<std::size_t>(terms_.rank)];
  if (own.input != reinterpret_cast<std::uintptr_t>(input) ||
      own.output != reinterpret_cast<std::uintptr_t>(output)) {
    own_buffers(input, output);
    TELPHER_TRY(compile_programs());
  }
  return start(s, by);
}

std::uint32_t kernel_replay::ended() const noexcept {
  const auto of_block = [this](int b) {
    const std::atomic_ref word(*room_->ended(first_waiter_ + static_cast<std::size_t>(b)));
    const std::uint64_t calls = word.load(std::memory_order_acquire);
    return static_cast<std::uint32_t>(calls - (calls >> 32));
  };
  std::uint32_t least = of_block(0);
  for (int b = 1; b < blocks_of(terms_.chosen); ++b)
    if (const std::uint32_t n = of_block(b); static_cast<std::int32_t>(n - least) < 0) least = n;
  return least;
}

}  // namespace telpher::coll::exchange
