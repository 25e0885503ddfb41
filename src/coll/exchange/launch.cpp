// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/launch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/lasting.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "device/registry.hpp"
#include "kernel/exchange_stay.hpp"
#include "memory/streams.hpp"
#include "path/linger.hpp"

namespace telpher::coll::exchange {

struct context_state {
  memory::place where;
  memory::buffer words;     // pinned: the next command, done of all blocks, gone, stop
  memory::buffer arrivals;  // device memory
  memory::buffer places;    // device memory, for each block
  memory::buffer relay;     // device memory
  kernel::exchange parameters{};
  std::array<workspace, 2> spaces;  // by kind
  std::uint32_t number = 0;
  bool taken = false;
  bool for_all = false;  // launch_context::common

  int most_staying = 1;   // blocks of a kernel that stays
  kernel::id resident{};  // the kernel that may be there
  int resident_blocks = 0;
  std::array<std::uint64_t*, kernel::exchange::most_ranks> resident_flags{};
  std::uint64_t stays_since_ns = 0;  // its launch
  std::uint64_t residence = 0;       // the first command that it was to take; 0: none is there
  std::uint64_t next_number = 0;     // that it waits for
  std::uint32_t served = 0;          // calls
  path::burst calls;
  memory::own_stream stream, staying;  // `staying`: of kernels that stay

  static constexpr std::size_t done_at = sizeof(kernel::exchange_command);
  static constexpr std::size_t gone_at = done_at + run::most_blocks * sizeof(std::uint64_t);
  static constexpr std::size_t stop_at = gone_at + 128;  // another cache line
  static constexpr std::size_t words_bytes = stop_at + 128;
  std::byte* word(std::size_t at) const { return static_cast<std::byte*>(words.data()) + at; }
  kernel::exchange_command* next() const {
    return static_cast<kernel::exchange_command*>(words.data());
  }
  std::uint64_t* done() const { return reinterpret_cast<std::uint64_t*>(word(done_at)); }
  std::uint64_t* gone() const { return reinterpret_cast<std::uint64_t*>(word(gone_at)); }
  std::uint32_t* stop() const { return reinterpret_cast<std::uint32_t*>(word(stop_at)); }

