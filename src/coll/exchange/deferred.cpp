// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/deferred.hpp"

#include "coll/exchange/communicator.hpp"
#include "host_mpi/reserve.hpp"

namespace telpher::coll::exchange {

deferred::deferred(const char* call, arguments&& a, host_form&& host)
    : deferred_call(call), arguments_(std::move(a)), host_(std::move(host)) {}

deferred::~deferred() = default;

call_queue::~call_queue() {
  auto held = ticket::progress().lock();
  ticket::progress().dismiss(*this);
}

// --- initiation ---

// A call that may be initiated in the host MPI later than the program asked for it must have only
// what outlives the program's call. While another thread of this process is blocked in the host
// MPI, nobody may be there to move the call when peers need it.
bool call_queue::admits(const arguments& a) const noexcept {
  const bool moves_here = a.where.on_device() || (!a.input && !a.output && c_.where.on_device());
  return moves_here && a.possible && a.lasting && !host_mpi::memory_is_short() &&
         ticket::peers().own().header().blocked.load() == 0;
}

std::shared_ptr<deferred> call_queue::enter(std::shared_ptr<deferred> made) {
  calls_.push_back(made);
  made->number_ = c_.talk.take();
  ticket::progress().enlist(*this);
  advance();
  return made;
}

void call_queue::pass_next(ticket::held_lock& held) noexcept {
  make_way(held);
  c_.pass(c_.talk.take());
}

// --- to the host MPI ---

void call_queue::make_way(ticket::held_lock& held) noexcept {
  ticket::progress().wait_until(held, "a collective behind another one",
                                [&] { return leave_to_host(); });
}

// The call has left the queue, and has been passed or was decided to be the host's.
void call_queue::start_on_host(deferred& d) const noexcept {
  d.attempt_.reset();
  d.start_on_host(d.host_, c_.comm);
}

bool call_queue::leave_to_host() noexcept {
  while (!calls_.empty()) {
    const attempt* head = calls_.front()->attempt_.get();
    const bool stays = head && !calls_.front()->attempt_->withdraw();
    if (stays && !head->committed()) return false;
    const auto at = calls_.begin() + (stays ? 1 : 0);
    if (at == calls_.end()) return true;
    const std::shared_ptr<deferred> going = *at;
    calls_.erase(at);
    c_.pass(going->number_);
    start_on_host(*going);
  }
  return true;
}

// --- progress ---

bool call_queue::advance() noexcept {
  if (!c_.joined()) return true;
  if (c_.state == communicator::phase::absent) leave_to_host();
  while (!calls_.empty()) {
    const std::shared_ptr<deferred> first = calls_.front();
    const attempt::outcome came = step(*first);
    if (came == attempt::outcome::pending) break;
    calls_.pop_front();
    if (came == attempt::outcome::done) {
      end(*first);
    } else {
      c_.pass(first->number_);
      start_on_host(*first);
    }
  }
  return !calls_.empty();
}

attempt::outcome call_queue::step(deferred& d) noexcept {
  if (!d.attempt_) {
    d.attempt_.reset(new (std::nothrow) attempt(d.call(), c_, d.arguments_, form::deferred));
    if (!d.attempt_) return attempt::outcome::staged;
    c_.talk.begin(d.number_);
  }
  return d.attempt_->advance();
}

void call_queue::end(deferred& d) noexcept {
  d.end(d.attempt_->result());
  d.attempt_.reset();
  d.host_ = nullptr;
}

bool call_queue::detach() noexcept {
  return leave_to_host() && calls_.empty();
}

void call_queue::report(log::level at) const noexcept {
  if (calls_.empty()) return;
  const deferred& first = *calls_.front();
  char awaited[96] = "its ranks have found each other";
  if (first.attempt_) first.attempt_->describe(awaited, sizeof awaited);
  log::write(at, TELPHER_SUBSYSTEM, "  %s, call %llu on its communicator, until %s; %zu behind it",
             first.call(), static_cast<unsigned long long>(first.number_), awaited,
             calls_.size() - 1);
}

}  // namespace telpher::coll::exchange
