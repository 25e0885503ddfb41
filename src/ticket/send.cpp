// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/send.hpp"

#include <algorithm>
#include <cstdio>

#include "ticket/sends.hpp"

namespace telpher::ticket {

using path::slot_state;

namespace {

std::uint64_t nanoseconds(duration_us d) noexcept {
  return static_cast<std::uint64_t>(d.value * 1e3);
}

// The states of which the receiver's bell tells.
bool is_answer(slot_state s) noexcept {
  return s == slot_state::done || s == slot_state::pipe_asked || s == slot_state::put_asked;
}

}  // namespace

send::send(message&& m, int peer, send_list& all) noexcept
    : all_(all), peers_(all.peers()), message_(std::move(m)), peer_(peer) {}

send::~send() {
  all_.note_copied(*this);
  if (message_.cells) path::give_cells(peer_, *message_.cells);
  if (cell_) peers_.own().give_slot(use_);
  if (remote_) peers_.give_reply_tag(peer_, reply_tag_);
}

bool send::carrier_gone() noexcept {
  if (carrier_ == MPI_REQUEST_NULL) return true;
  int flag = 0;
  if (const int rc = pmpi::Test(&carrier_, &flag, MPI_STATUS_IGNORE); rc != MPI_SUCCESS) {
    host_error_ = rc;
    complete(status::host_mpi_error);
    carrier_ = MPI_REQUEST_NULL;
    flag = 1;
  }
  awaits_carrier_ = !flag;
  return flag != 0;
}

// The host MPI may find out late that the ticket reaches nobody: the communicator was revoked, or
// the receiver's process has failed. Then no receiver answers.
bool send::undeliverable() noexcept {
  return carrier_ != MPI_REQUEST_NULL && carrier_gone() && host_error_ != MPI_SUCCESS;
}

// A message that has left stays until the end of the job, where all ranks count it
// (unasked_messages).
void send::withdraw() noexcept {
  if (remote_ && remote_->unasked_messages() > 0) {
    remote_->fail(status::host_mpi_error);
    return complete(status::host_mpi_error);
  }
  if (on_node()) {
    if (!cell_->take(use_.epoch, slot_state::staging)) return;
    cell_->set(use_.epoch, slot_state::refused);
    withdrawn_ = true;
  }
  finish(status::host_mpi_error);
}

// A probe may have taken the ticket. The receiver reports a receive itself, unless it is blocked in
// the host MPI; then a posted receive has matched.
bool send::matched_while_blocked() noexcept {
  return carrier_gone() && peers_.blocked(peer_) &&
         cell_->probed.load(std::memory_order_acquire) != use_.epoch;
}

// --- progress ---

bool send::advance(std::uint64_t now) noexcept {
  if (retired_) return false;
  if (on_node()) return advance_on_node(now);
  advance_off_node();
  return false;
}

// Whether the payload is complete; asked until it is, or cannot be.
status send::prepared() noexcept {
  if (!message_.ready) return status::ok;
  const status s = message_.ready.query();
  if (s == status::would_block) return s;
  message_.ready = {};
  message_.packs = {};
  return s;
}

void send::prepare() noexcept {
  const status s = prepared();
  if (s == status::would_block) return;
  cell_->set(use_.epoch, s == status::ok ? slot_state::ready : slot_state::refused);
  if (s != status::ok) complete(s);
}

bool send::advance_on_node(std::uint64_t now) noexcept {
  const slot_state state = cell_->state_in(use_.epoch);
  const bool answered = is_answer(state) && state != answer_;
  if (answered) answer_ = state;
  switch (state) {
    case slot_state::preparing:
      if (!message_.by_stream) prepare();
      break;
    case slot_state::ready:
      consider_staging(now);
      break;
    case slot_state::pipe_asked:
    case slot_state::put_asked:
      peers_.note_help(peer_);
      if (!transfer_ && !start_answer(state)) break;
      [[fallthrough]];
    case slot_state::piping:
    case slot_state::staging:
      if (transfer_) run(*transfer_);
      break;
    case slot_state::done:
      if (!bytes_left_ && !message_.cells) peers_.note_pull(peer_);
      finish(status::ok);
      return answered;
    case slot_state::refused:
      if (withdrawn_) finish(status::host_mpi_error);
      break;
    default:
      break;
  }
  if (bytes_left_ && !complete_ && (!message_.synchronous || matched_while_blocked()))
    complete(status::ok);
  return answered;
}

// A message in a cell is complete; its receiver's stream may have taken it by now. A payload in our
// own memory goes on like any other message.
void send::end_copy(status copied) noexcept {
  message_.by_stream = false;
  if (message_.cells) {
    cell_->end_coming(use_.epoch, copied == status::ok ? slot_state::arrived : slot_state::refused);
    bytes_left_ = true;
    complete(copied);
  } else {
    cell_->set(use_.epoch, copied == status::ok ? slot_state::ready : slot_state::refused);
    if (copied != status::ok) complete(copied);
  }
}

status start_packing(const message& m, memory::buffer& to, memory::pooled_event& done) noexcept {
  const unpacked& u = *m.in_place;
  const memory::place& where = m.payload.where;
  TELPHER_TRY(memory::buffer::device(where, m.payload.bytes).into(to));
  const auto s = memory::stream(where, memory::stream_role::kernel);
  TELPHER_TRY(s);
  auto event = memory::pooled_event::acquire(where);
  TELPHER_TRY(event);
  TELPHER_TRY(datatype::pack(*where.owner, *u.layout, u.buffer, u.count, to.data(), *s));
  const status recorded = event->record(*s);
  if (failed(recorded))
    memory::wait_for(where, memory::stream_role::kernel);
  else
    done = std::move(*event);
  return recorded;
}

// Makes the payload contiguous, if it is not. would_block: the device is at it.
status send::pack() noexcept {
  if (!message_.in_place) return status::ok;
  if (!packing_) TELPHER_TRY(start_packing(message_, message_.packed, packing_));
  TELPHER_TRY(packing_.query());
  packing_ = {};
  message_.in_place.reset();
  message_.payload.data = static_cast<std::byte*>(message_.packed.data());
  return status::ok;
}

// A receiver may come, and take the payload as it is, while the device packs it.
bool send::packs() noexcept {
  if (packing_ && packing_.query() != status::would_block) packing_ = {};
  return static_cast<bool>(packing_);
}

// False: not yet, or it cannot be done, which the state then says.
bool send::start_answer(slot_state asked) noexcept {
  const status s = pack();
  if (s == status::would_block) return false;
  if (s == status::ok) return (transfer_ = answer(asked)) != nullptr;
  cell_->set(use_.epoch, slot_state::refused);
  put_refused_ = asked == slot_state::put_asked;
  if (!put_refused_) complete(s);
  return false;
}

std::unique_ptr<path::transfer> send::answer(slot_state asked) noexcept {
  path::send_end e{message_.payload};
  e.own = &peers_.own();
  e.cell = cell_;
  e.epoch = use_.epoch;
  e.peer = peer_;
  return path::answer(asked, e);
}

// If the transfer failed, the slot says refused. After a failed put the receiver asks for blocks,
// so the payload stays.
void send::run(path::transfer& t) noexcept {
  const status s = t.poll();
  if (s == status::would_block) return;
  all_.note_copied(*this);
  stored_ = t.keep_memory();
  transfer_.reset();
  if (s == status::ok) {
    bytes_left_ = true;
    return;
  }
  put_refused_ = cell_->state_in(use_.epoch) == slot_state::put_asked;
  cell_->set(use_.epoch, slot_state::refused);
  if (!put_refused_) complete(s);
}

// The receiver is late. Copy a small message, one at a time: a receiver that comes meanwhile takes
// the others directly. If it is blocked in the host MPI, or is this rank, copy any size.
void send::consider_staging(std::uint64_t now) noexcept {
  const std::size_t bytes = message_.payload.bytes;
  const auto& where = message_.payload.where;
  if (hasty_) return stage(path::staging_piece::take_any(peers_.own(), bytes, where.owner));
  // A receiver that answers other messages is there: it will come to this one.
  if (now < std::max(since_ns(now), all_.last_answer_ns()) + nanoseconds(config().eager_patience))
    return;
  if (undeliverable()) return withdraw();
  const bool own_message = peer_ == peers_.job().rank;
  if (own_message || peers_.blocked(peer_))
    return stage(path::staging_piece::take_any(peers_.own(), bytes, where.owner));
  if (bytes > config().eager_limit || all_.copies_ahead()) return;
  stage(path::staging_piece::take(peers_.own(), bytes, where.owner));
  if (transfer_) all_.note_copied_ahead(*this);
}

// Loses nothing if the receiver claims first, and nothing if there is no room: it stays as it is.
void send::stage(std::unique_ptr<path::staging_piece> room) noexcept {
  if (!room || pack() != status::ok || !cell_->take(use_.epoch, slot_state::staging)) return;
  transfer_ =
      std::make_unique<path::staged_whole>(*cell_, use_.epoch, message_.payload, std::move(room));
  run(*transfer_);
}

void send::advance_off_node() noexcept {
  if (!remote_) return finish(outcome_);
  if (const status s = prepared(); s != status::ok) {
    if (s == status::would_block) return;
    remote_->fail(s);
  }
  const bool heard = remote_->asked();
  if (const status s = remote_->poll(); s != status::would_block) return finish(s);
  if (!heard && remote_->asked()) peers_.note_answer(peer_);
  if (bytes_safe() && !complete_ && (!message_.synchronous || remote_->asked() || carrier_gone()))
    complete(remote_->outcome());
  if (!remote_->asked() && !remote_->pushes()) consider_push();
}

// The program may go away once a send is complete, and call MPI no more for long. A block that the
// host MPI only has may still need this process: over TCP the receiver would wait for it. But a
// receiver that does not answer may be blocked in the host MPI, and wait there for this rank. Then
// it is enough that the host MPI has all blocks.
bool send::bytes_safe() const noexcept {
  const bool silent = remote_->pushes() && !remote_->asked();
  return silent ? remote_->handed_over() : remote_->delivered();
}

// The receiver has not answered. Its bell is rung once. Later the bytes are copied to host memory,
// from where the host MPI moves them. Blocks would go through host memory anyway, so a push costs
// memory alone. The patience is short while pushed messages use little of it. A message that can go
// without a copy waits longer.
void send::consider_push() noexcept {
  if (undeliverable()) return withdraw();
  const std::uint64_t waited = now_ns() - std::max(since_ns_, peers_.last_answer_of(peer_));
  if (!rung_ && waited > nanoseconds(config().eager_patience)) {
    rung_ = true;
    if (!peers_.shares_node(peer_)) peers_.ring(peer_);
  }
  const std::size_t bytes = path::pipelined_send::held_bytes() + message_.payload.bytes;
  const bool cheap = bytes <= config().push_memory && !remote_->announced();
  if (hasty_ || waited > nanoseconds(cheap ? config().push_patience : config().rescue_patience))
    push();
}

// --- ends ---

// No memory: it stays as it is, and is asked again.
void send::push() noexcept {
  if (remote_ && !remote_->asked() && remote_->push() == status::ok) advance_off_node();
}

void send::hasten() noexcept {
  if (complete_) return;
  hasty_ = true;
  if (!visited) advance(now_ns());
}

bool send::copying() const noexcept {
  if (retired_) return false;
  return on_node() ? transfer_ != nullptr : remote_ && remote_->copying();
}

// A receiver that has taken our messages by itself so far may still be unable to open the memory of
// this one. It would then wait for this rank, which waits for it. It gets a moment to come by
// itself, because that saves two copies. This rank relies on it if the arena has no room: shared
// memory that is made for one message is only for receivers that may need it.
bool send::detach() noexcept {
  if (!needs_us()) return true;
  if (!on_node()) {
    push();
    return !needs_us();
  }
  if (message_.ready) prepare();
  if (cell_->state_in(use_.epoch) != slot_state::ready) return false;
  // A strided payload can be read into device memory only.
  const bool likely = exportable_ && !message_.in_place && peers_.pulls(peer_);
  const std::uint64_t now = now_ns();
  if (likely && now - since_ns(now) < nanoseconds(config().eager_patience)) return false;
  const auto& take = likely ? path::staging_piece::take : path::staging_piece::take_any;
  auto room = take(peers_.own(), message_.payload.bytes, message_.payload.where.owner);
  if (!room) return likely;
  stage(std::move(room));
  return !needs_us();
}

// Whether the receiver may be unable to get the bytes without this rank making progress.
bool send::needs_us() const noexcept {
  if (retired_) return false;
  if (!on_node()) return remote_ && !remote_->all_sent();
  switch (cell_->state_in(use_.epoch)) {
    case slot_state::pipe_asked:
    case slot_state::piping:
      return !bytes_left_;
    case slot_state::preparing:
      return !message_.by_stream;  // the proxy goes on with it
    case slot_state::staging:
    case slot_state::put_asked:
    case slot_state::ready:
    case slot_state::claimed:  // what it will ask for is not known yet
      return true;
    case slot_state::refused:  // after a put it asks for blocks next
      return put_refused_;
    default:
      return false;
  }
}

void send::complete(status outcome) noexcept {
  if (complete_) return;
  complete_ = true;
  if (trace::on()) complete_ns_ = now_ns();
  outcome_ = outcome;
  message_.cached.release();
  // After an error of the host MPI the device may still be writing it.
  if (message_.ready) [[maybe_unused]]
    auto* kept = new (std::nothrow) memory::buffer(std::move(message_.packed));
  if (!packing_) message_.packed = {};
}

void send::finish(status outcome) noexcept {
  if (failed(outcome)) {
    complete(outcome);
    if (remote_ && !remote_->quiet()) static_cast<void>(remote_.release());  // in use
  }
  if (!carrier_gone()) return;  // `wire_bytes` are still in use
  complete(outcome);
  if (packs()) return;
  retired_ = true;
  if (trace::on()) [[unlikely]]
    record();
  stored_.reset();
  transfer_.reset();
}

void send::record() const noexcept {
  trace::facts f;
  f.add("to", peer_).add("tag", message_.tag);
  f.add("bytes", static_cast<long long>(message_.payload.bytes));
  f.add("id", ticket_id(use_.index, use_.epoch, reply_tag_));
  f.add("complete", static_cast<long long>(complete_ns_));
  trace::record("send", "device message", since_ns_, now_ns(), f);
}

void send::describe(char* text, std::size_t bytes) const noexcept {
  std::snprintf(text, bytes, "send of %zu bytes to rank %d, tag %d: %s%s", message_.payload.bytes,
                peer_, message_.tag,
                on_node() ? to_string(cell_->state_in(use_.epoch))
                          : (remote_ && remote_->asked() ? "blocks on their way" : "no answer yet"),
                complete_ ? " (complete, receiver not done)" : "");
}

}  // namespace telpher::ticket
