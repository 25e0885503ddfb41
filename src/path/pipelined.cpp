// SPDX-License-Identifier: BSD-3-Clause
#include "path/pipelined.hpp"

#include "base/log.hpp"
#include "host_mpi/test.hpp"
#include "path/table.hpp"

namespace telpher::path {

using host_mpi::test;

namespace {

constexpr std::uint32_t reply_magic = 0x54504c52;
constexpr std::size_t most_early_blocks =
    16;  // of all messages together: limits the pinned memory in use

std::size_t depth() noexcept {
  return static_cast<std::size_t>(config().pipeline_depth);
}

block_plan plan_of(std::size_t bytes) noexcept {
  return {bytes, config().pipeline_block, 0, config().pipeline_threshold};
}

// The limit is long, because a peer may be computing between two MPI calls. It detects a node that
// has stopped, or a cut link that the host MPI does not notice itself.
status lost(const wire& w, const char* what, std::size_t done, std::size_t all) noexcept {
  TELPHER_ERROR(
      "%s rank %d stands still for %.0f s after %zu of %zu blocks: its node or the link is taken "
      "for lost (TELPHER_TRANSFER_TIMEOUT)",
      what, w.peer, config().transfer_timeout.value / 1e6, done, all);
  return status::peer_lost;
}

// For the rows of the table of paths.
bool could_serve(kind by, int peer, std::size_t) noexcept {
  if (by == kind::direct) return direct::serves();
  return by != kind::rdma || rdma::reaches(peer);
}
bool serves(kind by, int peer, std::size_t bytes) noexcept {
  return could_serve(by, peer, bytes) && (by != kind::direct || direct::wanted(bytes));
}

}  // namespace

// --- sender ---

intent intent::of(int peer, std::size_t bytes) noexcept {
  const bool measures = direct::serves();
  return {choose_network(peer, bytes, serves)->name, measures};
}

bool intent::only_blocks(int peer, std::size_t bytes) noexcept {
  return choose_network(peer, bytes, could_serve)->name == kind::pipelined;
}

pipelined_send::pipelined_send(const wire& w, block_end&& from, const intent& meant) noexcept
    : wire_(w),
      from_(std::move(from)),
      plan_(plan_of(from_.bytes())),
      meant_(meant),
      decided_(!meant.announces()),
      copies_(from_.where(), memory::stream_role::out) {
  pmpi::Irecv(&answer_, sizeof answer_, MPI_BYTE, w.peer, w.reply_tag, w.control, &reply_request_);
}

pipelined_send::~pipelined_send() {
  held_bytes_ -= rest_.size();
  if (!asked_ && copies_.started() > 0) --early_blocks_;
  if (reply_request_ == MPI_REQUEST_NULL) return;
  pmpi::Cancel(&reply_request_);  // only when cleaning up after an error
  pmpi::Wait(&reply_request_, MPI_STATUS_IGNORE);
}

status pipelined_send::read_answer() noexcept {
  if (asked_) return status::ok;
  TELPHER_TRY(test(reply_request_));
  asked_ = true;
  clock_.moved();
  if (copies_.started() > 0) --early_blocks_;
  return answer_.magic == reply_magic ? status::ok : status::corrupt;
}

// The sender decides with one message how the bytes go. A pushing sender chooses blocks, because
// nobody may access its memory any more.
status pipelined_send::decide() noexcept {
  if (decided_ || (!asked_ && !pushes_)) return status::ok;
  decided_ = true;
  const bool may_reach = asked_ && !pushes_;
  const bool hands_over = may_reach && meant_.hands_over();
  if (hands_over)
    choice_.how = protocol_choice::direct;
  else
    mover_ = choose_rdma(wire_, from_.contiguous(), answer_.target, may_reach && answer_.writable,
                         choice_);
  if (pmpi::Isend(&choice_, sizeof choice_, MPI_BYTE, wire_.peer, wire_.block_tag(), wire_.control,
                  &choice_request_) != MPI_SUCCESS)
    return status::host_mpi_error;
  if (hands_over) mover_ = send_direct(wire_, from_.contiguous());  // after its choice
  return status::ok;
}

status pipelined_send::poll_mover() noexcept {
  const status s = mover_->poll();
  if (s != status::would_block) return s;
  if (mover_->moved() != moved_) clock_.moved();
  moved_ = mover_->moved();
  return clock_.expired(config().transfer_timeout) ? lost(wire_, "a message to", 0, plan_.count())
                                                   : status::would_block;
}

// The number of blocks that may be started now. With gaps each block that is pushed may take
// temporary device memory until it is copied.
std::size_t pipelined_send::room() const noexcept {
  const std::size_t left = plan_.count() - copies_.started();
  if (pushes_ && !from_.has_gaps()) return left;
  const std::size_t busy = filling_.size() + (pushes_ ? 0 : flying_.size());
  if (asked_ || pushes_) return busy < depth() ? std::min(left, depth() - busy) : 0;
  return decided_ && copies_.started() == 0 && early_blocks_ < most_early_blocks ? 1 : 0;
}

status pipelined_send::fill() noexcept {
  for (std::size_t n = room(); n > 0; --n) {
    const std::size_t k = copies_.started();
    flight f{{}, nullptr, MPI_REQUEST_NULL};
    auto* to = static_cast<std::byte*>(rest_.data()) + (plan_.offset(k) - rest_at_);
    if (!pushes_) {
      auto block = memory::buffer::host(plan_.size(k), from_.where().owner, true);
      TELPHER_TRY(block);
      f.block = std::move(*block);
      to = static_cast<std::byte*>(f.block.data());
    }
    f.data = to;
    const bool pinned = pushes_ ? rest_.pinned() : f.block.pinned();
    TELPHER_TRY(from_.read(plan_.offset(k), plan_.size(k), to, pinned, copies_));
    if (k == 0 && !asked_) ++early_blocks_;
    filling_.push_back(std::move(f));
  }
  return status::ok;
}

// Passes the blocks that are in host memory to the host MPI. The first one needs no answer.
status pipelined_send::launch() noexcept {
  auto finished = copies_.finished();
  TELPHER_TRY(finished);
  copied_ = *finished;
  for (; sent_ < copied_ && may_leave(); ++sent_) {
    flying_.push_back(std::move(filling_.front()));
    filling_.pop_front();
    flight& f = flying_.back();
    if (pmpi::Isend(f.data, static_cast<int>(plan_.size(sent_)), MPI_BYTE, wire_.peer,
                    wire_.block_tag(), wire_.control, &f.request) != MPI_SUCCESS)
      return status::host_mpi_error;
    clock_.moved();
  }
  return status::ok;
}

// After this only the host MPI has work in flight.
void pipelined_send::fail(status why) noexcept {
  outcome_ = why;
  pushes_ = true;
  copies_.stop();
  filling_.clear();
  copied_ = plan_.count();
}

// Starts what may be started: blocks or, after an error, empty messages in place of blocks.
status pipelined_send::feed() noexcept {
  if (outcome_ == status::ok) {
    status s = fill();
    if (s == status::ok) s = launch();
    if (s == status::ok || s == status::host_mpi_error) return s;
    fail(s);
  }
  for (; sent_ < plan_.count(); ++sent_) {
    flying_.push_back({{}, nullptr, MPI_REQUEST_NULL});
    if (pmpi::Isend(nullptr, 0, MPI_BYTE, wire_.peer, wire_.block_tag(), wire_.control,
                    &flying_.back().request) != MPI_SUCCESS)
      return status::host_mpi_error;
  }
  return status::ok;
}

status pipelined_send::reap() noexcept {
  while (!flying_.empty()) {
    const status s = test(flying_.front().request);
    if (s == status::would_block) return status::ok;
    TELPHER_TRY(s);
    flying_.pop_front();
    clock_.moved();
  }
  return status::ok;
}

status pipelined_send::poll() noexcept {
  const status heard = read_answer();
  if (heard == status::corrupt)
    fail(heard);
  else if (heard != status::ok && heard != status::would_block)
    return heard;
  TELPHER_TRY(decide());
  if (choice_request_ != MPI_REQUEST_NULL) {
    const status s = test(choice_request_);
    if (s != status::ok && (mover_ || s != status::would_block)) return s;
  }
  if (mover_) {
    const status s = poll_mover();
    if (s == status::ok) learn();
    return s;
  }
  TELPHER_TRY(reap());
  TELPHER_TRY(feed());
  if (asked_ && gone()) {
    learn();
    return outcome_;
  }
  if (asked_ && clock_.expired(config().transfer_timeout))
    return lost(wire_, "a message to", sent_ - flying_.size(), plan_.count());
  return status::would_block;
}

// If RDMA serves, a message sent in blocks is no measurement of plain blocks, which direct competes
// with.
void pipelined_send::learn() const noexcept {
  if (!meant_.measures || pushes_ || meant_.by == kind::rdma) return;
  direct::learn(from_.bytes(), meant_.hands_over(), now_ns() - since_ns_);
}

status pipelined_send::push() noexcept {
  if (pushes_) return status::ok;
  const std::size_t bytes = from_.bytes();
  rest_at_ = copies_.started() < plan_.count() ? plan_.offset(copies_.started()) : bytes;
  if (rest_at_ < bytes) {
    TELPHER_TRY(memory::buffer::host(bytes - rest_at_, from_.where().owner).into(rest_));
    rest_.filled();
    held_bytes_ += rest_.size();
  }
  pushes_ = true;
  return status::ok;
}

// --- receiver ---

pipelined_receive::pipelined_receive(const wire& w, block_end&& to, bool announced) noexcept
    : wire_(w),
      to_(std::move(to)),
      plan_(plan_of(to_.bytes())),
      chosen_(!announced),
      copies_(to_.where(), memory::stream_role::in) {
  answer_ = {reply_magic, 0, {}};
  if (announced) {
    target_ = reachable::of(to_.contiguous());
    if (target_) answer_ = {reply_magic, 1, target_.name()};
    pmpi::Irecv(&choice_, sizeof choice_, MPI_BYTE, w.peer, w.block_tag(), w.control,
                &choice_request_);
  }
  pmpi::Isend(&answer_, sizeof answer_, MPI_BYTE, w.peer, w.reply_tag, w.control, &reply_request_);
}

pipelined_receive::~pipelined_receive() {
  if (reply_request_ != MPI_REQUEST_NULL) pmpi::Wait(&reply_request_, MPI_STATUS_IGNORE);
}

status pipelined_receive::read_choice() noexcept {
  if (chosen_) return status::ok;
  TELPHER_TRY(test(choice_request_));
  if (choice_.how == protocol_choice::direct && to_.drops()) {
    auto b = memory::buffer::host(to_.bytes(), nullptr);
    if (!b) return status::would_block;  // the sender waits; try again at the next poll
    nowhere_ = std::move(*b);
    to_.set_contiguous(static_cast<std::byte*>(nowhere_.data()));
  }
  chosen_ = true;
  clock_.moved();
  if (choice_.how == protocol_choice::blocks) return status::ok;
  if (choice_.how == protocol_choice::direct) {
    mover_ = receive_direct(wire_, to_.contiguous());
    return status::ok;
  }
  if ((choice_.how != protocol_choice::read && choice_.how != protocol_choice::write) || !target_)
    return status::corrupt;
  mover_ = accept_rdma(wire_, to_.bytes(), std::move(target_), choice_);
  return status::ok;
}

status pipelined_receive::poll_mover() noexcept {
  const status s = mover_->poll();
  if (s == status::ok) landed_ = plan_.count();
  if (s != status::would_block) return s;
  if (mover_->moved() != moved_) clock_.moved();
  moved_ = mover_->moved();
  return status::ok;
}

status pipelined_receive::post() noexcept {
  while (next_ < plan_.count() && posted_.size() + landing_.size() < depth()) {
    flight f{{}, MPI_REQUEST_NULL, next_};
    std::byte* into = nullptr;
    if (to_.drops() || to_.where().on_device()) {
      auto block = memory::buffer::host(plan_.size(next_), to_.where().owner, true);
      TELPHER_TRY(block);
      f.block = std::move(*block);
      into = static_cast<std::byte*>(f.block.data());
    } else {
      into = to_.contiguous().data + plan_.offset(next_);
    }
    if (pmpi::Irecv(into, static_cast<int>(plan_.size(next_)), MPI_BYTE, wire_.peer,
                    wire_.block_tag(), wire_.control, &f.request) != MPI_SUCCESS)
      return status::host_mpi_error;
    posted_.push_back(std::move(f));
    ++next_;
  }
  return status::ok;
}

status pipelined_receive::land() noexcept {
  while (!posted_.empty()) {
    flight& f = posted_.front();
    std::size_t bytes = 0;
    const status s = test(f.request, bytes);
    if (s == status::would_block) break;
    TELPHER_TRY(s);
    clock_.moved();
    if (!to_.drops() && bytes != plan_.size(f.index))
      return status::device_error;  // the sender failed
    if (to_.where().on_device()) {
      TELPHER_TRY(to_.write(plan_.offset(f.index), plan_.size(f.index), f.block.data(),
                            f.block.pinned(), copies_));
      landing_.push_back(std::move(f.block));
    } else {
      ++landed_;
    }
    posted_.pop_front();
  }
  return status::ok;
}

// Landing blocks may free memory for another block.
status pipelined_receive::advance_blocks() noexcept {
  const status posted = post();
  TELPHER_TRY(land());
  if (!to_.where().on_device()) return posted;
  auto finished = copies_.finished();
  TELPHER_TRY(finished);
  for (; landed_ < *finished; ++landed_) landing_.pop_front();
  return posted;
}

// From here on a block counts as landed when it has arrived. A block whose landing failed is still
// in the list of posted ones, without a request.
void pipelined_receive::fail(status why) noexcept {
  outcome_ = why;
  copies_.stop();
  landed_ += landing_.size();
  landing_.clear();
  to_.drop();
}

status pipelined_receive::poll() noexcept {
  if (const status s = read_choice(); s != status::ok && s != status::would_block) return s;
  if (mover_ && landed_ < plan_.count()) {
    TELPHER_TRY(poll_mover());
  } else if (chosen_ && !mover_) {
    const status s = advance_blocks();
    if (s == status::host_mpi_error) return s;
    if (s != status::ok && outcome_ == status::ok) fail(s);
  }
  if (reply_request_ != MPI_REQUEST_NULL) {
    const status s = test(reply_request_);
    if (s != status::ok && s != status::would_block) return s;
  }
  if (landed_ == plan_.count() && reply_request_ == MPI_REQUEST_NULL) return outcome_;
  if (clock_.expired(config().transfer_timeout))
    return lost(wire_, "a message from", landed_, plan_.count());
  return status::would_block;
}

}  // namespace telpher::path
