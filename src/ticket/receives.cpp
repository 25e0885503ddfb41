// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/receives.hpp"

#include <array>
#include <utility>

namespace telpher::ticket {
namespace {

// Passes between two looks at posted receives whatever the bells say; each is a thorough one. A
// pass after a sleep comes late: such a rank would look once in seconds.
constexpr std::uint32_t look_anyway_every = 16384, look_after_sleeps_every = 1024;
// Posted receives found waiting before a scan stops: asking for one makes the host MPI progress,
// once a pass is enough.
constexpr std::size_t quiet_in_a_row = 1;
// Looks at everything for one ring: a bell may overtake its ticket.
constexpr std::uint32_t scans_for_a_bell = 3;
// Copies that may end in any order: the streams of the copy engine, and of the kernels.
constexpr std::size_t copies_side_by_side = 2;
// Posted receives looked at beside when nothing says that one of them has a ticket.
constexpr std::size_t window = 64;

}  // namespace

bool receive_list::detach() noexcept {
  if (!copied_.empty() || !unpacking_.empty()) return false;
  for (const receive* r = moving_.first(); r; r = linked_list<receive>::after(*r))
    if (!r->awaits_sender()) return false;
  return true;
}

// --- what is watched ---

void receive_list::watch(receive& r) noexcept {
  r.start();
  if (r.settled() || r.waits_for_stream()) return;
  linked_list<receive>& on_its_way = r.moving() && r.in_order() ? copied_ : moving_;
  (r.moving() ? on_its_way : posted_).push_back(r);
  progress_.enlist(*this);
}

void receive_list::check(receive& r, bool last) noexcept {
  if (!r.posted()) return;
  r.check(last);
  if (r.posted()) return;
  posted_.erase(r);
  if (!r.settled() && !r.waits_for_stream()) return watch(r);
  if (empty()) progress_.dismiss(*this);
}

// While the host MPI looks, an error handler of the program may be called, and make passes: the
// receives have lent their requests, so that nobody else asks for them.
bool receive_list::conclude(std::span<receive* const> these) noexcept {
  std::array<receive*, at_once> asked;
  std::array<MPI_Request, at_once> natives;
  std::array<MPI_Status, at_once> statuses;
  std::array<int, at_once> indices;
  std::size_t n = 0;
  for (receive* r : these) {
    if (!r->posted()) continue;
    asked[n] = r;
    natives[n] = r->lend();
    statuses[n++].MPI_ERROR = MPI_SUCCESS;
  }
  if (n == 0) return true;
  int ended = 0;
  const int rc = host_mpi::end_some(static_cast<int>(n), natives.data(), &ended, indices.data(),
                                    statuses.data());
  for (std::size_t i = 0; i < n; ++i)
    if (natives[i] != MPI_REQUEST_NULL) asked[i]->give_back(natives[i]);
  if (ended == MPI_UNDEFINED) ended = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(ended); ++k) {
    receive& r = *asked[static_cast<std::size_t>(indices[k])];
    r.ended(statuses[k], rc == MPI_SUCCESS ? rc : statuses[k].MPI_ERROR);
    posted_.erase(r);
    if (!r.settled()) watch(r);
  }
  if (empty()) progress_.dismiss(*this);
  return ended == static_cast<int>(n);
}

void receive_list::resume(receive& r) noexcept {
  const bool came = r.waits_for_stream();
  r.resume();
  if (came) watch(r);
}

void receive_list::forget(receive& r) noexcept {
  if (!r.listed()) return;
  for (auto* list : {&posted_, &copied_, &moving_, &unpacking_}) list->erase(r);
  if (empty()) progress_.dismiss(*this);
}

void receive_list::keep_tickets_in(const written_ranges::range& r) noexcept {
  if (!written_.exposed(r)) return;
  for (receive* p = posted_.first(); p; p = linked_list<receive>::after(*p)) p->keep_ticket();
}

void receive_list::owe_ring(int world_rank) noexcept {
  for (owed_rings& o : owed_)
    if (o.world_rank == world_rank) return static_cast<void>(++o.count);
  owed_.push_back({world_rank, 1});
}

// --- progress ---

void receive_list::find(pass& p) noexcept {
  thorough_ = p.thorough();
  if (std::exchange(bells_heard_, peers_.bells_heard()) != peers_.bells_heard())
    full_scans_ = scans_for_a_bell;
  const bool coming = scan(p);
  p.outlook = {.others = posted_.size() + arriving() > 1,
               .more = !posted_.empty(),
               .coming = coming && p.waiting};
}

// Posted receives complete mostly in the order in which they were posted, so a scan starts at the
// oldest and stops after a few that wait. The order is not certain. So every now and then the scan
// looks at all of them if a bell says that some have tickets, else at a part of them, in turn. If
// every ticket rings here, a silent bell says that there is nothing to look for. If a ring is ever
// missed, a look at long intervals finds its ticket. While no kernel moves anything a scan also
// stops when it has found enough for one. True if messages were found.
bool receive_list::scan(const pass& p) noexcept {
  if (posted_.empty()) return false;
  const std::uint64_t rung = peers_.own().rung();
  const bool waiting_here = rung != tickets_seen_;
  const bool told = waiting_here || full_scans_ > 0;
  const std::uint32_t looks_every = p.rested ? look_after_sleeps_every : look_anyway_every;
  if (!told && peers_.all_near() && p.number % looks_every != 0) return false;
  if (!waiting_here && !thorough_ && rung == last_rung_) return false;
  last_rung_ = rung;
  const bool all = thorough_ && (told || posted_.size() <= window);
  const bool part = thorough_ && !all;
  if (all && full_scans_ > 0) --full_scans_;
  const std::size_t enough = path::copier::bytes_to_start_with();
  std::size_t quiet = 0, bytes = 0;
  linked_list<receive> found;
  receive* r = part ? posted_.cursor() : posted_.first();
  for (std::size_t left = part ? window : posted_.size(); r && left > 0; --left) {
    if (!thorough_ && (quiet == quiet_in_a_row || bytes >= enough)) break;
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

// Looks at the oldest copies only: one of them ends next. Asking all of many copies in each pass
// would cost more than the messages themselves.
bool receive_list::advance() noexcept {
  advance(copied_, thorough_ ? copied_.size() : copies_side_by_side);
  advance(moving_, moving_.size());
  advance(unpacking_, 1);
  for (const owed_rings& o : owed_)
    peers_.segment_of(o.world_rank).header().answers.fetch_add(o.count, std::memory_order_release);
  owed_.clear();
  return !empty();
}

void receive_list::advance(linked_list<receive>& moving, std::size_t most_quiet) noexcept {
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

void receive_list::count(tally& t) const noexcept {
  t.posted += posted_.size();
  t.arriving += arriving();
}

void receive_list::report(log::level at) const noexcept {
  char text[256];
  for (const auto* list : {&posted_, &copied_, &moving_, &unpacking_})
    for (const receive* r = list->first(); r; r = linked_list<receive>::after(*r)) {
      r->describe(text, sizeof text);
      log::write(at, TELPHER_SUBSYSTEM, "  %s", text);
    }
}

// --- the end of the job ---

void receive_list::check_all() noexcept {
  std::vector<receive*> posted;
  for (receive* r = posted_.first(); r; r = linked_list<receive>::after(*r)) posted.push_back(r);
  for (receive* r : posted) check(*r, false);
}

void receive_list::leave_rest() noexcept {
  if (!posted_.empty())
    TELPHER_WARN("%zu receives are still posted at MPI_Finalize", posted_.size());
  posted_.clear();
  progress_.dismiss(*this);
}

}  // namespace telpher::ticket
