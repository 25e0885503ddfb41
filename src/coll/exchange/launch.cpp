// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "base/settings.hpp"

namespace telpher::coll::exchange {

struct lane_state {
  memory::place where;
  device::stream stream;
  memory::buffer words;     // pinned: done and paused, and far from them stop
  memory::buffer arrivals;  // device memory
  memory::buffer places;    // device memory, for each block
  kernel::exchange parameters;
  std::uint32_t number = 0;
  bool taken = false;

  std::uint32_t* done() const { return static_cast<std::uint32_t*>(words.data()); }
  std::uint32_t* paused() const { return done() + 1; }
  std::uint32_t* stop() const { return done() + 64; }
};

namespace {

constexpr std::size_t words_bytes = 1024;

std::mutex guard;
std::deque<lane_state>& lanes() {  // a deque: addresses stay
  static auto* one = new std::deque<lane_state>;
  return *one;
}

status prepare(lane_state& s) noexcept {
  auto words = memory::buffer::host(words_bytes, s.where.owner, true);
  TELPHER_TRY(words);
  auto arrivals = memory::buffer::device(s.where, sizeof(std::uint32_t));
  TELPHER_TRY(arrivals);
  auto places = memory::buffer::device(
      s.where, sizeof(kernel::exchange_place) * kernel::exchange::most_blocks);
  TELPHER_TRY(places);
  auto stream = s.where.owner->create_stream(s.where.device);
  TELPHER_TRY(stream);
  s.stream = *stream;
  s.words = std::move(*words);
  s.arrivals = std::move(*arrivals);
  s.places = std::move(*places);
  std::memset(s.words.data(), 0, words_bytes);
  return s.where.owner->fill(s.arrivals.data(), 0, sizeof(std::uint32_t), s.stream);
}

}  // namespace

lane::lane(lane&& o) noexcept : state_(std::exchange(o.state_, nullptr)) {}

lane& lane::operator=(lane&& o) noexcept {
  std::swap(state_, o.state_);
  return *this;
}

lane::~lane() {
  if (!state_) return;
  std::lock_guard lock(guard);
  state_->taken = false;
}

result<lane> lane::take(const memory::place& where) noexcept {
  std::lock_guard lock(guard);
  int of_device = 0;
  for (lane_state& s : lanes()) {
    if (!(s.where == where)) continue;
    ++of_device;
    if (s.taken) continue;
    s.taken = true;
    return lane(&s);
  }
  if (of_device == most_lanes) return status::would_block;
  lane_state fresh;
  fresh.where = where;
  TELPHER_TRY(prepare(fresh));
  fresh.taken = true;
  lanes().push_back(std::move(fresh));
  return lane(&lanes().back());
}

device::stream lane::stream() const noexcept {
  return state_->stream;
}

kernel::exchange& lane::parameters() const noexcept {
  return state_->parameters;
}

status run::start(lane& on, kernel::id k, const std::vector<std::uint64_t>& program,
                  int blocks) noexcept {
  lane_state& s = *on.state_;
  state_ = &s;
  kernel_ = k;
  blocks_ = blocks;
  kernel::exchange& p = s.parameters;
  p.code_words = static_cast<std::uint32_t>(program.size());
  p.long_code = nullptr;
  if (program.size() <= kernel::exchange::code_capacity) {
    std::copy(program.begin(), program.end(), p.code);
  } else {
    const std::size_t bytes = program.size() * sizeof(std::uint64_t);
    auto code = memory::buffer::host(bytes, s.where.owner, true);
    TELPHER_TRY(code);
    long_code_ = std::move(*code);
    std::memcpy(long_code_.data(), program.data(), bytes);
    p.long_code = static_cast<const std::uint64_t*>(long_code_.data());
  }
  p.done = s.done();
  p.paused = s.paused();
  p.stop = s.stop();
  p.arrivals = static_cast<std::uint32_t*>(s.arrivals.data());
  const bool may_pause = blocks <= static_cast<int>(kernel::exchange::most_blocks);
  p.places = may_pause ? static_cast<kernel::exchange_place*>(s.places.data()) : nullptr;
  p.patience_ns = static_cast<std::uint64_t>(config().coll_patience.value * 1e3);
  p.again = 0;
  return launch();
}

status run::launch() noexcept {
  lane_state& s = *state_;
  number_ = ++s.number == 0 ? ++s.number : s.number;
  s.parameters.done_value = number_;
  constexpr int threads = kernel::exchange_place::most_items;
  return s.where.owner->launch(kernel_, &s.parameters, blocks_, threads, s.stream);
}

status run::poll() noexcept {
  // Acquire pairs with the last block's system-scope release.
  if (std::atomic_ref(*state_->done()).load(std::memory_order_acquire) != number_)
    return status::would_block;
  if (*state_->paused() == 0 || stopped_) return status::ok;
  state_->parameters.again = 1;
  TELPHER_TRY(launch());
  return status::would_block;
}

void run::stop() noexcept {
  stopped_ = true;
  std::atomic_ref(*state_->stop()).store(number_, std::memory_order_release);
}

void release_lanes() noexcept {
  std::lock_guard lock(guard);
  for (lane_state& s : lanes()) s.where.owner->destroy_stream(s.stream);
  lanes().clear();
}

}  // namespace telpher::coll::exchange
