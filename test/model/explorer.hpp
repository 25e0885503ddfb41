// SPDX-License-Identifier: BSD-3-Clause
// The explorer behind checker.hpp: fibers, what each knows of the others, the memory that they
// share, and the choices of the running schedule.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <unordered_map>

#include "checker.hpp"
#include "runtime.hpp"

namespace model {

constexpr unsigned most_threads = 6;
constexpr std::size_t stack_bytes = 256 * 1024;
using stamps = std::array<std::uint32_t, most_threads>;

inline void join(stamps& into, const stamps& from) {
  for (unsigned i = 0; i < most_threads; ++i) into[i] = std::max(into[i], from[i]);
}

/// What a thread knows: when each of the others did what it has heard of, and the oldest store of
/// each location that it may still read.
struct knowledge {
  stamps clock{};
  std::vector<std::uint32_t> floor;

  void learn(const knowledge& other) {
    join(clock, other.clock);
    if (floor.size() < other.floor.size()) floor.resize(other.floor.size());
    for (std::size_t i = 0; i < other.floor.size(); ++i)
      floor[i] = std::max(floor[i], other.floor[i]);
  }
  std::uint32_t& floor_of(std::size_t location) {
    if (floor.size() <= location) floor.resize(location + 1);
    return floor[location];
  }
};

struct stored {
  std::uint64_t value;
  unsigned by;
  std::uint32_t stamp;
  std::shared_ptr<const knowledge> released;  // null: relaxed
};

struct location {
  const void* at;
  unsigned bytes;
  std::string name;
  std::vector<stored> stores;
  bool plain_written = false;  // since the last atomic access
  unsigned plain_by = 0;
  std::uint32_t plain_stamp = 0;
  world::rule rule;
};

struct shadow {
  unsigned writer = 0;
  std::uint32_t written = 0;  // 0: never
  stamps read{};
};

struct step {
  const void* at = nullptr;  // null: nothing that depends on others
  bool writes = false;
  bool woken = false;  // depends on everything
};

inline bool depend(const step& a, const step& b) {
  if (a.woken || b.woken) return true;
  return a.at != nullptr && a.at == b.at && (a.writes || b.writes);
}

enum class state : std::uint8_t { ready, asleep, ended };

struct fiber {
  ucontext_t context{};
  std::unique_ptr<std::byte[]> stack{new std::byte[stack_bytes]};
  std::function<void()> body;
  state now = state::ready;
  knowledge known;
  step next;
  /// Locations read since the last yield, and which store was read there.
  std::vector<std::pair<std::size_t, std::uint32_t>> polled;
  bool timed = false;  // has looked at the clock
  bool late = false;   // woken because time has passed

  void note_read(std::size_t location, std::uint32_t store) {
    for (auto& [where, last] : polled)
      if (where == location) return void(last = store);
    polled.emplace_back(location, store);
  }
};

/// A choice of the running schedule. For a choice of thread: which ones, and what was asleep.
struct choice {
  unsigned taken = 0;
  unsigned count = 1;
};

class explorer {
 public:
  outcome explore(const options& how, const std::function<void(world&)>& make);

  // --- by fibers ---
  std::uint64_t access(const access_request& request);
  void plain(const void* at, std::size_t bytes, bool writes);
  void yield();
  unsigned choose(unsigned n, bool deviation = false);
  std::uint64_t look_at_clock();
  void fail(const std::string& why);
  bool in_fiber() const { return running_ != nullptr && !busy_; }

  std::map<const void*, std::pair<std::string, std::size_t>> names;
  std::map<const void*, world::rule> rules;

 private:
  void run_once(const std::function<void(world&)>& make);
  bool next_schedule();
  void schedule();  // from the running fiber: gives way to the one that is chosen
  void switch_to(fiber* next);
  fiber* pick();
  std::vector<fiber*> awake();
  bool can_wake(fiber& f);
  void enter(fiber* f);
  static void start();
  location& location_of(const void* at, unsigned bytes);
  std::size_t index_of(const location& l) const {
    return static_cast<std::size_t>(&l - locations_.data());
  }
  std::uint64_t load(location& l, bool acquires);
  void store(location& l, std::uint64_t value, bool releases, const stored* continued);
  mutation mutation_of(const location& l) const {
    return l.name == how_.where ? how_.what : mutation::none;
  }
  bool may_deviate() const { return how_.deviations == unlimited || deviations_ < how_.deviations; }
  unsigned id(const fiber* f) const { return static_cast<unsigned>(f - fibers_.data()); }
  void note(const std::string& text);

  options how_;
  std::vector<fiber> fibers_;
  unsigned live_ = 0;  // of fibers_
  std::vector<location> locations_;
  std::unordered_map<const void*, std::size_t> index_;
  std::unordered_map<std::uintptr_t, shadow> shadows_;
  std::vector<choice> choices_;
  std::size_t at_choice_ = 0;
  unsigned deviations_ = 0;
  unsigned asleep_set_ = 0;  // fibers whose next step needs no exploring here
  bool blocked_ = false;     // this run only repeats others
  fiber* running_ = nullptr;
  ucontext_t outside_{};
  bool busy_ = false;
  std::uint64_t time_ = 1'000'000;
  unsigned idle_jumps_ = 0, steps_ = 0;
  std::string error_;
  std::string trace_;
  bool tracing_ = false;
};

}  // namespace model
