// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/engine.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "base/log.hpp"
#include "base/thread_use.hpp"
#include "device/registry.hpp"
#include "host_mpi/received.hpp"
#include "path/direct.hpp"
#include "path/puller.hpp"

namespace telpher::ticket {
namespace {

constexpr std::uint32_t look_at_all_every = 16;  // polls between two looks at everything
// Polls between two looks at posted receives whatever the bells say. A multiple of the former.
constexpr std::uint32_t look_anyway_every = 16384;
// Posted receives found waiting before a scan stops: asking for one makes the host MPI progress,
// once a pass is enough.
constexpr std::size_t quiet_in_a_row = 1;
// Looks at everything for one ring: a bell may overtake its ticket.
constexpr std::uint32_t scans_for_a_bell = 3;
// Copies that may end in any order: the lanes of the copy engine, and of the kernels.
constexpr std::size_t copies_side_by_side = 2;
// Posted receives looked at beside when nothing says that one of them has a ticket.
constexpr std::size_t window = 64;

// Polls of a wait without a pause between them: a pause takes as long as a poll.
constexpr std::uint32_t brisk_polls = 64;

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// --- life ---

status engine::start(bool threaded) noexcept {
  threaded_ = threaded;
  several_threads.store(threaded, std::memory_order_relaxed);
  if (config().enable) device::discover();
  TELPHER_TRY(
      host_mpi::join(!device::backends().empty(), config().enable, &path::segment_bytes, job_));
  if (!job_.any_device) return status::ok;
  bell_.start(job_);
  own_ = path::own_segment(job_.own.data());
  path::neighbours::write_cpus(own_.header());
  meet_node();  // every segment is laid out
  peers_.resize(static_cast<std::size_t>(job_.size));
  std::vector<const path::segment_header*> all, others;
  for (int r : job_.node) {
    if (r != job_.rank) peers_[static_cast<std::size_t>(r)] = path::segment(job_.segment(r));
    peer(r).take_doorbell();
    all.push_back(&peer(r).header());
    if (r != job_.rank) others.push_back(all.back());
  }
  crowded_ = path::neighbours::crowded(all);
  neighbours_ = std::make_unique<path::neighbours>(own_.header(), std::move(others));
  path::set_neighbours(neighbours_.get());
  takes_.assign(static_cast<std::size_t>(job_.size), taking::unknown);
  answered_ns_.assign(static_cast<std::size_t>(job_.size), 0);
  path::rdma::start(job_.control, job_.size);
  path::direct::start(job_.control);
  small_tickets_ = job_.all_devices && config().small_tickets;
  all_ring_here_ = job_.node.size() == static_cast<std::size_t>(job_.size) &&
                   !path::between_nodes(path::forced());
  path::burst::permit(!crowded_ && !device::find(device::vendor::emu));
  return status::ok;
}

void engine::stop() noexcept {
  if (!job_.any_device) return;
  auto held = lock();
  if (!posted_.empty())
    TELPHER_WARN("%zu receives are still posted at MPI_Finalize", posted_.size());
  posted_.clear();
  bell_.stop();
  path::rdma::stop();
  path::puller::shut_down();
  datatype::shut_down();
  path::set_neighbours(nullptr);
  neighbours_.reset();
  for (path::segment& s : peers_) s.release_pins();
  own_.release_pins();
  memory::shut_down();
  peers_.clear();
  own_ = path::own_segment();
  host_mpi::leave(job_);
}

// Segments may not be laid out yet: of the others' only the header's counter is read, which is zero
// from the start.
void engine::meet_node() noexcept {
  const auto met_of = [this](int rank) -> std::atomic<std::uint32_t>& {
    return reinterpret_cast<path::segment_header*>(job_.segment(rank))->met;
  };
  const std::uint32_t round = met_of(job_.rank).fetch_add(1, std::memory_order_release) + 1;
  const auto is_late = [&](int rank) {
    return static_cast<std::int32_t>(met_of(rank).load(std::memory_order_acquire) - round) < 0;
  };
  while (std::any_of(job_.node.begin(), job_.node.end(), is_late)) {
    {
      auto held = lock();
      progress();
      listen();
    }
    sched_yield();
  }
}

int engine::next_reply_tag() noexcept {
  const int span =
      (std::min(job_.tag_limit, 1 << 24) - 2) / 2;  // the two last ones have other uses
  reply_tag_ = (reply_tag_ + 1) % span;
  return 2 * reply_tag_;
}

// --- progress ---

// An error handler of the program may be called from here, where the host MPI refuses an offer's
// ticket or a worker's call, and may wait for messages in its turn: passes are nested. So a loop
// that has called what may call a handler ends when `passes_` has changed: what it was looking at
// may be gone, and the inner passes have looked at everything. An offer that is being advanced
// stays, and is left alone.
void engine::progress(bool waiting) noexcept {
  if (idle()) return;
  ++passes_;
  ++polls_;
  // What waits for our own messages alone never calls the host MPI, which then moves nothing:
  // neither the tickets that have not left nor the program's sends of host memory.
  if (polls_ % look_at_all_every == 0) listen();
  path::rdma::progress();
  advance_offers();
  const bool coming = scan();
  path::puller::flush_all({.others = posted_.size() + arriving() > 1,
                           .more = !posted_.empty(),
                           .coming = coming && waiting});
  advance_moving();
  advance_workers();
}

void engine::listen() noexcept {
  if (bell_.listen()) full_scans_ = scans_for_a_bell;
}

// The receivers' bell says when to look at the offers, and how many of them have an answer: mostly
// the oldest, so the look ends when those are found. Without the bell they are looked at when the
// oldest one's patience has run out by the clock. Should an answer ever be missed in the count,
// that look finds it.
void engine::advance_offers() noexcept {
  if (offers_.empty()) return;
  const std::uint64_t answers = own_.header().answers.load(std::memory_order_acquire);
  std::uint64_t expected = answers - last_answers_;
  const bool now_and_then = polls_ % look_at_all_every == 0;
  if (expected == 0 && !busy_offers_ && !now_and_then) return;
  const std::uint64_t now = now_ns();
  const bool all = busy_offers_ || (now_and_then && patience_is_over(now));
  if (expected == 0 && !all) return;
  if (expected != 0) last_answer_ns_ = now;
  last_answers_ = answers;
  const std::uint64_t pass = passes_;
  bool busy = false;
  for (offer* o = offers_.first(); o && (all || expected > 0);) {
    const bool visit = !o->visited;
    if (visit) {
      o->visited = true;
      if (o->advance(now)) --expected;
      o->visited = false;
    }
    busy |= o->busy();
    offer* const next = linked_list<offer>::after(*o);  // now: an error handler may have sent
    if (visit && o->retired()) drop(*o);
    if (passes_ != pass) return static_cast<void>(busy_offers_ = true);
    o = next;
  }
  busy_offers_ = busy;
}

bool engine::patience_is_over(std::uint64_t now) const noexcept {
  const auto patience = static_cast<std::uint64_t>(config().eager_patience.value * 1e3);
  return now >= std::max(offers_.first()->since_ns(now), last_answer_ns_) + patience;
}

void engine::add(std::unique_ptr<offer> o) noexcept {
  busy_offers_ |= o->busy();
  offers_.push_back(*o.release());
}

// Of a retired offer: it is no longer under way, and lives on only for who holds it.
void engine::drop(offer& o) noexcept {
  offers_.erase(o);
  if (!o.held) delete &o;
}

void engine::release(offer& o) noexcept {
  o.held = false;
  if (o.retired() && !o.visited) drop(o);
}

void engine::hasten(offer& o) noexcept {
  o.hasten();
  busy_offers_ = true;
}

// Posted receives complete mostly in the order in which they were posted, so a scan starts at the
// oldest and stops after a few that wait. Order is not a promise: every so often all are looked at
// if a bell says that some have tickets, else a part of them, in turn. Where every ticket rings
// here, a bell that is silent says that there is nothing to look for; should a ring ever be missed,
// a look at long intervals finds its ticket. While no kernel moves anything a scan also stops when
// it has found enough for one.
bool engine::scan() noexcept {
  if (posted_.empty()) return false;
  const std::uint64_t rung = own_.rung();
  const bool waiting_here = rung != tickets_seen_;
  const bool now_and_then = polls_ % look_at_all_every == 0;
  const bool told = waiting_here || full_scans_ > 0;
  if (!told && all_ring_here_ && polls_ % look_anyway_every != 0) return false;
  if (!waiting_here && !now_and_then && rung == last_rung_) return false;
  last_rung_ = rung;
  const bool all = now_and_then && (told || posted_.size() <= window);
  const bool part = now_and_then && !all;
  if (all && full_scans_ > 0) --full_scans_;
  const std::size_t enough = path::puller::bytes_to_start_with();
  std::size_t quiet = 0, bytes = 0;
  linked_list<receive> found;
  receive* r = part ? posted_.cursor() : posted_.first();
  for (std::size_t left = part ? window : posted_.size(); r && left > 0; --left) {
    if (!now_and_then && (quiet == quiet_in_a_row || bytes >= enough)) break;
    receive* const next = linked_list<receive>::after(*r);
    r->check();
    if (r->posted()) {
      ++quiet;
    } else {
      posted_.erase(*r);
      bytes += r->announced();
      found.push_back(*r);
    }
    r = next;
  }
  if (part) posted_.set_cursor(r);
  const bool any = !found.empty();
  while (receive* const one = found.first()) {
    found.erase(*one);
    watch(*one);
  }
  return any;
}

void engine::note_answer(int world_rank) noexcept {
  answered_ns_[static_cast<std::size_t>(world_rank)] = now_ns();
}

void engine::start_moving(receive& r) noexcept {
  (r.in_order() ? copied_ : moving_).push_back(r);
}

// Of many copies in flight the next to end is one of the oldest: to ask all of them in each pass
// would cost more than the messages themselves.
void engine::advance_moving() noexcept {
  const bool all = polls_ % look_at_all_every == 0;
  advance(copied_, all ? copied_.size() : copies_side_by_side);
  advance(moving_, moving_.size());
  advance(unpacking_, 1);
  for (const owed_rings& o : owed_)
    peer(o.world_rank).header().answers.fetch_add(o.count, std::memory_order_release);
  owed_.clear();
}

void engine::advance(linked_list<receive>& moving, std::size_t most_quiet) noexcept {
  std::size_t quiet = 0;
  for (receive* r = moving.first(); r && quiet < most_quiet;) {
    const bool ended = r->advance();
    receive* const next = linked_list<receive>::after(*r);
    const bool unpacks = !ended && r->unpacking() && &moving != &unpacking_;
    if (ended || unpacks)
      moving.erase(*r);
    else
      ++quiet;
    if (unpacks) unpacking_.push_back(*r);
    r = next;
  }
}

void engine::owe_ring(int world_rank) noexcept {
  for (owed_rings& o : owed_)
    if (o.world_rank == world_rank) return static_cast<void>(++o.count);
  owed_.push_back({world_rank, 1});
}

void engine::employ(worker& w) noexcept {
  if (std::find(workers_.begin(), workers_.end(), &w) == workers_.end()) workers_.push_back(&w);
}

// By index: what a worker starts may call an error handler of the program, which may employ more.
void engine::advance_workers() noexcept {
  const std::uint64_t pass = passes_;
  for (std::size_t i = 0; i < workers_.size();) {
    const bool stays = workers_[i]->advance();
    if (passes_ != pass) return;
    if (stays)
      ++i;
    else
      workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void engine::watch(receive& r) noexcept {
  r.start();
  if (r.settled()) return;
  if (r.moving())
    start_moving(r);
  else
    posted_.push_back(r);
}

void engine::check(receive& r, bool last) noexcept {
  const bool unread = r.posted();
  if (unread) r.check(last);
  // What was read before is in other lists, but for tickets that read_tickets_in() found.
  if (r.posted() || (!unread && !r.redeemed())) return;
  posted_.erase(r);
  watch(r);
}

// What is found stays in the list, for the next scan or for who waits for it: this is called in the
// middle of a scan.
void engine::read_tickets_in(const written_ranges::range& r) noexcept {
  if (!written_.exposed(r)) return;
  for (receive* p = posted_.first(); p; p = linked_list<receive>::after(*p)) p->check();
  full_scans_ = scans_for_a_bell;
}

void engine::forget(receive& r) noexcept {
  posted_.erase(r);
  copied_.erase(r);
  moving_.erase(r);
  unpacking_.erase(r);
}

// Room for a message may come only when another one has left: those that need us are asked each
// time.
void engine::detach(held_lock& held) noexcept {
  wait_until(held, "a call that may block", [&] {
    bool needed = arriving() != 0;
    for (offer* o = offers_.first(); o; o = linked_list<offer>::after(*o)) needed |= !o->detach();
    busy_offers_ = true;  // what they have begun wants to be polled
    for (std::size_t i = 0; i < workers_.size(); ++i) needed |= !workers_[i]->detach();
    return !needed;
  });
}

void engine::leave(held_lock& held) noexcept {
  if (held && !idle() && own_.header().blocked.load(std::memory_order_relaxed) != 0) detach(held);
}

// --- the end ---

void engine::wait_for_all(held_lock& held, void (*meanwhile)()) noexcept {
  MPI_Request all_here = MPI_REQUEST_NULL;
  if (pmpi::Ibarrier(job_.control, &all_here) != MPI_SUCCESS) return;
  int here = 0;
  wait_until(held, "MPI_Finalize", [&] {
    meanwhile();
    return pmpi::Test(&all_here, &here, MPI_STATUS_IGNORE) != MPI_SUCCESS || here != 0;
  });
}

// Collective. Blocks that were sent ahead for messages without a receive: a host MPI may not end
// while they lie on the private communicator. Doorbells lie there too.
void engine::take_unasked() noexcept {
  if (job_.node.size() == static_cast<std::size_t>(job_.size) &&
      !path::between_nodes(path::forced()))
    return;
  std::vector<int> sent(static_cast<std::size_t>(job_.size)), here(sent.size());
  for (offer* o = offers_.first(); o; o = linked_list<offer>::after(*o))
    sent[static_cast<std::size_t>(o->peer())] += o->unasked_messages();
  if (pmpi::Alltoall(sent.data(), 1, MPI_INT, here.data(), 1, MPI_INT, job_.control) != MPI_SUCCESS)
    return;
  std::vector<std::byte> scratch;
  for (int left = std::accumulate(here.begin(), here.end(), 0); left > 0;) {
    int flag = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status s;
    listen();
    if (pmpi::Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, job_.control, &flag, &message, &s) !=
        MPI_SUCCESS)
      return;
    if (!flag) continue;
    scratch.resize(host_mpi::bytes_of(s));
    pmpi::Mrecv(scratch.data(), static_cast<int>(scratch.size()), MPI_BYTE, &message,
                MPI_STATUS_IGNORE);
    --left;
  }
}

// Once all ranks are here no receive will be posted. What is posted may have its message in the
// host MPI; when all have taken those, what is left of the sends has no receiver: their slots and
// requests are left to the end of the job, as the host MPIs leave their own sends.
void engine::end_messages(held_lock& held, void (*meanwhile)()) noexcept {
  wait_for_all(held, meanwhile);
  std::vector<receive*> posted;
  for (receive* r = posted_.first(); r; r = linked_list<receive>::after(*r)) posted.push_back(r);
  for (receive* r : posted) check(*r, false);
  wait_until(held, "MPI_Finalize (messages on their way)", [&] {
    meanwhile();
    return arriving() == 0;
  });
  wait_for_all(held, meanwhile);
  busy_offers_ = true;
  progress();  // hears the last answers
  wait_until(held, "MPI_Finalize (sends)", [&] {
    bool copying = false;
    for (offer* o = offers_.first(); o; o = linked_list<offer>::after(*o)) copying |= o->copying();
    return !copying;
  });
  take_unasked();
  if (offers_.empty()) return;
  TELPHER_WARN("%zu sends of device memory have no receive at MPI_Finalize", offers_.size());
  while (offer* o = offers_.first()) offers_.erase(*o);
}

// --- waiting ---

void engine::waiter::pause(engine& e) noexcept {
  ++polls_;
  if (polls_ == 1 && trace::on()) traced_since_ns_ = now_ns();
  if (e.crowded_ || polls_ > 2000)
    sched_yield();
  else if (polls_ > brisk_polls)
    relax();
  if (polls_ % 256 != 0) return;
  const std::uint64_t now = now_ns();
  if (since_ns_ == 0) {
    since_ns_ = now;
    next_report_us_ = config().stall_warning.value;
  }
  const double waited_us = static_cast<double>(now - since_ns_) / 1e3;
  const double limit = config().wait_timeout.value;
  const bool too_long = limit > 0 && waited_us > limit;
  if (waited_us < next_report_us_ && !too_long) return;
  next_report_us_ *= 2;
  auto held = e.lock();
  if (too_long) e.give_up(what_, waited_us / 1e6);
  e.report(what_, waited_us / 1e6, log::level::info);
}

void engine::report(const char* what, double seconds, log::level details) noexcept {
  TELPHER_WARN("%s has waited %.0f s; under way: %zu sends, %zu receives posted, %zu arriving",
               what, seconds, offers_.size(), posted_.size(), arriving());
  if (log::threshold.load(std::memory_order_relaxed) < details) return;
  char text[256];
  const auto say = [&](const auto& one) {
    one->describe(text, sizeof text);
    log::write(details, TELPHER_SUBSYSTEM, "  %s", text);
  };
  for (const offer* o = offers_.first(); o; o = linked_list<offer>::after(*o)) say(o);
  for (const auto* list : {&posted_, &copied_, &moving_, &unpacking_})
    for (const receive* r = list->first(); r; r = linked_list<receive>::after(*r)) say(r);
  for (const worker* w : workers_) say(w);
}

void engine::give_up(const char* what, double seconds) noexcept {
  TELPHER_ERROR("%s has waited %.0f s for other ranks (TELPHER_WAIT_TIMEOUT): the job ends", what,
                seconds);
  report(what, seconds, log::level::error);
  pmpi::Abort(MPI_COMM_WORLD, 1);
  std::abort();  // a host MPI that came back from there would go on waiting
}

}  // namespace telpher::ticket
