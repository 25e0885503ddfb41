// SPDX-License-Identifier: BSD-3-Clause
// A stateless model checker for the protocols in shared memory. A scenario has some threads, which
// are fibers here; explore() runs it again and again, each time by another schedule, until all are
// done. What is checked is the production code itself: its units are compiled with GCC's or Clang's
// -fsanitize=thread and linked with runtime.cpp in place of ThreadSanitizer's library, so that
// every atomic access is a step of the checker, and every other one is seen.
//
// What a run may choose:
//   - which thread does the next atomic access; switching from one that could go on is a deviation;
//   - which store a load reads, of those that C++'s memory model allows: any that is not older than
//     one that happens before the load, or than what was read before. Not the newest: a deviation;
//   - what choose() gives, and whether time passes at a look at the clock (a deviation).
// With `deviations` unlimited the search is exhaustive, and sleep sets leave out schedules that
// only exchange independent steps; else it is exhaustive up to so many deviations.
//
// A thread that yields has seen nothing new: it sleeps until a location that it has read since it
// yielded last is written, and reads the newest value then. So loops that wait end. When all sleep,
// time passes for those that look at the clock; when that does not help either, the run is stuck.
//
// What ends a run as a failure: expect(), a data race of plain accesses, threads that are stuck, a
// forbidden change of a watched location. Not modelled: fences, sequentially consistent order
// (taken for acquire and release), compare-and-swap that fails though it need not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace model {

/// A defect put into what the runtime does for a location.
enum class mutation : std::uint8_t {
  none,
  load_relaxed,   // loads do not acquire
  store_relaxed,  // stores do not release
  swap_relaxed,   // read-modify-writes order nothing
  swap_split,     // a read-modify-write is a load and a store
};
const char* to_string(mutation m) noexcept;

constexpr unsigned unlimited = ~0u;

struct options {
  unsigned deviations = unlimited;
  std::uint64_t most_runs = 400'000;
  mutation what = mutation::none;
  std::string where;  // the location's name
};

struct outcome {
  std::uint64_t runs = 0;
  std::string error;  // empty: none was found
  std::string trace;  // the steps of the run that failed
  bool complete = false;
};

/// A scenario as it is set up for each run.
class world {
 public:
  void thread(std::function<void()> body) { bodies.push_back(std::move(body)); }
  /// Looked at when all threads have ended.
  void finally(std::function<void()> look) { looks.push_back(std::move(look)); }
  /// What a location is called, in traces and by mutations; `bytes` of them from there on.
  void name(const void* at, const char* text, std::size_t bytes = 8);
  /// Whether a store of `next` over `before` by thread `who` is allowed.
  using rule = std::function<bool(unsigned who, std::uint64_t before, std::uint64_t next)>;
  void watch(const void* at, rule allowed);

  std::vector<std::function<void()>> bodies, looks;
};

outcome explore(const options& how, const std::function<void(world&)>& make);

// --- for scenarios ---

/// One of 0 … n - 1, each in some run.
unsigned choose(unsigned n);
void expect(bool good, const char* what);
/// This thread can do nothing until something that it has read changes.
void yield();

}  // namespace model
