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

int threads_for(std::size_t bytes) noexcept {
  constexpr std::size_t bytes_each = 16, most = 512;
  return static_cast<int>(std::min((bytes / bytes_each / 32 + 1) * 32, most));
}

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
  cell_ = m.cell;
  copy_ = m.payload.data;
  m.by_stream = true;
  auto o = std::make_unique<ticket::offer>(std::move(m), peer, ticket::sends());
  if (o->send() != status::ok) {
    words_.give_back();
    return false;
  }
  offer_ = o.get();
  ticket::sends().add(std::move(o));
  return true;
}

status inbox_send::launch(device::stream s) noexcept {
  if (cell_) {
    inbox_put k{from_, cell_->at, bytes_, words_.over(), cell_->mark};
    return where_.owner->launch(kernel::id::inbox_put, &k, 1, threads_for(bytes_), s);
  }
  TELPHER_TRY(where_.owner->copy(copy_, from_, bytes_, s));
  return where_.owner->write_value(s, reinterpret_cast<std::uint32_t*>(words_.over()), 1);
}

void inbox_send::end_copy(status copied) noexcept {
  copied_ = true;
  ticket::sends().end_copy(*offer_, copied);
}

// The receiver of a copy of ours may need this rank's help until the send is complete.
inbox_send::need inbox_send::needs() const noexcept {
  if (copied_) return offer_ ? need::messages : need::nothing;
  return kernel_words::is_set(words_.over()) ? need::step : need::nothing;
}

void inbox_send::step() noexcept {
  if (!offer_ || needs() == need::nothing) return;
  if (!copied_) {
    end_copy(status::ok);
    words_.give_back();
  }
  if (!offer_->complete()) return;
  if (offer_->outcome() != status::ok) fail(MPI_ERR_OTHER);
  ticket::sends().release(*std::exchange(offer_, nullptr));
  end();
}

// Its receiver gets an error in place of the message.
void inbox_send::abandon() noexcept {
  if (!offer_) return;
  const ticket::visit v;
  if (!copied_) end_copy(status::device_error);
  ticket::sends().release(*std::exchange(offer_, nullptr));
}

// --- the receiver ---

bool inbox_receive::post(const pt2pt::receive_args& a, const path::inbox& from, std::byte* to,
                         std::size_t capacity, int* rc) noexcept {
  ticket::receive& r = receive();
  if ((*rc = prepare_receive(r, a)) != MPI_SUCCESS) return false;
  words_.emplace(from.where);
  if (!*words_) return false;
  r.abandon();  // the program may free its buffer once the stream has passed, before we know of it
  r.hold();
  ticket::stash& kept = ticket::stash::instance();
  if (kept.empty() || !kept.give(r, a.source, a.tag, a.comm, rc)) *rc = r.post(a.source, a.tag);
  if (*rc != MPI_SUCCESS) return words_->give_back(), false;
  ticket::receives().watch(r);
  where_ = from.where;
  capacity_ = capacity;
  kernel_ = {to, from.base, from.cell_bytes, words_->order(), words_->reached(), words_->over()};
  return true;
}

status inbox_receive::launch(device::stream s) noexcept {
  return where_.owner->launch(kernel::id::inbox_take, &kernel_, 1, threads_for(capacity_), s);
}

inbox_receive::~inbox_receive() {
  if (!request_) return;
  const ticket::visit v;
  request_.reset();
}

inbox_receive::need inbox_receive::needs() const noexcept {
  const auto when = [](bool happened) { return happened ? need::step : need::nothing; };
  switch (phase_) {
    case phase::awaits_message:
    case phase::moves:
      return need::messages;
    case phase::awaits_stream:
      return when(kernel_words::is_set(words_->reached()));
    case phase::fails:
      return need::step;
    case phase::awaits_kernel:  // the words may never come: then the sender says so
      return when(kernel_words::is_set(words_->over()) || request_->receive().is_refused());
    default:
      return when(kernel_words::is_set(words_->over()));
  }
}

void inbox_receive::step() noexcept {
  if (needs() == need::nothing) return;
  switch (phase_) {
    case phase::awaits_message:
      await_message();
      break;
    case phase::awaits_stream:
      ticket::receives().resume(receive());
      phase_ = phase::moves;
      break;
    case phase::awaits_kernel:
      receive().ended_by_stream(kernel_words::is_set(words_->over()) ? status::ok
                                                                     : status::device_error);
      --ordered;
      end_message(MPI_STATUS_IGNORE);
      break;
    case phase::moves:
      if (request_->check()) end_message(out_);
      break;
    case phase::fails:
      end_kernel();
      break;
    case phase::ends:
      words_->give_back();
      end();
      break;
  }
}

// The status is filled before the stream can go on.
void inbox_receive::await_message() noexcept {
  if (asks_host()) ticket::receives().check(receive(), false);
  if (receive().settled()) return static_cast<void>(phase_ = phase::moves);
  if (!receive().waits_for_stream()) return;
  const auto a = receive().in_inbox();
  if (!a) return static_cast<void>(phase_ = phase::awaits_stream);
  receive().fill(out_);
  words_->give_order(inbox_take::order_for(*a));
  ++ordered;
  phase_ = phase::awaits_kernel;
}

void inbox_receive::end_message(MPI_Status* out) noexcept {
  const int code = request_->finish(out);
  request_.reset();
  if (code == MPI_SUCCESS) return end_kernel();
  fail(code);
  phase_ = phase::fails;
}

void inbox_receive::end_kernel() noexcept {
  words_->give_order(inbox_take::moved_by_host);
  phase_ = phase::ends;
}

void inbox_receive::describe(char* text, std::size_t bytes) const noexcept {
  static constexpr const char* waits[] = {"a receive waits for its message",
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
  if (!request_) return;
  words_->give_order(inbox_take::moved_by_host);
  const ticket::visit v;
  receive().cancel();
  if (phase_ == phase::awaits_kernel) {
    receive().ended_by_stream(status::device_error);
    --ordered;
  } else {
    ticket::receives().resume(receive());
  }
  keep_abandoned(std::move(request_));
}

}  // namespace telpher::mpi
