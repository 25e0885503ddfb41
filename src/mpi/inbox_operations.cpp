// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/inbox_operations.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/lasting.hpp"
#include "ticket/stash.hpp"

namespace telpher::mpi {

using kernel::inbox_put;
using kernel::inbox_take;

namespace {

// Those that the proxy polls; it alone uses the list.
lasting<std::vector<inbox_operation*>> all;

}  // namespace

// --- both ---

inbox_operation::~inbox_operation() {
  if (listed_) std::erase(*all, this);
}

bool inbox_operation::poll(int& code) noexcept {
  if (!std::exchange(listed_, true)) all->push_back(this);
  static std::uint64_t looked = 0;
  if (std::exchange(looked, stream::looks()) != stream::looks()) look();
  code = std::exchange(code_, MPI_SUCCESS);
  return ended_;
}

void inbox_operation::look() noexcept {
  constexpr double between_us = 5;
  constexpr unsigned looks_for_all = 16;
  static std::uint64_t passed_ns = 0;
  need most = need::nothing;
  for (const inbox_operation* o : *all) most = std::max(most, o->needs());
  if (most == need::nothing) return;
  const bool passes = ordered == 0 || us_since(passed_ns) >= between_us;
  if (most == need::messages && !passes) return;
  static unsigned let_in = 0;
  if (ticket::held_lock::wanted() && ++let_in % 16 != 0) return;
  const ticket::visit v;
  if (passes) {
    ticket::progress().poll();
    passed_ns = now_ns();
  }
  static unsigned looks = 0;
  asked_ = 0;
  asks_for_all_ = ++looks % looks_for_all == 0;
  for (inbox_operation* o : *all) o->step();
}

// --- the sender ---

bool inbox_send::announce(ticket::message&& m, int peer) noexcept {
  cells_ = m.cells;
  copy_ = m.payload.data;
  m.by_stream = true;
  auto o = std::make_unique<ticket::send>(std::move(m), peer, ticket::sends());
  if (o->announce() != status::ok) {
    words_.give_back();
    return false;
  }
  send_ = o.get();
  ticket::sends().add(std::move(o));
  return true;
}

status inbox_send::copy(device::stream s) const noexcept {
  TELPHER_TRY(where_.owner->copy(copy_, from_, bytes_, s));
  return where_.owner->write_value(s, words_.over(), 1);
}

void inbox_send::end_copy(status copied) noexcept {
  copied_ = true;
  if (read_) read_->set(failed(copied) ? MPI_ERR_OTHER : MPI_SUCCESS);
  ticket::sends().end_copy(*send_, copied);
}

// The receiver of a copy of ours may need this rank's help until the send is complete.
inbox_send::need inbox_send::needs() const noexcept {
  if (copied_) return send_ ? need::messages : need::nothing;
  return words_.are_over(blocks_) ? need::step : need::nothing;
}

void inbox_send::step() noexcept {
  if (!send_ || needs() == need::nothing) return;
  if (!copied_) {
    end_copy(status::ok);
    words_.give_back();
  }
  if (!send_->complete()) return;
  if (send_->outcome() != status::ok) fail(MPI_ERR_OTHER);
  ticket::sends().release(*std::exchange(send_, nullptr));
  end();
}

// Its receiver gets an error in place of the message.
void inbox_send::abandon() noexcept {
  if (!send_) return;
  const ticket::visit v;
  if (!copied_) end_copy(status::device_error);
  ticket::sends().release(*std::exchange(send_, nullptr));
}

// --- the receiver ---

bool inbox_receive::post(const pt2pt::receive_args& a, const path::inbox& from, std::byte* to,
                         std::size_t capacity, int* rc) noexcept {
  ticket::receive& r = receive();
  taking& t = *taking_;
  if ((*rc = prepare_receive(r, a)) != MPI_SUCCESS) return false;
  if (!t.words) return false;
  r.abandon();  // the program may free its buffer once the stream has passed, before we know of it
  r.hold();
  ticket::stash& kept = ticket::stash::instance();
  if (kept.empty() || !kept.give(r, a.source, a.tag, a.comm, rc)) *rc = r.post(a.source, a.tag);
  if (*rc != MPI_SUCCESS) return false;
  ticket::receives().watch(r);
  t.capacity = capacity;
  if (t.by_kernel()) t.blocks = path::inbox_blocks(capacity);
  t.kernel = {to, from.base, from.cell_bytes, t.words.order(), t.words.reached(), t.words.over()};
  return true;
}

status inbox_receive::launch_kernel(device::stream s) noexcept {
  taking& t = *taking_;
  t.launched = true;
  const status given = t.where.owner->launch(kernel::id::inbox_take, &t.kernel, t.blocks,
                                             path::inbox_threads(t.capacity), s);
  if (failed(given)) t.launched = false;
  return given;
}

inbox_receive::~inbox_receive() {
  if (!request_) return;
  const ticket::visit v;
  request_.reset();
}

inbox_receive::need inbox_receive::needs() const noexcept {
  const auto when = [](bool happened) { return happened ? need::step : need::nothing; };
  const taking& t = *taking_;
  switch (phase_) {
    case phase::awaits_message:
    case phase::moves:
      return need::messages;
    case phase::awaits_waiter: {
      const auto by = t.by.load(std::memory_order_acquire);
      if (by == taking::waiter::other_stream) return when(is_reached());
      return when(by != taking::waiter::nobody);
    }
    case phase::awaits_stream:
      return when(is_reached());
    case phase::fails:
      return need::step;
    case phase::awaits_kernel:  // the words may never come: then the sender says so
      return when(t.is_over() || !t.by_kernel() || request_->receive().is_refused());
    default:
      return when(t.is_over());
  }
}

void inbox_receive::step() noexcept {
  if (needs() == need::nothing) return;
  switch (phase_) {
    case phase::awaits_message:
      await_message();
      break;
    case phase::awaits_waiter:
      serve_waiter();
      break;
    case phase::awaits_stream:
      ticket::receives().resume(receive());
      phase_ = phase::moves;
      break;
    case phase::awaits_kernel:
      --ordered;
      end_kernels_turn();
      break;
    case phase::moves:
      if (request_->check()) end_message(taking_->out);
      break;
    case phase::fails:
      end_kernel();
      break;
    case phase::ends:
      end();
      break;
  }
}

void inbox_receive::await_message() noexcept {
  if (taking_->cancelled.exchange(false, std::memory_order_acquire)) receive().cancel();
  if (asks_host()) ticket::receives().check(receive(), false);
  if (receive().settled()) return static_cast<void>(phase_ = phase::moves);
  if (!receive().waits_for_stream()) return;
  phase_ = receive().in_inbox() ? phase::awaits_waiter : phase::awaits_stream;
  if (phase_ == phase::awaits_waiter && needs() == need::step) serve_waiter();
}

// The status is filled before the stream can go on.
void inbox_receive::serve_waiter() noexcept {
  taking& t = *taking_;
  const auto there = receive().in_inbox();  // not if the sender's stream has failed since
  if (!there || !t.by_kernel()) return static_cast<void>(phase_ = phase::awaits_stream);
  receive().fill(t.out);
  t.words.give_order(inbox_take::order_for(*there));
  ++ordered;
  phase_ = phase::awaits_kernel;
}

// A kernel that could not be launched has had no turn.
void inbox_receive::end_kernels_turn() noexcept {
  const bool over = taking_->is_over();
  if (!over && !taking_->by_kernel()) {
    taking_->words.give_order(0);
    phase_ = phase::awaits_stream;
    return;
  }
  receive().ended_by_stream(over ? status::ok : status::device_error);
  end_message(MPI_STATUS_IGNORE);
}

void inbox_receive::end_message(MPI_Status* out) noexcept {
  taking& t = *taking_;
  const int code = t.end.code = request_->finish(&t.end.status);
  request_.reset();
  if (out != MPI_STATUS_IGNORE) *out = t.end.status;
  if (code == MPI_SUCCESS) return end_kernel();
  fail(code);
  phase_ = phase::fails;
}

// Whoever sees the receive ended, a stream or a thread that waits, finds its error with the proxy.
void inbox_receive::end_kernel() noexcept {
  taking_->end.set(taking_->end.code);
  if (!taking_->by_kernel()) return end();
  taking_->words.give_order(inbox_take::moved_by_host);
  phase_ = phase::ends;
}

void inbox_receive::describe(char* text, std::size_t bytes) const noexcept {
  static constexpr const char* waits[] = {"a receive waits for its message",
                                          "a receive has its message and waits for its wait",
                                          "a receive waits for the bytes of a stream",
                                          "a message waits for its stream",
                                          "a message is on its way",
                                          "a receive has failed",
                                          "a receive's kernel has not ended"};
  char what[120] = "";
  if (request_) request_->receive().describe(what, sizeof what);
  std::snprintf(text, bytes, "%s%s%s", waits[static_cast<int>(phase_)], *what ? ": " : "", what);
}

// Nothing writes the buffer any more, and what comes for it ends in an error of the device.
void inbox_receive::abandon() noexcept {
  if (!request_) return taking_->end.set(taking_->end.code);
  taking_->words.give_order(inbox_take::moved_by_host);
  const ticket::visit v;
  receive().cancel();
  if (phase_ == phase::awaits_kernel) {
    receive().ended_by_stream(status::device_error);
    --ordered;
  } else {
    receive().give_up(status::device_error);
    ticket::receives().resume(receive());
  }
  keep_abandoned(std::move(request_));
  taking_->end.set(MPI_ERR_OTHER);
}

// --- what the stream and the proxy get ---

namespace {

/// Blocks for each of several messages that one kernel moves.
int share_of(std::size_t count, std::size_t largest) noexcept {
  constexpr std::size_t most = 24;
  return std::min(path::inbox_blocks(largest), static_cast<int>(std::max(most / count, 1ul)));
}

}  // namespace

template <class Do>
void inbox_calls::for_each(Do what) const noexcept {
  for (const auto& r : receives_)
    if (r) what(*r);
  for (const auto& s : sends_)
    if (s) what(*s);
}

status inbox_calls::launch(device::stream s) noexcept {
  if (receive_count_ == 1 && receives_[0]->waits_by_kernel()) return receives_[0]->launch_kernel(s);
  if (receive_count_ > 0) {
    TELPHER_TRY(memory::pooled_event::acquire(receives_[0]->where()).into(call_));
    TELPHER_TRY(call_.record(s));
    for (std::size_t i = 0; i < receive_count_; ++i) receives_[i]->set_call(call_);
  }
  return launch_puts(s);
}

status inbox_calls::launch_puts(device::stream s) noexcept {
  kernel::inbox_put_all k;
  std::array<inbox_send*, capacity> puts;
  std::size_t count = 0, largest = 0;
  for (std::size_t i = 0; i < send_count_; ++i) {
    if (!sends_[i]->has_cells()) {
      TELPHER_TRY(sends_[i]->copy(s));
      continue;
    }
    puts[count++] = sends_[i].get();
    largest = std::max(largest, sends_[i]->bytes());
  }
  if (count == 0) return status::ok;
  const int share = share_of(count, largest);
  for (std::size_t i = 0; i < count; ++i) k.each[i] = puts[i]->kernel(share);
  device::backend& owner = *puts[0]->where().owner;
  const int threads = path::inbox_threads(largest);
  if (count == 1) return owner.launch(kernel::id::inbox_put, &k.each[0], share, threads, s);
  k.share = static_cast<std::uint32_t>(share);
  return owner.launch(kernel::id::inbox_put_all, &k, static_cast<int>(count) * share, threads, s);
}

// The sends come behind the receives' event.
bool inbox_calls::is_reached() const noexcept {
  if (send_count_ == 0) return call_.query() == status::ok;
  return std::all_of(sends_.begin(), sends_.begin() + send_count_,
                     [](const auto& s) { return !s || s->is_read(); });
}

bool inbox_calls::poll(int& code) noexcept {
  code = MPI_SUCCESS;
  bool over = true;
  const auto poll_one = [&](auto& op) {
    int own = MPI_SUCCESS;
    if (!op) return;
    if (op->poll(own))
      op.reset();
    else
      over = false;
    if (code == MPI_SUCCESS) code = own;
  };
  for (std::size_t i = 0; i < send_count_; ++i) poll_one(sends_[i]);
  for (std::size_t i = 0; i < receive_count_; ++i) poll_one(receives_[i]);
  return over;
}

// The oldest receive: sends wait for their receivers.
void inbox_calls::describe(char* text, std::size_t bytes) const noexcept {
  bool told = false;
  for_each([&](const auto& op) {
    if (!std::exchange(told, true)) op.describe(text, bytes);
  });
}

void inbox_calls::abandon() noexcept {
  for_each([](auto& op) { op.abandon(); });
}

// One receive gets the blocks of its size, several share some.
status inbox_wait::launch(device::stream s) noexcept {
  device::backend& owner = *all_[0]->where.owner;
  std::size_t largest = 0;
  for (const auto& t : all_) largest = std::max(largest, t->capacity);
  const int share = share_of(all_.size(), largest), threads = path::inbox_threads(largest);
  kernel::inbox_take_all k;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    all_[i]->blocks = share;
    all_[i]->launched = true;
    k.each[i] = all_[i]->kernel;
  }
  k.share = static_cast<std::uint32_t>(share);
  const int blocks = share * static_cast<int>(all_.size());
  const status given = all_.size() == 1
                           ? owner.launch(kernel::id::inbox_take, &k.each[0], blocks, threads, s)
                           : owner.launch(kernel::id::inbox_take_all, &k, blocks, threads, s);
  if (failed(given))
    for (const auto& t : all_) t->launched = false;
  return given;
}

bool inbox_wait::poll(int& code) noexcept {
  code = MPI_SUCCESS;
  return std::all_of(all_.begin(), all_.end(), [](const auto& t) { return t->is_over(); });
}

}  // namespace telpher::mpi
