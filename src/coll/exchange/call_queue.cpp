// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/call_queue.hpp"

#include "coll/exchange/communicator.hpp"

namespace telpher::coll::exchange {

// --- initiation ---

// While another thread is blocked in the host MPI calls are not admitted: nobody may be there to
// move them when peers need it.
bool call_queue::admits(const arguments& a) const noexcept {
  const bool moves_here = a.where.on_device() || (!a.input && !a.output && c_.where.on_device());
  return moves_here && a.possible && ticket::peers().own().header().blocked.load() == 0;
}

std::shared_ptr<call> call_queue::enter(std::shared_ptr<call> made) {
  calls_.push_back(made);
  made->set_number(c_.protocol.next_call());
  progress_.enlist(*this);
  advance();
  return made;
}

void call_queue::decline_next(ticket::held_lock& held) noexcept {
  drain_to_host(held);
  c_.decline(c_.protocol.next_call());
}

// --- to the host MPI ---

void call_queue::drain_to_host(ticket::held_lock& held) noexcept {
  progress_.wait_until(held, "a collective behind another one",
                       [&] { return try_drain_to_host(); });
}

// The call has left the queue. It was withdrawn, or all know that it is the host's.
void call_queue::leave_to_host(call& c) noexcept {
  c_.decline(c.number());
  c.start_staged();
}

bool call_queue::try_drain_to_host() noexcept {
  while (!calls_.empty()) {
    const bool stays = !calls_.front()->withdraw();
    if (stays && !calls_.front()->committed()) return false;
    const auto at = calls_.begin() + (stays ? 1 : 0);
    if (at == calls_.end()) return true;
    const std::shared_ptr<call> going = *at;
    calls_.erase(at);
    leave_to_host(*going);
  }
  return true;
}

// --- progress ---

bool call_queue::advance() noexcept {
  if (!c_.joined()) return true;
  if (c_.state == communicator::phase::absent) try_drain_to_host();
  while (!calls_.empty()) {
    const std::shared_ptr<call> first = calls_.front();
    const call::outcome came = first->advance();
    if (came == call::outcome::pending) break;
    calls_.pop_front();
    if (came == call::outcome::done)
      first->end_on_devices();
    else
      leave_to_host(*first);
  }
  return !calls_.empty();
}

bool call_queue::detach() noexcept {
  return try_drain_to_host() && calls_.empty();
}

void call_queue::report(log::level at) const noexcept {
  if (calls_.empty()) return;
  const call& first = *calls_.front();
  char awaited[96];
  first.describe(awaited, sizeof awaited);
  log::write(at, TELPHER_SUBSYSTEM, "  %s, call %llu on its communicator, until %s; %zu behind it",
             first.name(), static_cast<unsigned long long>(first.number()), awaited,
             calls_.size() - 1);
}

}  // namespace telpher::coll::exchange
