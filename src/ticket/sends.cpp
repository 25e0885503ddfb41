// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/sends.hpp"

#include <algorithm>

namespace telpher::ticket {

void send_list::add(std::unique_ptr<send> o) noexcept {
  busy_ |= o->busy();
  sends_.push_back(*o.release());
  progress_.enlist(*this);
}

// A retired send leaves the list; the last holder deletes it.
void send_list::drop(send& o) noexcept {
  sends_.erase(o);
  if (!o.held) delete &o;
}

void send_list::release(send& o) noexcept {
  o.held = false;
  if (!o.retired() || o.visited) return;
  drop(o);
  if (sends_.empty()) progress_.dismiss(*this);
}

void send_list::end_copy(send& o, status copied) noexcept {
  o.end_copy(copied);
  busy_ = true;
}

void send_list::hasten(send& o) noexcept {
  o.hasten();
  busy_ = true;
}

// The receivers' bell says when to look at the sends, and how many of them have an answer: mostly
// the oldest, so the look ends when those are found. Without the bell they are looked at when the
// oldest one's patience has run out by the clock. Should an answer ever be missed in the count,
// that look finds it. A send that is being advanced stays in nested passes, and is left alone.
void send_list::find(pass& p) noexcept {
  if (sends_.empty()) return;
  const std::uint64_t answers = peers_.own().header().answers.load(std::memory_order_acquire);
  std::uint64_t expected = answers - last_answers_;
  if (expected == 0 && !busy_ && !p.thorough()) return;
  const std::uint64_t now = now_ns();
  const bool all = busy_ || (p.thorough() && patience_is_over(now));
  if (expected == 0 && !all) return;
  if (expected != 0) last_answer_ns_ = now;
  last_answers_ = answers;
  const std::uint64_t passes = progress_.passes();
  bool busy = false;
  for (send* o = sends_.first(); o && (all || expected > 0);) {
    const bool visit = !o->visited;
    if (visit) {
      o->visited = true;
      if (o->advance(now)) --expected;
      o->visited = false;
    }
    busy |= o->busy();
    send* const next = linked_list<send>::after(*o);  // now: an error handler may have sent
    if (visit && o->retired()) drop(*o);
    if (progress_.passes() != passes) return static_cast<void>(busy_ = true);
    o = next;
  }
  busy_ = busy;
}

bool send_list::patience_is_over(std::uint64_t now) const noexcept {
  const auto patience = static_cast<std::uint64_t>(config().eager_patience.value * 1e3);
  return now >= std::max(sends_.first()->since_ns(now), last_answer_ns_) + patience;
}

bool send_list::detach() noexcept {
  bool needed = false;
  for (send* o = sends_.first(); o; o = linked_list<send>::after(*o)) needed |= !o->detach();
  busy_ = true;  // what they have begun wants to be polled
  return !needed;
}

void send_list::report(log::level at) const noexcept {
  char text[256];
  for (const send* o = sends_.first(); o; o = linked_list<send>::after(*o)) {
    o->describe(text, sizeof text);
    log::write(at, TELPHER_SUBSYSTEM, "  %s", text);
  }
}

// --- the end of the job ---

bool send_list::copying() noexcept {
  bool copying = false;
  for (send* o = sends_.first(); o; o = linked_list<send>::after(*o)) copying |= o->copying();
  return copying;
}

void send_list::add_unasked(std::vector<int>& messages) noexcept {
  for (send* o = sends_.first(); o; o = linked_list<send>::after(*o))
    messages[static_cast<std::size_t>(o->peer())] += o->unasked_messages();
}

void send_list::leave_rest() noexcept {
  if (!sends_.empty())
    TELPHER_WARN("%zu sends of device memory have no receive at MPI_Finalize", sends_.size());
  sends_.clear();
  progress_.dismiss(*this);
}

}  // namespace telpher::ticket
