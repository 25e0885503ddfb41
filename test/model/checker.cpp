// SPDX-License-Identifier: BSD-3-Clause
#include "checker.hpp"

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_map>

#include "runtime.hpp"

namespace model {
namespace {

constexpr unsigned most_threads = 6;
constexpr std::size_t stack_bytes = 256 * 1024;
using stamps = std::array<std::uint32_t, most_threads>;

void join(stamps& into, const stamps& from) {
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

bool depend(const step& a, const step& b) {
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

class engine {
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

engine& the_engine() {
  static engine one;
  return one;
}

void engine::note(const std::string& text) {
  if (tracing_) trace_ += "  " + std::to_string(id(running_)) + " " + text + "\n";
}

void engine::fail(const std::string& why) {
  if (error_.empty()) error_ = why;
  if (running_ == nullptr) return;
  fiber* f = running_;
  running_ = nullptr;
  swapcontext(&f->context, &outside_);  // never comes back
}

// --- memory ---

std::uint64_t read_memory(const void* at, unsigned bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}

location& engine::location_of(const void* at, unsigned bytes) {
  const auto [found, is_new] = index_.try_emplace(at, locations_.size());
  if (is_new) {
    location l{at, bytes, "", {}, false, 0, 0, {}};
    auto named = names.upper_bound(at);
    if (named != names.begin()) {
      --named;
      const auto distance =
          static_cast<const std::byte*>(at) - static_cast<const std::byte*>(named->first);
      if (static_cast<std::size_t>(distance) < named->second.second) l.name = named->second.first;
    }
    if (const auto rule = rules.find(at); rule != rules.end()) l.rule = rule->second;
    l.stores.push_back({read_memory(at, bytes), 0, 0, nullptr});
    locations_.push_back(std::move(l));
  }
  location& l = locations_[found->second];
  if (l.plain_written) {
    l.plain_written = false;
    l.stores.push_back({read_memory(at, bytes), l.plain_by, l.plain_stamp, nullptr});
  }
  return l;
}

std::uint64_t engine::load(location& l, bool acquires) {
  knowledge& known = running_->known;
  const std::size_t index = index_of(l);
  const auto newest = static_cast<std::uint32_t>(l.stores.size() - 1);
  std::uint32_t oldest = known.floor_of(index);
  for (std::uint32_t i = newest; i > oldest; --i)
    if (l.stores[i].stamp <= known.clock[l.stores[i].by]) oldest = i;
  const std::uint32_t back = choose(newest - oldest + 1, true);
  const stored& from = l.stores[newest - back];
  known.floor_of(index) = newest - back;
  if (acquires && from.released && mutation_of(l) != mutation::load_relaxed)
    known.learn(*from.released);
  running_->note_read(index, newest - back);
  return from.value;
}

void engine::store(location& l, std::uint64_t value, bool releases, const stored* continued) {
  knowledge& known = running_->known;
  const unsigned me = id(running_);
  const std::uint64_t before = l.stores.back().value;
  if (l.rule && !l.rule(me, before, value))
    return fail(l.name + ": " + std::to_string(before) + " -> " + std::to_string(value) +
                " by thread " + std::to_string(me) + " is not allowed");
  known.floor_of(index_of(l)) = static_cast<std::uint32_t>(l.stores.size());
  std::shared_ptr<knowledge> released;
  const mutation m = mutation_of(l);
  const bool dropped = m == (continued ? mutation::swap_relaxed : mutation::store_relaxed);
  if (releases && !dropped) released = std::make_shared<knowledge>(known);
  if (continued && continued->released) {  // the release sequence goes on
    if (!released) released = std::make_shared<knowledge>();
    released->learn(*continued->released);
  }
  l.stores.push_back({value, me, known.clock[me], std::move(released)});
  std::memcpy(const_cast<void*>(l.at), &value, l.bytes);
  idle_jumps_ = 0;
}

std::uint64_t engine::access(const access_request& r) {
  busy_ = true;
  running_->next = {r.at, r.kind != access_kind::load, false};
  schedule();
  location* l = &location_of(r.at, r.bytes);
  const bool acquires = r.order != __ATOMIC_RELAXED && r.order != __ATOMIC_RELEASE;
  const bool releases = r.order == __ATOMIC_RELEASE || r.order >= __ATOMIC_ACQ_REL;
  std::uint64_t result = 0;
  if (r.kind == access_kind::load) {
    result = load(*l, acquires);
    note("load " + l->name + " = " + std::to_string(result));
  } else if (r.kind == access_kind::store) {
    note("store " + l->name + " = " + std::to_string(r.operand));
    store(*l, r.operand, releases, nullptr);
  } else {
    stored last = l->stores.back();
    result = last.value;
    running_->known.floor_of(index_of(*l)) = static_cast<std::uint32_t>(l->stores.size() - 1);
    const mutation m = mutation_of(*l);
    if (acquires && last.released && m != mutation::swap_relaxed)
      running_->known.learn(*last.released);
    running_->note_read(index_of(*l), static_cast<std::uint32_t>(l->stores.size() - 1));
    const auto next = r.change(result, r.operand, r.expected);
    note("swap " + l->name + " = " + std::to_string(result) +
         (next ? " -> " + std::to_string(*next) : " stays"));
    if (next && m == mutation::swap_split) {
      running_->next = {r.at, true, false};
      ++running_->known.clock[id(running_)];
      schedule();
      l = &location_of(r.at, r.bytes);
    }
    if (next) store(*l, *next, releases, &last);
  }
  ++running_->known.clock[id(running_)];
  busy_ = false;
  return result;
}

void engine::plain(const void* at, std::size_t bytes, bool writes) {
  const auto* byte = static_cast<const std::byte*>(at);
  if (byte >= running_->stack.get() && byte < running_->stack.get() + stack_bytes) return;
  const knowledge& known = running_->known;
  const unsigned me = id(running_);
  const auto first = reinterpret_cast<std::uintptr_t>(at) / 4;
  const auto last = (reinterpret_cast<std::uintptr_t>(at) + bytes - 1) / 4;
  for (auto granule = first; granule <= last; ++granule) {
    if (const auto atomic = index_.find(reinterpret_cast<const void*>(granule * 4));
        atomic != index_.end()) {
      location& l = locations_[atomic->second];
      if (writes) {
        l.plain_written = true;
        l.plain_by = me;
        l.plain_stamp = known.clock[me];
      }
      continue;
    }
    shadow& s = shadows_[granule];
    bool race = s.written > known.clock[s.writer] && s.writer != me;
    for (unsigned i = 0; writes && i < live_; ++i)
      race = race || (i != me && s.read[i] > known.clock[i]);
    if (race) {
      auto named = names.upper_bound(at);
      const std::string what =
          named != names.begin() ? (--named)->second.first : std::string("memory");
      return fail("a data race at or after " + what + ", thread " + std::to_string(me));
    }
    if (writes) {
      s.writer = me;
      s.written = known.clock[me];
    } else {
      s.read[me] = known.clock[me];
    }
  }
}

// --- choices ---

unsigned engine::choose(unsigned n, bool deviation) {
  if (deviation && !may_deviate()) n = 1;
  if (n <= 1) return 0;
  if (at_choice_ == choices_.size()) choices_.push_back({0, n});
  const unsigned taken = choices_[at_choice_++].taken;
  if (deviation && taken != 0) ++deviations_;
  return taken;
}

bool engine::next_schedule() {
  while (!choices_.empty() && choices_.back().taken + 1 >= choices_.back().count)
    choices_.pop_back();
  if (choices_.empty()) return false;
  ++choices_.back().taken;
  return true;
}

// --- threads ---

bool engine::can_wake(fiber& f) {
  if (f.late) return true;
  return std::any_of(f.polled.begin(), f.polled.end(), [&](const auto& read) {
    const location& there = locations_[read.first];
    const location& l = location_of(there.at, there.bytes);
    return read.second + 1 < l.stores.size();
  });
}

std::vector<fiber*> engine::awake() {
  std::vector<fiber*> all;
  const auto add = [&](fiber& f) {
    if (f.now == state::ready || (f.now == state::asleep && can_wake(f))) all.push_back(&f);
  };
  if (running_ && running_->now == state::ready) add(*running_);  // first: no deviation
  for (unsigned i = 0; i < live_; ++i)
    if (&fibers_[i] != running_ || running_->now != state::ready) add(fibers_[i]);
  return all;
}

fiber* engine::pick() {
  std::vector<fiber*> all = awake();
  if (all.empty()) {
    for (unsigned i = 0; i < live_; ++i) {
      if (fibers_[i].now != state::asleep || !fibers_[i].timed) continue;
      fibers_[i].late = true;
      all.push_back(&fibers_[i]);
    }
    if (all.empty() || ++idle_jumps_ > 12) {
      bool ended = true;
      for (unsigned i = 0; i < live_; ++i) ended = ended && fibers_[i].now == state::ended;
      if (!ended) error_ = "threads are stuck";
      if (!ended && tracing_)
        for (unsigned i = 0; i < live_; ++i)
          trace_ += "  " + std::to_string(i) + " is state " +
                    std::to_string(static_cast<int>(fibers_[i].now)) + "\n";
      return nullptr;
    }
    time_ += 1'000'000'000'000;
    asleep_set_ = 0;
  }
  if (how_.deviations != unlimited) {
    const bool free = running_ == nullptr || running_->now != state::ready;
    return all[choose(static_cast<unsigned>(all.size()), !free)];
  }
  // Sleep sets: after a choice was explored, its step sleeps in the choices that follow until a
  // step that depends on it.
  std::vector<fiber*> useful;
  for (fiber* f : all)
    if (!(asleep_set_ >> id(f) & 1)) useful.push_back(f);
  if (useful.empty()) {
    blocked_ = true;
    return nullptr;
  }
  const unsigned taken = choose(static_cast<unsigned>(useful.size()));
  for (unsigned i = 0; i < taken; ++i) asleep_set_ |= 1u << id(useful[i]);
  fiber* chosen = useful[taken];
  for (unsigned i = 0; i < live_; ++i)
    if ((asleep_set_ >> i & 1) && depend(fibers_[i].next, chosen->next)) asleep_set_ &= ~(1u << i);
  return chosen;
}

void engine::enter(fiber* f) {
  if (f->now == state::asleep) {
    f->now = state::ready;
    for (const auto& [where, last] : f->polled)
      f->known.floor_of(where) = static_cast<std::uint32_t>(locations_[where].stores.size() - 1);
    f->polled.clear();
    f->late = false;
  }
  running_ = f;
}

void engine::switch_to(fiber* next) {
  fiber* from = running_;
  if (next == nullptr) {
    running_ = nullptr;
    swapcontext(&from->context, &outside_);
  } else if (next != from) {
    enter(next);
    swapcontext(&from->context, &next->context);
  } else {
    enter(next);
  }
  busy_ = true;
}

void engine::schedule() {
  if (++steps_ > 200'000) return fail("a run without end");
  switch_to(pick());
}

void engine::yield() {
  busy_ = true;
  running_->now = state::asleep;
  running_->next = {nullptr, false, true};
  note("yields");
  schedule();
  busy_ = false;
}

std::uint64_t engine::look_at_clock() {
  busy_ = true;
  running_->timed = true;
  if (choose(2, true) == 1) time_ += 1'000'000'000'000;
  busy_ = false;
  return time_;
}

void engine::start() {
  engine& e = the_engine();
  e.busy_ = false;
  e.running_->body();
  e.busy_ = true;
  e.running_->now = state::ended;
  e.running_->next = {};
  e.note("ends");
  e.switch_to(e.pick());
}

void engine::run_once(const std::function<void(world&)>& make) {
  locations_.clear();
  index_.clear();
  shadows_.clear();
  names.clear();
  rules.clear();
  error_.clear();
  trace_.clear();
  at_choice_ = 0;
  deviations_ = asleep_set_ = idle_jumps_ = steps_ = 0;
  blocked_ = false;
  time_ = 1'000'000;
  world w;
  make(w);
  live_ = static_cast<unsigned>(w.bodies.size());
  if (fibers_.empty()) fibers_ = std::vector<fiber>(most_threads);
  for (unsigned i = 0; i < live_; ++i) {
    fiber& f = fibers_[i];
    f.body = w.bodies[i];
    f.now = state::ready;
    f.known = {};
    f.known.clock[i] = 1;
    f.next = {nullptr, false, true};
    f.polled.clear();
    f.timed = f.late = false;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = stack_bytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, &engine::start, 0);
  }
  running_ = nullptr;
  busy_ = true;
  if (fiber* first = pick()) {
    enter(first);
    swapcontext(&outside_, &first->context);
  }
  running_ = nullptr;
  if (error_.empty() && !blocked_)
    for (const auto& look : w.looks) look();
}

outcome engine::explore(const options& how, const std::function<void(world&)>& make) {
  how_ = how;
  choices_.clear();
  outcome o;
  do {
    ++o.runs;
    run_once(make);
    if (error_.empty()) continue;
    o.error = error_;
    tracing_ = true;
    run_once(make);
    o.trace = trace_;
    tracing_ = false;
    return o;
  } while (o.runs < how.most_runs && next_schedule());
  o.complete = choices_.empty();
  return o;
}

}  // namespace

const char* to_string(mutation m) noexcept {
  constexpr const char* names[] = {"none", "load relaxed", "store relaxed", "swap relaxed",
                                   "swap split"};
  return names[static_cast<int>(m)];
}

void world::name(const void* at, const char* text, std::size_t bytes) {
  the_engine().names[at] = {text, bytes};
}
void world::watch(const void* at, rule allowed) {
  the_engine().rules[at] = std::move(allowed);
}

outcome explore(const options& how, const std::function<void(world&)>& make) {
  return the_engine().explore(how, make);
}
unsigned choose(unsigned n) {
  return the_engine().choose(n);
}
void expect(bool good, const char* what) {
  if (!good) the_engine().fail(what);
}
void yield() {
  the_engine().yield();
}

// --- for runtime.cpp ---

bool in_model() noexcept {
  return the_engine().in_fiber();
}
std::uint64_t access(const access_request& r) {
  return the_engine().access(r);
}
void plain_access(const void* at, std::size_t bytes, bool writes) {
  the_engine().plain(at, bytes, writes);
}
std::uint64_t look_at_clock() {
  return the_engine().look_at_clock();
}

}  // namespace model
