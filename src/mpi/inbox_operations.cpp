// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/inbox_operations.hpp"

#include <algorithm>
#include <utility>

#include "ticket/stash.hpp"

namespace telpher::mpi {

using kernel::inbox_put;
using kernel::inbox_take;

namespace {

int threads_for(std::size_t bytes) noexcept {
  constexpr std::size_t bytes_each = 16, most = 512;
  return static_cast<int>(std::min((bytes / bytes_each / 32 + 1) * 32, most));
}

// The engine looks for all messages at once: the first operation of each look of the proxy's makes
// it do so. True for that one.
bool move_engine() noexcept {
  static std::uint64_t last = 0;
  if (std::exchange(last, stream::looks()) == stream::looks()) return false;
  ticket::progress().poll();
  return true;
}

}  // namespace

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
bool inbox_send::poll(int& code) noexcept {
  if (!copied_ && !kernel_words::is_set(words_.over())) return false;
  const ticket::visit v;
  if (!copied_) {
    end_copy(status::ok);
    words_.give_back();
  }
  move_engine();
  if (!offer_->complete()) return false;
  const status s = offer_->outcome();
  code = s == status::ok ? MPI_SUCCESS : MPI_ERR_OTHER;
  ticket::sends().release(*offer_);
  return true;
}

// Its receiver gets an error in place of the message.
void inbox_send::abandon() noexcept {
  const ticket::visit v;
  if (!copied_) end_copy(status::device_error);
  ticket::sends().release(*offer_);
}

// --- the receiver ---

bool inbox_receive::post(const pt2pt::receive_args& a, const path::inbox& from, std::byte* to,
                         std::size_t capacity, int* rc) noexcept {
  ticket::receive& r = receive();
  if ((*rc = prepare_receive(r, a)) != MPI_SUCCESS) return false;
  words_.emplace(from.where);
  if (!*words_) return false;
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

// A bell tells the engine of tickets only: the host MPI is asked for other messages, for the oldest
// receive in each look, for all now and then. The status is filled before the stream can go on.
void inbox_receive::await_message() noexcept {
  constexpr std::uint64_t looks_between = 16;
  const ticket::visit v;
  if (move_engine() || stream::looks() % looks_between == 0)
    ticket::receives().check(receive(), false);
  if (receive().settled()) return static_cast<void>(phase_ = phase::moves);
  if (!receive().waits_for_stream()) return;
  const auto a = receive().in_inbox();
  if (!a) return static_cast<void>(phase_ = phase::awaits_stream);
  receive().fill(out_);
  words_->give_order(inbox_take::order_for(*a));
  phase_ = phase::awaits_kernel;
}

// The words may never come: then the sender says so, and the kernel is told.
void inbox_receive::await_kernel() noexcept {
  const bool over = kernel_words::is_set(words_->over());
  if (!over && !receive().is_refused()) return;
  const ticket::visit v;
  receive().ended_by_stream(over ? status::ok : status::device_error);
  end(request_->finish(MPI_STATUS_IGNORE));
}

void inbox_receive::move() noexcept {
  const ticket::visit v;
  move_engine();
  if (request_->check()) end(request_->finish(out_));
}

bool inbox_receive::poll(int& code) noexcept {
  if (phase_ == phase::fails) end_kernel();
  if (phase_ == phase::awaits_message) await_message();
  if (phase_ == phase::awaits_kernel) await_kernel();
  if (phase_ == phase::awaits_stream && kernel_words::is_set(words_->reached())) {
    const ticket::visit v;
    ticket::receives().resume(receive());
    phase_ = phase::moves;
  }
  if (phase_ == phase::moves) move();
  code = std::exchange(code_, MPI_SUCCESS);
  if (phase_ != phase::ends || !kernel_words::is_set(words_->over())) return false;
  words_->give_back();
  return true;
}

void inbox_receive::describe(char* text, std::size_t bytes) const noexcept {
  static constexpr const char* waits[] = {"a receive waits for its message",
                                          "a receive waits for the bytes of a stream",
                                          "a message waits for its stream",
                                          "a message is on its way",
                                          "a receive has failed",
                                          "a receive's kernel has not ended"};
  char what[120];
  request_->receive().describe(what, sizeof what);
  std::snprintf(text, bytes, "%s (%s)", waits[static_cast<int>(phase_)], what);
}

// Nothing writes the buffer any more, and what comes for it ends in an error of the device.
void inbox_receive::abandon() noexcept {
  if (phase_ == phase::fails || phase_ == phase::ends) return;
  words_->give_order(inbox_take::moved_by_host);
  const ticket::visit v;
  receive().cancel();
  if (phase_ == phase::awaits_kernel)
    receive().ended_by_stream(status::device_error);
  else
    ticket::receives().resume(receive());
  keep_abandoned(std::move(request_));
}

void inbox_receive::end_kernel() noexcept {
  words_->give_order(inbox_take::moved_by_host);
  phase_ = phase::ends;
}

// An error is known to the proxy before the stream goes on.
void inbox_receive::end(int code) noexcept {
  code_ = code;
  if (code == MPI_SUCCESS)
    end_kernel();
  else
    phase_ = phase::fails;
}

}  // namespace telpher::mpi
