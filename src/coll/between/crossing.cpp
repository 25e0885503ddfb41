// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/crossing.hpp"

#include <bit>
#include <cstdio>
#include <new>
#include <utility>

#include "base/settings.hpp"
#include "coll/between/sites.hpp"
#include "coll/between/votes.hpp"
#include "coll/exchange/selection.hpp"
#include "host_mpi/test.hpp"
#include "path/path.hpp"

namespace telpher::coll::between {

planned plan_of(const exchange::arguments& a, site& at, const terms& all, plan_form form) noexcept {
  kept_plans& plans = at.plans;
  const bool in_place = a.in_place && may_be_in_place_alone(a.what);
  const kept_plans::entry* found = same_at_all(a.what) ? nullptr : plans.find_parts(all, form);
  bool fresh = !found;
  const bool here = found || has_memory_for([&] {  // none is needed for a kept plan
                      problem_of(a, at.among, all, plans.at_hand);
                      if (in_place) plans.at_hand.in_place = false;
                      if (same_at_all(a.what)) found = plans.find(all.grain, form);
                      fresh = !found;
                      if (fresh) found = &plans.make(all, at.among.rails, a.rank, form);
                    });
  planned p{.to_vote = fresh, .here = here};
  if (!found) return p;
  p.made = in_place ? found->in_place : found->made;
  p.bytes = exchange::volume(found->of, all.grain);
  return p;
}

call call_of(const char* name, const exchange::arguments& a, site& at, planned&& p,
             const terms& all, const coding& how) noexcept {
  const bool kernel = p.made->in_kernel.has_value();
  const bool on_host =
      !all.on_device || !at.room->equipped() || (!how && !kernel && fits_the_host(p.bytes));
  if (config().explain && a.rank == 0) {
    char text[160];
    std::snprintf(text, sizeof text, "%s over %zu nodes, %d leaders a node%s", p.made->by->name,
                  at.among.nodes.size(), at.among.rails,
                  kernel    ? ", one kernel a rank"
                  : on_host ? ", in host memory"
                            : "");
    at.explained.print(name, a.ranks, p.bytes, text);
  }
  auto* const input = static_cast<std::byte*>(const_cast<void*>(a.input));
  auto* const output = static_cast<std::byte*>(a.output);
  return {.name = name,
          .plan = std::move(p.made),
          .unit = all.grain,
          .by = a.reduce,
          .input = {input, a.input_place},
          .output = {output, a.output_place},
          .how = on_host ? coding() : how,
          .bytes = p.bytes,
          .on_host = on_host};
}

// --- one call ---

crossing::crossing(const char* name, site& at, exchange::arguments&& a, host_form&& host)
    : deferred_call(name),
      at_(at),
      room_(*at.room),
      arguments_(std::move(a)),
      host_(std::move(host)) {}

void crossing::finish(status s) noexcept {
  runs_.reset();
  packed_.reset();
  host_ = nullptr;
  now_ = stage::done;
  if (now() == state::open) end(s);
}

/// If the host MPI fails, the call is finished.
bool crossing::ended(MPI_Request& r) noexcept {
  const status s = host_mpi::test(r);
  if (s == status::host_mpi_error) finish(s);
  return s == status::ok;
}

void crossing::begin() noexcept {
  auto& known = at_.deferred[static_cast<std::size_t>(arguments_.what)];
  const bool asks = known.devices || std::has_single_bit(++known.calls);
  if (!asks || at_.refusals >= site::most_refusals) return start_by_host();
  now_ = stage::gathering;
  if (room_.abandoned())
    finish(status::peer_lost);
  else if (pmpi::Ibarrier(room_.wire, &request_) != MPI_SUCCESS)
    finish(status::host_mpi_error);
}

void crossing::promise(bool yes) noexcept {
  if (yes) packed_ = pack(arguments_);
  terms own = terms_of(arguments_, room_.where);
  own.able = own.able && yes;
  own.parts = at_.plans.own_parts(arguments_);
  mine_ = own.as_words();
  now_ = stage::deciding;
  if (pmpi::Iallreduce(mine_.data(), all_.data(), static_cast<int>(mine_.size()), MPI_INT64_T,
                       MPI_MIN, room_.wire, &request_) != MPI_SUCCESS)
    finish(status::host_mpi_error);
}

void crossing::decide() noexcept {
  const terms all = terms::of(all_);
  if (!all.able || !all.any_device) return start_by_host();
  at_.deferred[static_cast<std::size_t>(arguments_.what)].devices = true;
  now_ = stage::making;
  make_room();
}

void crossing::make_room() noexcept {
  const status came = room_.make();
  if (came == status::would_block) return;
  if (came == status::ok) return plan();
  ++at_.refusals;
  start_by_host();
}

void crossing::plan() noexcept {
  const terms all = terms::of(all_);
  plan_ = plan_of(arguments_, at_, all, {});
  if (!plan_.to_vote) return equip();
  now_ = stage::planning;
  has_plan_ = plan_.here;
  if (pmpi::Iallreduce(&has_plan_, &all_have_plan_, 1, MPI_INT, MPI_MIN, room_.wire, &request_) !=
      MPI_SUCCESS)
    finish(status::host_mpi_error);
}

void crossing::see_plans() noexcept {
  if (all_have_plan_) return equip();
  at_.plans.forget();
  finish(status::out_of_memory);
}

void crossing::equip() noexcept {
  if (!plan_.made) return start_by_host();
  now_ = stage::equipping;
  if (terms::of(all_).on_device && !fits_the_host(plan_.bytes) &&
      room_.equip(arguments_.where) == status::would_block)
    return;
  run_planned();
}

void crossing::run_planned() noexcept {
  now_ = stage::running;
  call c = call_of(name(), arguments_, at_, std::move(plan_), terms::of(all_), {});
  c.packed = std::move(packed_);
  runs_.emplace(room_, std::move(c));
}

void crossing::start_by_host() noexcept {
  packed_.reset();
  now_ = stage::by_host;
  start_on_host(host_, room_.wire, true);
}

void crossing::advance() noexcept {
  if (now_ == stage::queued) begin();
  // While another thread is blocked in the host MPI, nobody may come back to move the call.
  if (now_ == stage::gathering && ticket::peers().own().header().blocked.load() != 0)
    static_cast<void>(detach());
  if (now_ == stage::gathering && ended(request_)) promise(true);
  if (now_ == stage::deciding && ended(request_)) decide();
  if (now_ == stage::making) make_room();
  if (now_ == stage::planning && ended(request_)) see_plans();
  if (now_ == stage::equipping) equip();
  if (now_ == stage::running && (runs_->advance(), runs_->done())) {
    const status s = runs_->outcome();
    if (!failed(s)) path::count(path::kind::coll_levels, runs_->bytes());
    finish(s);
  }
  if (now_ == stage::by_host && ended(gathered_) && ended(request_)) finish(status::ok);
}

bool crossing::detach() noexcept {
  if (now_ == stage::queued) begin();
  if (now_ != stage::gathering) return now_ == stage::by_host || now_ == stage::done;
  gathered_ = std::exchange(request_, MPI_REQUEST_NULL);
  promise(false);
  if (now_ == stage::deciding) start_by_host();
  return true;
}

// --- the queue ---

void crossing_queue::add(ticket::held_lock& held, std::shared_ptr<crossing> c, bool at_once) {
  const char* const name = c->name();
  by_host_.reserve(by_host_.size() + waiting_.size() + 1);
  waiting_.push_back(std::move(c));
  progress_.enlist(*this);
  if (at_once)
    progress_.wait_until(held, name, [&] { return detach(); });
  else
    advance();
}

/// Takes the head out of the queue, if it no longer needs the room.
bool crossing_queue::pop_head() noexcept {
  const std::shared_ptr<crossing> head = waiting_.front();
  const bool by_host = head->now_ == crossing::stage::by_host;
  if (!by_host && head->now_ != crossing::stage::done) return false;
  if (by_host) by_host_.push_back(head);  // add() has reserved the memory
  waiting_.pop_front();
  return true;
}

bool crossing_queue::advance() noexcept {
  for (const auto& c : by_host_) c->advance();
  std::erase_if(by_host_, [](const auto& c) { return c->now_ == crossing::stage::done; });
  while (!waiting_.empty()) {
    waiting_.front()->advance();
    if (!pop_head()) break;
  }
  return !settled();
}

bool crossing_queue::detach() noexcept {
  while (!waiting_.empty()) {
    static_cast<void>(waiting_.front()->detach());
    if (!pop_head()) return false;
  }
  return true;
}

void crossing_queue::report(log::level at) const noexcept {
  const char* const name = settled()          ? "no collective"
                           : waiting_.empty() ? by_host_.front()->name()
                                              : waiting_.front()->name();
  log::write(at, TELPHER_SUBSYSTEM, "  %s between nodes, %zu behind it, %zu with the host MPI",
             name, waiting_.empty() ? 0 : waiting_.size() - 1, by_host_.size());
}

}  // namespace telpher::coll::between
