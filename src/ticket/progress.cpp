// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/progress.hpp"

#include "base/short_way.hpp"
#include "base/thread_use.hpp"
#include "host_mpi/error.hpp"
#include "path/rdma.hpp"
#include "path/unpack.hpp"

namespace telpher::ticket {
namespace {

// Where ranks share processors, a wait that goes on sleeps between polls. A yield does not do: the
// scheduler comes back to the one that yields before the rank that is waited for has got far.
constexpr pace shared_processors{never, 0, 200, 50'000};

}  // namespace

void progress_engine::start(bool threaded) noexcept {
  threaded_ = threaded;
  short_way::set(short_way::threads, threaded);
  several_threads.store(threaded, std::memory_order_relaxed);
}

tally progress_engine::outstanding() const noexcept {
  tally t;
  for (const worker* w = workers_.first(); w; w = linked_list<worker>::after(*w)) w->count(t);
  return t;
}

// An error handler of the program may be called from here, where the host MPI refuses a ticket or a
// collective's call, and may wait for messages in its turn: passes are nested. So a loop that has
// called what may call a handler ends when `passes_` has changed: what it was looking at may be
// gone, and the inner passes have looked at everything.
void progress_engine::poll(bool waiting) noexcept {
  if (idle()) return;
  const std::uint64_t mine = ++passes_;
  pass p{static_cast<std::uint32_t>(mine), waiting,
         naps_ && rested_.exchange(false, std::memory_order_relaxed)};
  // A rank that waits only for Telpher's messages never calls the host MPI. Then neither tickets
  // nor the program's host sends move. So we call it now and then.
  if (p.thorough()) listen();
  path::rdma::progress();
  for (worker* w = workers_.first(); w; w = linked_list<worker>::after(*w)) {
    w->find(p);
    if (passes_ != mine) return;
  }
  path::copier::flush_all(p.outlook);
  path::flush_unpacking();
  for (worker* w = workers_.first(); w;) {
    const bool stays = w->advance();
    if (passes_ != mine) return;
    worker* const next = linked_list<worker>::after(*w);
    if (!stays) workers_.erase(*w);
    w = next;
  }
}

void progress_engine::meet_node(const char* what) noexcept {
  const std::uint32_t meeting = peers_.arrive();
  wait_unlocked(what, [&] { return peers_.met(meeting); });
}

// Room for a message may come only when another one has left: those that need us are asked each
// time.
void progress_engine::detach(held_lock& held) noexcept {
  peers_.tidy_when_due();
  wait_until(held, "a call that may block", [&] {
    bool needed = false;
    for (worker* w = workers_.first(); w; w = linked_list<worker>::after(*w))
      needed |= !w->detach();
    return !needed;
  });
}

// --- waiting ---

void progress_engine::pass_unlocked(std::uint32_t polls) noexcept {
  auto held = lock();
  poll();
  if (polls % 64 == 63) listen();
}

bool progress_engine::waiter::pause(progress_engine& e) noexcept {
  if (polls() == 0 && trace::on()) traced_since_ns_ = now_ns();
  if (!e.naps_)
    telpher::pause(polls(), brisk);
  else if (telpher::pause(polls(), shared_processors))
    e.rested_.store(true, std::memory_order_relaxed);  // until a pass has seen it
  if (!clock_.read()) return false;
  if (const double limit = config().wait_timeout.value; limit > 0 && clock_.waited_us() > limit) {
    auto held = e.lock();
    e.give_up(what_, clock_.seconds());
  }
  return clock_.warning_due();
}

void progress_engine::report(const char* what, double seconds, log::level details) noexcept {
  const tally t = outstanding();
  TELPHER_WARN("%s has waited %.0f s; under way: %zu sends, %zu receives posted, %zu arriving",
               what, seconds, t.sends, t.posted, t.arriving);
  if (log::threshold.load(std::memory_order_relaxed) < details) return;
  for (const worker* w = workers_.first(); w; w = linked_list<worker>::after(*w))
    w->report(details);
}

void progress_engine::give_up(const char* what, double seconds) noexcept {
  TELPHER_ERROR(
      "%s has waited %.0f s for other ranks, longer than TELPHER_WAIT_TIMEOUT: the job ends; set a "
      "longer time, or 0 to wait for ever, if they do come",
      what, seconds);
  report(what, seconds, log::level::error);
  host_mpi::end_program();
}

}  // namespace telpher::ticket
