// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

namespace telpher::coll::exchange {

struct lane_state {
  memory::place where;
  device::stream stream;
  memory::buffer words;     // pinned: done, and far from it stop
  memory::buffer arrivals;  // device memory
  std::uint32_t number = 0;
  bool taken = false;

  std::uint32_t* done() const { return static_cast<std::uint32_t*>(words.data()); }
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
  auto stream = s.where.owner->create_stream(s.where.device);
  TELPHER_TRY(stream);
  s.stream = *stream;
  s.words = std::move(*words);
  s.arrivals = std::move(*arrivals);
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

status run::start(lane& on, kernel::id k, kernel::exchange& p,
                  const std::vector<std::uint64_t>& program, int blocks) noexcept {
  lane_state& s = *on.state_;
  state_ = &s;
  number_ = ++s.number == 0 ? ++s.number : s.number;
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
  p.done_value = number_;
  p.done = s.done();
  p.stop = s.stop();
  p.arrivals = static_cast<std::uint32_t*>(s.arrivals.data());
  constexpr int threads = 512;
  return s.where.owner->launch(k, &p, blocks, threads, s.stream);
}

bool run::done() const noexcept {
  // Acquire pairs with the last block's system-scope release.
  return std::atomic_ref(*state_->done()).load(std::memory_order_acquire) == number_;
}

void run::stop() noexcept {
  std::atomic_ref(*state_->stop()).store(number_, std::memory_order_release);
}

void release_lanes() noexcept {
  std::lock_guard lock(guard);
  for (lane_state& s : lanes()) s.where.owner->destroy_stream(s.stream);
  lanes().clear();
}

}  // namespace telpher::coll::exchange