  bool has_left() const {
    return std::atomic_ref(*gone()).load(std::memory_order_acquire) == residence;
  }
};

namespace {

std::mutex guard;
lasting<std::vector<std::unique_ptr<context_state>>> contexts;

status prepare(context_state& s) noexcept {
  constexpr std::size_t places = sizeof(kernel::exchange_place) * kernel::exchange::most_blocks;
  TELPHER_TRY(memory::buffer::for_kernels(context_state::words_bytes, s.where.owner).into(s.words));
  TELPHER_TRY(memory::buffer::device(s.where, sizeof(std::uint32_t)).into(s.arrivals));
  TELPHER_TRY(memory::buffer::device(s.where, places).into(s.places));
  TELPHER_TRY(memory::buffer::device(s.where, sizeof(kernel::exchange_command)).into(s.relay));
  TELPHER_TRY(memory::own_stream::make(s.where).into(s.stream));
  TELPHER_TRY(memory::own_stream::make(s.where).into(s.staying));
  std::memset(s.words.data(), 0, context_state::words_bytes);
  device::backend& owner = *s.where.owner;
  TELPHER_TRY(owner.fill(s.relay.data(), 0, sizeof(kernel::exchange_command), s.stream.get()));
  TELPHER_TRY(owner.fill(s.arrivals.data(), 0, sizeof(std::uint32_t), s.stream.get()));
  return owner.synchronise(s.stream.get());
}

// --- kernels that stay ---

/// Blocks that stay make no room for blocks of the same launch that have not begun. So all must fit
/// on the device beside our other kernels: at most half of it, and in one context only.
int most_staying(const memory::place& where) noexcept {
  device::device_properties about{};
  if (!where.owner->blocks_run_together(where.device) ||
      where.owner->properties(where.device, about) != status::ok)
    return 1;
  return std::max(1, about.processors / 2);
}

/// A device may run fewer streams side by side than there are. Then work waits behind the kernel.
/// So a kernel leaves after this time, even in a burst; one launch in so long costs little. The
/// lingering copier has the same bound (path/linger.cpp).
double longest_stay_us() noexcept {
  return 20 * config().linger_time.value;
}

/// How many calls the last kernel that stayed has served; more than one where it is still there.
std::uint32_t served(const context_state& s) noexcept {
  return s.residence != 0 && s.has_left() ? s.served : 2;
}

/// Tells the kernel that is there, if one is, to leave.
void dismiss(context_state& s) noexcept {
  if (s.residence == 0) return;
  const std::uint64_t leave[kernel::exchange_command::heading] = {};
  if (!s.has_left())
    kernel::write_command(*s.next(), s.next_number++, leave, kernel::exchange_command::heading);
  s.residence = 0;
}

}  // namespace

void launch_context::give_back::operator()(context_state* s) const noexcept {
  std::lock_guard lock(guard);
  s->taken = false;
}

result<launch_context> launch_context::take(const memory::place& where) noexcept {
  return take(where, most_contexts);
}

result<launch_context> launch_context::take_surely(const memory::place& where) noexcept {
  return take(where, std::numeric_limits<int>::max());
}

result<launch_context> launch_context::take(const memory::place& where, int most) noexcept {
  std::lock_guard lock(guard);
  int taken = 0;
  context_state* free = nullptr;
  for (const auto& s : *contexts) {
    if (!(s->where == where) || s->for_all) continue;
    if (s->taken)
      ++taken;
    else if (!free)
      free = s.get();  // the first one, whose kernel may stay
  }
  if (taken >= most) return status::would_block;
  if (free) {
    free->taken = true;
    return launch_context(free);
  }
  auto made = make(where, false);
  if (made && taken == 0) made->state_->most_staying = most_staying(where);
  return made;
}

result<launch_context> launch_context::common(const memory::place& where) noexcept {
  std::lock_guard lock(guard);
  for (const auto& s : *contexts)
    if (s->where == where && s->for_all) return launch_context(s.get());
  return make(where, true);
}

result<launch_context> launch_context::make(const memory::place& where, bool for_all) noexcept {
  context_state fresh;
  fresh.where = where;
  fresh.for_all = for_all;
  TELPHER_TRY(prepare(fresh));
  fresh.taken = true;
  try {
    contexts->push_back(std::make_unique<context_state>(std::move(fresh)));
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  return launch_context(contexts->back().get());
}

device::stream launch_context::stream() const noexcept {
  return state_->stream.get();
}

kernel::exchange& launch_context::parameters() const noexcept {
  return state_->parameters;
}

workspace& launch_context::space(workspace_kind kind) const noexcept {
  return state_->spaces[static_cast<std::size_t>(kind)];
}

status launch_context::make_space(workspace_kind kind) const noexcept {
  if (space(kind)) return status::ok;
  TELPHER_TRY(workspace::make(kind, state_->where).into(space(kind)));
  return status::ok;
}

void launch_context::abandon_workspaces() const noexcept {
  for (workspace& w : state_->spaces)
    if (w) w.abandon();
}

namespace {
std::atomic<std::uint64_t> last_number{0};
}

std::uint64_t call_number::least() noexcept {
  const std::uint64_t next = last_number.load(std::memory_order_relaxed) + 1;
  return packed(next) == 0 ? next + 1 : next;
}

void call_number::note(std::uint64_t number) noexcept {
  std::uint64_t seen = last_number.load(std::memory_order_relaxed);
  while (seen < number &&
         !last_number.compare_exchange_weak(seen, number, std::memory_order_relaxed)) {
  }
}

status place_program(kernel::exchange& p, const std::vector<std::uint64_t>& program,
                     device::backend* owner, memory::buffer& taken, void* memory) noexcept {
  p.long_code = nullptr;
  if (program.size() <= kernel::exchange::code_capacity) {
    std::copy(program.begin(), program.end(), p.code);
    return status::ok;
  }
  const std::size_t bytes = program.size() * sizeof(std::uint64_t);
  if (!memory) {
    TELPHER_TRY(memory::buffer::for_kernels(bytes, owner).into(taken));
    memory = taken.data();
  }
  std::memcpy(memory, program.data(), bytes);
  p.long_code = static_cast<const std::uint64_t*>(memory);
  return status::ok;
}

status run::start(launch_context& on, kernel::id k, const std::vector<std::uint64_t>& program,
                  int blocks, staying way, void* memory) noexcept {
  context_state& s = *on.state_;
  state_ = &s;
  kernel_ = k;
  blocks_ = blocks;
  kernel::exchange& p = s.parameters;
  p.code_words = static_cast<std::uint32_t>(program.size());
  TELPHER_TRY(place_program(p, program, s.where.owner, long_code_, memory));
  p.done = s.done();
  p.stop = s.stop();
  p.gone = s.gone();
  p.arrivals = static_cast<std::uint32_t*>(s.arrivals.data());
  const bool may_pause = blocks <= static_cast<int>(kernel::exchange::most_blocks);
  p.places = may_pause ? static_cast<kernel::exchange_place*>(s.places.data()) : nullptr;
  p.patience_ns = static_cast<std::uint64_t>(config().coll_patience.value * 1e3);
  p.stay_ns = static_cast<std::uint64_t>(config().linger_time.value * 1e3);
  p.again = 0;
  p.next = nullptr;
  const bool may_stay = way != staying::no && s.where.owner->kernels_may_wait(s.where.device) &&
                        program.size() <= kernel::exchange_command::code_capacity &&
                        blocks <= s.most_staying && s.calls.goes_on(s.where) &&
                        s.calls.pays(served(s));
  if (!may_stay) return launch();
  p.next = s.next();
  p.relay = static_cast<kernel::exchange_command*>(s.relay.data());
  if (taken_by_resident(way)) return status::ok;
  dismiss(s);
  return launch();
}

/// Gives the call to the kernel that is there, if it is one that can do it.
bool run::taken_by_resident(staying way) noexcept {
  context_state& s = *state_;
  const kernel::exchange& p = s.parameters;
  if (s.residence == 0 || s.resident != kernel_ || s.resident_blocks < blocks_ || s.has_left())
    return false;
  if (us_since(s.stays_since_ns) > longest_stay_us()) return false;
  if (way == staying::with_flags &&
      !std::equal(s.resident_flags.begin(), s.resident_flags.end(), p.flags))
    return false;
  next_number();
  std::uint64_t words[kernel::exchange_command::entries] = {
      std::uint64_t{p.packed_epoch} << 32 | p.code_words,
      static_cast<std::uint64_t>(blocks_) << 32 | number_, p.epoch};
  std::copy(p.code, p.code + p.code_words, words + kernel::exchange_command::heading);
  kernel::write_command(*s.next(), s.next_number++, words,
                        kernel::exchange_command::heading + p.code_words);
  ++s.served;
  return commanded_ = true;
}

void run::next_number() noexcept {
  context_state& s = *state_;
  number_ = ++s.number == 0 ? ++s.number : s.number;
  ended_ = 0;
  paused_ = false;
  watch_.begin();
}

status run::launch() noexcept {
  context_state& s = *state_;
  kernel::exchange& p = s.parameters;
  next_number();
  commanded_ = false;
  p.done_value = number_;
  if (p.next) {
    s.residence = 0;
    // No two kernels begin at the same command: in `gone` it says which kernel has left.
    p.first_command = ++s.next_number;
  }
  constexpr int threads = kernel::exchange_place::most_items;
  TELPHER_TRY(
      s.where.owner->launch(kernel_, &p, blocks_, threads, (p.next ? s.staying : s.stream).get()));
  if (p.next) {
    s.resident = kernel_;
    s.resident_blocks = blocks_;
    std::copy(std::begin(p.flags), std::end(p.flags), s.resident_flags.begin());
    s.residence = p.first_command;
    s.served = 1;
    s.stays_since_ns = now_ns();
  }
  return status::ok;
}

/// Looks at the blocks that had not ended yet; true when all have.
bool run::all_ended() noexcept {
  for (; ended_ < blocks_; ++ended_) {
    // Acquire pairs with the block's release, whose fence is of system scope.
    const std::uint64_t word =
        std::atomic_ref(state_->done()[ended_]).load(std::memory_order_acquire);
    if (static_cast<std::uint32_t>(word) != number_) return false;
    paused_ = paused_ || word == kernel::exchange::ended(number_, true);
  }
  return true;
}

/// Whether the kernel has ended without writing its words.
bool run::has_died() noexcept {
  context_state& s = *state_;
  const bool stays = s.parameters.next != nullptr;
  if (watch_.poll(s.where, (stays ? s.staying : s.stream).get()) == status::would_block)
    return false;
  if (all_ended() || (commanded_ && s.has_left())) return false;
  s.residence = 0;
  TELPHER_ERROR("the kernel of a collective ended without saying so: a device fault");
  return true;
}

status run::poll() noexcept {
  context_state& s = *state_;
  if (!all_ended()) {
    if (!commanded_ || !s.has_left() || all_ended())
      return has_died() ? status::device_error : status::would_block;
    TELPHER_TRY(launch());  // it left before it saw the command
    return status::would_block;
  }
  if (!paused_) return status::ok;
  dismiss(s);  // blocks that paused have left
  if (stopped_) return status::ok;
  s.parameters.again = 1;
  TELPHER_TRY(launch());
  return status::would_block;
}

void run::stop() noexcept {
  stopped_ = true;
  std::atomic_ref(*state_->stop()).store(number_, std::memory_order_release);
}

void release_contexts() noexcept {
  std::lock_guard lock(guard);
  for (const auto& context : *contexts) {
    if (device::any_was_reset()) break;
    context_state& s = *context;
    dismiss(s);
    // Its mailbox goes with the context.
    if (s.where.owner->synchronise(s.staying.get()) != status::ok)
      TELPHER_WARN("a kernel that stays could not be waited for");
  }
  contexts->clear();
}

}  // namespace telpher::coll::exchange
