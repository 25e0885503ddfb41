// SPDX-License-Identifier: BSD-3-Clause
#include "checker.hpp"

#include "explorer.hpp"

namespace model {

static explorer& the_explorer() {
  static explorer one;
  return one;
}

void explorer::note(const std::string& text) {
  if (tracing_) trace_ += "  " + std::to_string(id(running_)) + " " + text + "\n";
}

void explorer::fail(const std::string& why) {
  if (error_.empty()) error_ = why;
  if (running_ == nullptr) return;
  fiber* f = running_;
  running_ = nullptr;
  swapcontext(&f->context, &outside_);  // never comes back
}

// --- choices ---

unsigned explorer::choose(unsigned n, bool deviation) {
  if (deviation && !may_deviate()) n = 1;
  if (n <= 1) return 0;
  if (at_choice_ == choices_.size()) choices_.push_back({0, n});
  const unsigned taken = choices_[at_choice_++].taken;
  if (deviation && taken != 0) ++deviations_;
  return taken;
}

bool explorer::next_schedule() {
  while (!choices_.empty() && choices_.back().taken + 1 >= choices_.back().count)
    choices_.pop_back();
  if (choices_.empty()) return false;
  ++choices_.back().taken;
  return true;
}

// --- threads ---

bool explorer::can_wake(fiber& f) {
  if (f.late) return true;
  return std::any_of(f.polled.begin(), f.polled.end(), [&](const auto& read) {
    const location& there = locations_[read.first];
    const location& l = location_of(there.at, there.bytes);
    return read.second + 1 < l.stores.size();
  });
}

std::vector<fiber*> explorer::awake() {
  std::vector<fiber*> all;
  const auto add = [&](fiber& f) {
    if (f.now == state::ready || (f.now == state::asleep && can_wake(f))) all.push_back(&f);
  };
  if (running_ && running_->now == state::ready) add(*running_);  // first: no deviation
  for (unsigned i = 0; i < live_; ++i)
    if (&fibers_[i] != running_ || running_->now != state::ready) add(fibers_[i]);
  return all;
}

fiber* explorer::pick() {
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

void explorer::enter(fiber* f) {
  if (f->now == state::asleep) {
    f->now = state::ready;
    for (const auto& [where, last] : f->polled)
      f->known.floor_of(where) = static_cast<std::uint32_t>(locations_[where].stores.size() - 1);
    f->polled.clear();
    f->late = false;
  }
  running_ = f;
}

void explorer::switch_to(fiber* next) {
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

void explorer::schedule() {
  if (++steps_ > 200'000) return fail("a run without end");
  switch_to(pick());
}

void explorer::yield() {
  busy_ = true;
  running_->now = state::asleep;
  running_->next = {nullptr, false, true};
  note("yields");
  schedule();
  busy_ = false;
}

std::uint64_t explorer::look_at_clock() {
  busy_ = true;
  running_->timed = true;
  if (choose(2, true) == 1) time_ += 1'000'000'000'000;
  busy_ = false;
  return time_;
}

void explorer::start() {
  explorer& e = the_explorer();
  e.busy_ = false;
  e.running_->body();
  e.busy_ = true;
  e.running_->now = state::ended;
  e.running_->next = {};
  e.note("ends");
  e.switch_to(e.pick());
}

void explorer::run_once(const std::function<void(world&)>& make) {
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
    makecontext(&f.context, &explorer::start, 0);
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

outcome explorer::explore(const options& how, const std::function<void(world&)>& make) {
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

const char* to_string(mutation m) noexcept {
  constexpr const char* names[] = {"none", "load relaxed", "store relaxed", "swap relaxed",
                                   "swap split"};
  return names[static_cast<int>(m)];
}

void world::name(const void* at, const char* text, std::size_t bytes) {
  the_explorer().names[at] = {text, bytes};
}
void world::watch(const void* at, rule allowed) {
  the_explorer().rules[at] = std::move(allowed);
}

outcome explore(const options& how, const std::function<void(world&)>& make) {
  return the_explorer().explore(how, make);
}
unsigned choose(unsigned n) {
  return the_explorer().choose(n);
}
void expect(bool good, const char* what) {
  if (!good) the_explorer().fail(what);
}
void yield() {
  the_explorer().yield();
}

// --- for runtime.cpp ---

bool in_model() noexcept {
  return the_explorer().in_fiber();
}
std::uint64_t access(const access_request& r) {
  return the_explorer().access(r);
}
void plain_access(const void* at, std::size_t bytes, bool writes) {
  the_explorer().plain(at, bytes, writes);
}
std::uint64_t look_at_clock() {
  return the_explorer().look_at_clock();
}

}  // namespace model
