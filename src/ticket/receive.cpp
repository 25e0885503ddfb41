// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/receive.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "host_mpi/received.hpp"
#include "path/staged.hpp"
#include "ticket/receives.hpp"

namespace telpher::ticket {

using path::slot_state;

namespace {

constexpr std::size_t page_bytes = 4096;

}  // namespace

// --- the message is here ---

void receive::check(bool last) noexcept {
  if (phase_ != phase::posted || native_ == MPI_REQUEST_NULL) return;
  int flag = 0;
  MPI_Status s{};
  const int rc = last ? pmpi::Test(&native_, &flag, &s) : host_mpi::look_at(native_, &flag, &s);
  if (rc != MPI_SUCCESS) {  // where the request is left, finish() gets the code with it
    if (native_ == MPI_REQUEST_NULL) native_error_ = rc;
    status_ = s;
    return settle(status::ok);
  }
  if (flag) arrived(s);
}

void receive::ended(const MPI_Status& envelope, int code) noexcept {
  if (code == MPI_SUCCESS) return arrived(envelope);
  native_error_ = code;
  owes_handler_ = !host_mpi::end_some_raises;
  status_ = envelope;
  settle(status::ok);
}

void receive::take(const void* bytes, std::size_t count, const MPI_Status& envelope) noexcept {
  if (trace::on()) [[unlikely]] {
    note_start();
    note_arrival(more_->posted_ns);
  }
  status_ = envelope;
  bytes_ = count;
  const auto* first = static_cast<const std::byte*>(bytes);
  if (may_be_ticket(count) && is_ticket(first, peers_.job().nonce)) return redeem(first);
  if (!lands_) {  // plain bytes for a host buffer
    const std::size_t n = std::min(bytes_, capacity_);
    write_host(first, n);
    return settle(bytes_ > capacity_ ? status::truncated : status::ok);
  }
  std::memcpy(landed(), first, count);
  raw_arrived(landed());
}

void receive::arrived(const MPI_Status& envelope) noexcept {
  if (trace::on()) [[unlikely]]
    note_arrival(now_ns());
  status_ = envelope;
  if (cancel_asked_) {
    int cancelled = 0;
    pmpi::Test_cancelled(&status_, &cancelled);
    if (cancelled) return settle(status::ok);
  }
  bytes_ = host_mpi::bytes_of(status_);
  if (may_be_ticket(bytes_)) {
    std::byte scratch[ticket_bytes];
    const std::byte* first = first_bytes(scratch);
    if (is_ticket(first, peers_.job().nonce)) return redeem(first);
  }
  if (!lands_) return settle(status::ok);
  raw_arrived(landed());
}

void receive::raw_arrived(const std::byte* landed) noexcept {
  if (held_) return static_cast<void>(phase_ = phase::redeemed);
  if (failed(outcome_)) return settle(outcome_);  // it was given up
  if (bytes_ > page_bytes && more_) more_->landing.filled();
  if (bytes_ > capacity_) return settle(status::truncated);
  if (bytes_ == 0) return settle(status::ok);
  if (!where_.on_device()) {
    write_host(landed, bytes_);
    return settle(status::ok);
  }
  auto to = destination();
  if (!to) return settle(to.error());
  path::receive_end e{.between = path::eager, .to = *to, .landed = landed, .in_place = one_run()};
  e.landed_pinned = more_ && landed == more_->landing.data() && more_->landing.pinned();
  const path::record* const chosen = path::start_receive(e);
  if (!e.transfer) {
    moved_by_ = chosen->name;
    path::count(moved_by_, bytes_);
    return settle(status::ok);
  }
  more().transfer = std::move(e.transfer);
  phase_ = phase::moving;
}

// Where contiguous bytes go first. No device writes where a ticket may lie (written_ranges.hpp).
result<path::region> receive::destination() noexcept {
  if (!entered_ && !where_.on_device() && capacity_ > 0) enter_range(false);
  const bool aside = entered_ && all_.written().exposed(range());
  if (one_run() && !aside) return path::region{where_, contiguous_data(), bytes_};
  TELPHER_TRY(memory::buffer::in(where_, bytes_).into(more().packed));
  return path::region{where_, static_cast<std::byte*>(more_->packed.data()), bytes_};
}

// --- bytes on their way ---

bool receive::advance() noexcept {
  if (phase_ != phase::moving) return settled();
  if (unpacking()) return scattered();
  if (!more_->transfer) {
    if (sender_prepares()) return false;
    begin();
    return settled();
  }
  status s = more_->transfer->poll();
  if (s == status::would_block) return false;
  if (failed(s) && !more_->transfer->quiet()) {  // its blocks and `packed` may still be written to
    [[maybe_unused]] auto* kept = more_->transfer.release();
    [[maybe_unused]] auto* bytes = new memory::buffer(std::move(more_->packed));
    settle(outcome_ == status::ok ? s : outcome_);
    return true;
  }
  const bool owes_answer = more_->transfer->owes_answer();
  if (s == status::not_supported && put_refused()) {
    path::segment& sender = peers_.segment_of(told().sender);
    path::slot& cell = sender.cell(told().slot);
    cell.set(told().epoch, slot_state::claimed);
    const path::region to{
        where_, more_->packed ? static_cast<std::byte*>(more_->packed.data()) : contiguous_data(),
        bytes_};
    more_->transfer = std::make_unique<path::staged_receive>(sender, cell, told().epoch, to);
    return false;
  }
  if (s == status::ok && outcome_ == status::ok) {
    moved_by_ = more_->transfer->moved_by();
    path::count(moved_by_, bytes_);
    s = scatter();
  }
  more_->transfer.reset();  // ends the use of the sender's memory before the sender is told
  if (owes_answer) release_sender();
  if (unpacking() && s == status::ok) return false;
  settle(outcome_ == status::ok ? s : outcome_);
  return true;
}

bool receive::scattered() noexcept {
  const status s = more_->unpacked.query();
  if (s == status::would_block) return false;
  more_->unpacked = {};
  settle(s);
  return true;
}

// Only starts to unpack into a device's buffer: the unpacking of several messages overlaps.
status receive::scatter() noexcept {
  if (!more_->packed) return status::ok;
  if (!where_.on_device()) {
    write_host(more_->packed.data(), bytes_);
    return status::ok;
  }
  auto s = memory::stream(where_, memory::stream_role::kernel);
  TELPHER_TRY(s);
  const status started = start_unpacking(*s);
  if (started != status::ok)
    memory::wait_for(where_, memory::stream_role::kernel);  // for a part of it
  return started;
}

status receive::start_unpacking(device::stream s) noexcept {
  const auto whole = static_cast<MPI_Count>(bytes_ / layout_->size);
  TELPHER_TRY(datatype::unpack(*where_.owner, *layout_, more_->packed.data(), user_, whole, s));
  // A message may end inside an element: its last blocks are copied one by one.
  std::size_t done = static_cast<std::size_t>(whole) * layout_->size;
  const std::byte* from = static_cast<const std::byte*>(more_->packed.data());
  for (const auto& block : layout_->blocks) {
    if (done == bytes_) break;
    const std::size_t n = std::min<std::size_t>(block.bytes, bytes_ - done);
    TELPHER_TRY(
        where_.owner->copy(user_ + whole * layout_->extent + block.offset, from + done, n, s));
    done += n;
  }
  auto event = memory::pooled_event::acquire(where_);
  TELPHER_TRY(event);
  TELPHER_TRY(event->record(s));
  more_->unpacked = std::move(*event);
  return status::ok;
}

void receive::settle(status outcome) noexcept {
  outcome_ = outcome;
  phase_ = phase::settled;
  if (entered_) leave_range();
  cached_.release();
  if (!more_) return;
  if (more_->packed) more_->packed = {};
  if (more_->arrived_ns != 0 && trace::on()) [[unlikely]]
    record();
}

// For a message that was no ticket we know only the sender's rank in the communicator.
void receive::record() const noexcept {
  const auto source = static_cast<std::size_t>(status_.MPI_SOURCE);
  const bool known = more_->senders && status_.MPI_SOURCE >= 0 && source < more_->senders->size();
  const int from = by_ticket_ ? told().sender : known ? (*more_->senders)[source] : -1;
  trace::facts f;
  f.add("from", from).add("tag", status_.MPI_TAG);
  f.add("bytes", static_cast<long long>(bytes_));
  f.add("path", moved_by_ == path::kind::none ? "host" : path::to_string(moved_by_));
  if (by_ticket_) f.add("id", ticket_id(told().slot, told().epoch, told().reply_tag));
  f.add("arrived", static_cast<long long>(more_->arrived_ns));
  trace::record("receive", where_.on_device() ? "device message" : "message", more_->posted_ns,
                now_ns(), f);
}

// --- the end ---

int receive::finish(MPI_Status* out) noexcept {
  if (native_ != MPI_REQUEST_NULL) {
    MPI_Status native_status = status_;
    native_error_ = pmpi::Wait(&native_, &native_status);
    if (native_error_ != MPI_SUCCESS) status_ = native_status;
  }
  fill(out);
  if (owes_handler_) [[unlikely]]
    return host_mpi::raise(errors_.owner(), native_error_);
  return native_error_;
}

void receive::finish_quietly() noexcept {
  if (native_ != MPI_REQUEST_NULL) pmpi::Request_free(&native_);
}

void receive::fill(MPI_Status* out) const noexcept {
  host_mpi::copy_status(out, status_);
}

void receive::cancel() noexcept {
  if (phase_ != phase::posted || native_ == MPI_REQUEST_NULL) return;
  cancel_asked_ = true;
  pmpi::Cancel(&native_);
}

void receive::describe(char* text, std::size_t bytes) const noexcept {
  if (phase_ == phase::posted)
    std::snprintf(text, bytes, "receive of up to %zu bytes: no message yet", capacity_);
  else
    std::snprintf(text, bytes, "receive of %zu bytes from rank %d: %s", bytes_, status_.MPI_SOURCE,
                  phase_ == phase::redeemed ? "is here"
                  : phase_ == phase::moving ? "bytes on their way"
                                            : "done");
}

}  // namespace telpher::ticket
