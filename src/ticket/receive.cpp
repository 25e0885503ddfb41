// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/receive.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>

#include "base/log.hpp"
#include "base/prefetch.hpp"
#include "memory/windows.hpp"
#include "path/compressed.hpp"
#include "path/ipc_put.hpp"
#include "path/pipelined.hpp"
#include "path/pull.hpp"
#include "path/staged.hpp"
#include "device/registry.hpp"
#include "host_mpi/received.hpp"
#include "ticket/engine.hpp"

namespace telpher::ticket {

using path::slot_state;

namespace {

constexpr std::size_t page_bytes = 4096;
// What a landing of more bytes than an int counts is made of, where the host MPI counts with one.
constexpr std::size_t landing_block = std::size_t{1} << 20;
constexpr std::size_t landing_blocks(std::size_t bytes) noexcept {
  return (bytes + landing_block - 1) / landing_block;
}

/// One copy of landed bytes to the device.
class landed_copy final : public path::transfer {
 public:
  landed_copy(const path::region& to, const void* from) noexcept
      : copies_(to.where, memory::lane::in), started_(copies_.start(to.data, from, to.bytes)) {}
  status poll() noexcept override {
    TELPHER_TRY(started_);
    auto finished = copies_.finished();
    TELPHER_TRY(finished);
    return *finished ? status::ok : status::would_block;
  }
  path::kind moved_by() const noexcept override { return path::kind::raw; }

 private:
  path::block_copies copies_;
  status started_;
};

/// A message that nobody can take: tells the sender that it is free.
class discarded final : public path::transfer {
 public:
  discarded(path::segment& sender, path::slot& cell, std::uint32_t epoch) noexcept
      : sender_(sender), cell_(cell), epoch_(epoch) {
    if (cell.take(epoch, slot_state::claimed)) sender.answer(cell, epoch, slot_state::done);
  }
  status poll() noexcept override {
    const slot_state s = cell_.state_in(epoch_);
    if (s == slot_state::staging) return status::would_block;
    if (s == slot_state::staged || s == slot_state::refused)
      sender_.answer(cell_, epoch_, slot_state::done);
    return status::ok;
  }
  path::kind moved_by() const noexcept override { return path::kind::none; }

 private:
  path::segment& sender_;
  path::slot& cell_;
  std::uint32_t epoch_;
};

}  // namespace

// --- before the message ---

status receive::prepare(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm) noexcept {
  if (count < 0) return status::invalid_argument;
  auto layout = datatype::layout_of(type);
  TELPHER_TRY(layout);
  if (!datatype::is_committed(**layout, type, the_engine().job().control))
    return status::invalid_argument;
  layout_ = datatype::hold(*layout);
  user_ = static_cast<std::byte*>(buffer);
  count_ = count;
  type_ = type;
  comm_ = comm;
  errors_ = host_mpi::kept_comm(comm);
  capacity_ = static_cast<std::size_t>(count) * layout_->size;
  if (capacity_ > 0) {
    device::pointer_info info;
    where_ = memory::classify(user_ + layout_->blocks.front().offset, info, lease_);
    if (buffer == MPI_BOTTOM && datatype::mixes_places(*layout_, buffer))
      return status::not_supported;
  }
  if (may_be_written_in_place()) {
    save_prefix();
    return status::ok;
  }
  lands_ = true;
  if (capacity_ <= ticket_bytes) return status::ok;  // saved_ is large enough
  const std::size_t room =
      capacity_ <= INT_MAX ? capacity_ : landing_blocks(capacity_) * landing_block;
  auto landing = memory::buffer::host(room, where_.owner);
  TELPHER_TRY(landing);
  landing_ = std::move(*landing);
  return status::ok;
}

receive::~receive() {
  leave_range();
}

bool receive::may_be_written_in_place() noexcept {
  if (where_.on_device() || capacity_ == 0) return false;
  engine& e = the_engine();
  const std::int64_t others = (count_ - 1) * layout_->extent;  // the last element from the first
  const std::byte* const data = user_ + layout_->true_lower_bound;
  range_ = {reinterpret_cast<std::uintptr_t>(data + std::min<std::int64_t>(others, 0)),
            reinterpret_cast<std::uintptr_t>(data + layout_->true_extent +
                                             std::max<std::int64_t>(others, 0))};
  const bool overlaps = e.written().enter(range_);
  if (capacity_ < ticket_bytes || splits_elements(*layout_)) return false;
  if (overlaps) return shares_place_ = e.enter_shared_place();
  e.written().expose(range_);
  return exposed_ = true;
}

// The ticket has been read, or there will be none.
void receive::leave_place() noexcept {
  engine& e = the_engine();
  if (exposed_) e.written().cover(range_);
  if (shares_place_) e.own().leave_shared_place();
  exposed_ = shares_place_ = false;
}

void receive::leave_range() noexcept {
  leave_place();
  if (!range_.empty()) the_engine().written().leave(range_);
  range_ = {};
}

// The program's host buffer gets bytes from elsewhere.
void receive::write_host(const void* packed, std::size_t bytes) noexcept {
  if (!range_.empty()) the_engine().read_tickets_in(range_);
  datatype::unpack_host(*layout_, packed, 0, bytes, user_);
}

void receive::note_start() noexcept {
  posted_ns_ = now_ns();
  senders_ = host_mpi::world_ranks(the_engine().job(), comm_);
}

receive::native_buffer receive::native_target() noexcept {
  if (trace::on()) [[unlikely]]
    note_start();
  if (lands_)
    return {landed(), static_cast<MPI_Count>(std::max(ticket_bytes, capacity_)), MPI_BYTE};
  return {user_, count_, type_};
}

// Calls the int form, or the _c form for a count that needs it. Where there is none a landing is
// given as blocks, of which the last may be longer than the message can be.
template <class Small, class Large, class... Rest>
int receive::by_count(const Small& small, const Large& large, Rest... rest) noexcept {
  const native_buffer to = native_target();
  if (to.count <= INT_MAX) [[likely]]
    return small(to.address, static_cast<int>(to.count), to.type, rest...);
  if (large.available()) return large(to.address, to.count, to.type, rest...);
  const std::size_t blocks = landing_blocks(capacity_);
  if (!lands_ || blocks > INT_MAX) {
    char why[80];
    std::snprintf(why, sizeof why, "this MPI cannot receive %lld elements in one message",
                  static_cast<long long>(count_));
    return host_mpi::fail_with(comm_, "a receive", MPI_ERR_COUNT, why);
  }
  MPI_Datatype block = MPI_DATATYPE_NULL;
  int rc = pmpi::Type_contiguous(static_cast<int>(landing_block), MPI_BYTE, &block);
  if (rc != MPI_SUCCESS) return rc;
  rc = pmpi::Type_commit(&block);
  if (rc == MPI_SUCCESS) rc = small(to.address, static_cast<int>(blocks), block, rest...);
  pmpi::Type_free(&block);  // lives as long as the receive
  return rc;
}

int receive::post(int source, int tag) noexcept {
  const int rc = by_count(pmpi::Irecv, pmpi::Irecv_c, source, tag, comm_, &native_);
  return host_mpi::started(rc, native_);
}

int receive::post_blocking(int source, int tag) noexcept {
  MPI_Status s{};
  const int rc = by_count(pmpi::Recv, pmpi::Recv_c, source, tag, comm_, &s);
  if (posted_ns_ != 0) [[unlikely]]
    trace::record("wait", "MPI_Recv", posted_ns_, now_ns(), trace::facts());
  if (rc == MPI_SUCCESS) arrived(s);
  return rc;
}

int receive::post_matched(MPI_Message* message) noexcept {
  return by_count(pmpi::Imrecv, pmpi::Imrecv_c, message, &native_);
}

void receive::save_prefix() noexcept {
  if (!the_engine().small_tickets()) return;
  saved_bytes_ = std::min(ticket_bytes, capacity_);
  if (layout_->contiguous)
    std::memcpy(saved_, contiguous_data(), saved_bytes_);
  else
    datatype::pack_host(*layout_, user_, 0, saved_bytes_, saved_);
}

void receive::restore_prefix() noexcept {
  if (lands_ || saved_bytes_ == 0) return;
  if (layout_->contiguous)
    std::memcpy(contiguous_data(), saved_, saved_bytes_);
  else
    datatype::unpack_host(*layout_, saved_, 0, saved_bytes_, user_);
}

// --- the message is here ---

void receive::check(bool last) noexcept {
  if (phase_ != phase::posted) return;
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

void receive::take(const void* bytes, std::size_t count, const MPI_Status& envelope) noexcept {
  if (trace::on()) [[unlikely]] {
    note_start();
    arrived_ns_ = posted_ns_;
  }
  status_ = envelope;
  bytes_ = count;
  const auto* first = static_cast<const std::byte*>(bytes);
  if (may_be_ticket(count) && is_ticket(first, the_engine().job().nonce)) return redeem(first);
  if (!lands_) {  // plain bytes for a host buffer
    const std::size_t n = std::min(bytes_, capacity_);
    write_host(first, n);
    return settle(bytes_ > capacity_ ? status::truncated : status::ok);
  }
  std::memcpy(landed(), first, count);
  raw_arrived(landed());
}

const std::byte* receive::first_bytes(std::byte* scratch) const noexcept {
  if (lands_) return landing_ ? static_cast<const std::byte*>(landing_.data()) : saved_;
  if (layout_->contiguous) return contiguous_data();
  datatype::pack_host(*layout_, user_, 0, bytes_, scratch);
  return scratch;
}

void receive::arrived(const MPI_Status& envelope) noexcept {
  if (trace::on()) arrived_ns_ = now_ns();
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
    if (is_ticket(first, the_engine().job().nonce)) return redeem(first);
  }
  if (!lands_) return settle(status::ok);
  raw_arrived(landed());
}

void receive::raw_arrived(const std::byte* landed) noexcept {
  if (bytes_ > page_bytes) landing_.filled();
  if (bytes_ > capacity_) return settle(status::truncated);
  if (bytes_ == 0) return settle(status::ok);
  if (!where_.on_device()) {
    write_host(landed, bytes_);
    return settle(status::ok);
  }
  if (layout_->contiguous && bytes_ <= config().mapped_limit && path::allowed(path::kind::mapped)) {
    auto info = memory::describe(where_, contiguous_data());
    if (info) {
      if (const auto window = memory::open_window(where_, *info, contiguous_data())) {
        window.store(landed, bytes_);
        moved_by_ = path::kind::mapped;
        path::count(moved_by_, bytes_);
        return settle(status::ok);
      }
    }
  }
  auto to = destination();
  if (!to) return settle(to.error());
  transfer_ = std::make_unique<landed_copy>(*to, landed);
  phase_ = phase::moving;
}

// Where contiguous bytes go first. No device writes where a ticket may lie (written_ranges.hpp).
result<path::region> receive::destination() noexcept {
  const bool aside = !range_.empty() && the_engine().written().exposed(range_);
  if (layout_->contiguous && !aside) return path::region{where_, contiguous_data(), bytes_};
  auto b = where_.on_device() ? memory::buffer::device(where_, bytes_)
                              : memory::buffer::host(bytes_, nullptr);
  TELPHER_TRY(b);
  packed_ = std::move(*b);
  return path::region{where_, static_cast<std::byte*>(packed_.data()), bytes_};
}

// --- a ticket ---

void receive::redeem(const std::byte* bytes) noexcept {
  engine& e = the_engine();
  const status s = read(bytes, bytes_, e.job().size, e.own().header().slots, ticket_);
  restore_prefix();
  leave_place();
  if (s != status::ok) return settle(s);
  if (ticket_.slot != no_slot) {
    e.saw_ticket();
    if (const path::segment& sender = e.peer(ticket_.sender))
      prefetch_to_write(&sender.cell(ticket_.slot));
  }
  bytes_ = ticket_.bytes;
  by_ticket_ = true;
  host_mpi::set_bytes(status_, bytes_);
  phase_ = phase::redeemed;
}

void receive::start() noexcept {
  if (phase_ != phase::redeemed) return;
  phase_ = phase::moving;
  if (const status s = bytes_ > capacity_ ? status::truncated : claim(); s != status::ok)
    discard(s);
}

status receive::claim() noexcept {
  auto to = destination();
  TELPHER_TRY(to);
  return ticket_.slot == no_slot ? ask_for_blocks(*to) : choose_path(*to);
}

status receive::choose_path(const path::region& to) noexcept {
  path::segment& sender = the_engine().peer(ticket_.sender);
  if (!sender) return status::corrupt;
  path::slot& cell = sender.cell(ticket_.slot);
  if (cell.take(ticket_.epoch, slot_state::claimed)) {
    if (cell.payload.holds(bytes_)) return pull_or_ask(sender, cell, to);
    TELPHER_ERROR("slot %u of rank %d names a payload outside its allocation", ticket_.slot,
                  ticket_.sender);
    sender.answer(cell, ticket_.epoch, slot_state::done);
    return status::corrupt;
  }
  const slot_state now = cell.state_in(ticket_.epoch);
  if (now != slot_state::staging && now != slot_state::staged && now != slot_state::refused) {
    TELPHER_ERROR("a ticket of rank %d names slot %u, which is not offered", ticket_.sender,
                  ticket_.slot);
    return status::corrupt;
  }
  transfer_ = std::make_unique<path::staged_receive>(sender, cell, ticket_.epoch, to);
  return status::ok;
}

status receive::ask_for_blocks(const path::region& to) noexcept {
  const path::wire w{the_engine().job().control, ticket_.sender, ticket_.reply_tag};
  if (!ticket_.coding) {
    transfer_ = std::make_unique<path::pipelined_receive>(w, to, ticket_.announces);
    return status::ok;
  }
  auto coded = std::make_unique<path::compressed_receive>(ticket_.coding, to);
  TELPHER_TRY(coded->start(w, ticket_.coded_bytes));
  transfer_ = std::move(coded);
  return status::ok;
}

status receive::pull_or_ask(path::segment& sender, path::slot& cell,
                            const path::region& to) noexcept {
  engine& e = the_engine();
  const path::kind forced = path::forced();
  if (forced == path::kind::ipc_put && ask_for_put(cell, to) == status::ok) return status::ok;
  if (forced != path::kind::staged) {
    const path::exported_memory& payload = cell.payload;
    device::backend* owner = device::find(payload.owner);
    // No back end can copy between its own memory and another's.
    const bool one_owner = !to.where.on_device() || to.where.owner == owner;
    if (ticket_.sender == e.job().rank && one_owner) {
      const memory::place from{owner, payload.device};
      transfer_ = path::pull::local(to, from, reinterpret_cast<const void*>(payload.address));
      cell.set(ticket_.epoch, slot_state::pulling);
      return status::ok;
    }
    if (one_owner) {
      if (auto p = path::pull::imported(ticket_.sender, payload, to)) {
        transfer_ = std::move(*p);
        cell.set(ticket_.epoch, slot_state::pulling);
        return status::ok;
      }
    }
  }
  transfer_ = std::make_unique<path::staged_receive>(sender, cell, ticket_.epoch, to);
  return status::ok;
}

status receive::ask_for_put(path::slot& cell, const path::region& to) noexcept {
  if (!to.where.on_device() || ticket_.sender == the_engine().job().rank)
    return status::not_supported;
  path::exported_memory target;
  auto info = memory::describe(to.where, to.data);
  TELPHER_TRY(info);
  TELPHER_TRY(path::export_region(to, *info, target));
  if (!target.exportable) return status::not_supported;
  transfer_ = std::make_unique<path::put_wait>(the_engine().peer(ticket_.sender), cell,
                                               ticket_.epoch, target);
  return status::ok;
}

// The payload is longer than the buffer, or there is no memory for it: the sender must still be
// told, unless the ticket itself is wrong.
void receive::discard(status why) noexcept {
  if (why == status::corrupt) return settle(why);
  outcome_ = why;
  engine& e = the_engine();
  if (ticket_.slot != no_slot) {
    path::segment& sender = e.peer(ticket_.sender);
    if (!sender) return settle(status::corrupt);
    transfer_ = std::make_unique<discarded>(sender, sender.cell(ticket_.slot), ticket_.epoch);
    return;
  }
  const path::region nowhere{{}, nullptr, ticket_.coding ? ticket_.coded_bytes : bytes_};
  transfer_ = std::make_unique<path::pipelined_receive>(
      path::wire{e.job().control, ticket_.sender, ticket_.reply_tag}, nowhere, ticket_.announces);
}

// --- bytes on their way ---

bool receive::advance() noexcept {
  if (phase_ != phase::moving) return settled();
  if (unpacking()) return scattered();
  status s = transfer_->poll();
  if (s == status::would_block) return false;
  if (failed(s) && !transfer_->quiet()) {  // its blocks and `packed_` may still be written to
    [[maybe_unused]] auto* kept = transfer_.release();
    [[maybe_unused]] auto* bytes = new memory::buffer(std::move(packed_));
    settle(outcome_ == status::ok ? s : outcome_);
    return true;
  }
  const bool owes_answer = transfer_->owes_answer();
  if (s == status::not_supported && put_refused()) {
    path::segment& sender = the_engine().peer(ticket_.sender);
    path::slot& cell = sender.cell(ticket_.slot);
    cell.set(ticket_.epoch, slot_state::claimed);
    const path::region to{
        where_, packed_ ? static_cast<std::byte*>(packed_.data()) : contiguous_data(), bytes_};
    transfer_ = std::make_unique<path::staged_receive>(sender, cell, ticket_.epoch, to);
    return false;
  }
  if (s == status::ok && outcome_ == status::ok) {
    moved_by_ = transfer_->moved_by();
    path::count(moved_by_, bytes_);
    s = scatter();
  }
  transfer_.reset();  // ends the use of the sender's memory before the sender is told
  if (owes_answer) release_sender();
  if (unpacking() && s == status::ok) return false;
  settle(outcome_ == status::ok ? s : outcome_);
  return true;
}

// The sender could not push.
bool receive::put_refused() const noexcept {
  return by_ticket_ && ticket_.slot != no_slot &&
         the_engine().peer(ticket_.sender).cell(ticket_.slot).state_in(ticket_.epoch) ==
             slot_state::refused;
}

bool receive::scattered() noexcept {
  const status s = unpacked_.query();
  if (s == status::would_block) return false;
  unpacked_ = {};
  settle(s);
  return true;
}

void receive::release_sender() noexcept {
  engine& e = the_engine();
  e.peer(ticket_.sender).cell(ticket_.slot).set(ticket_.epoch, slot_state::done);
  e.owe_ring(ticket_.sender);
}

// To a device's buffer it is only started: of several messages the unpacking overlaps.
status receive::scatter() noexcept {
  if (!packed_) return status::ok;
  if (!where_.on_device()) {
    write_host(packed_.data(), bytes_);
    return status::ok;
  }
  auto s = memory::stream(where_, memory::lane::kernel);
  TELPHER_TRY(s);
  const status started = start_unpacking(*s);
  if (started != status::ok) memory::wait_for(where_, memory::lane::kernel);  // for a part of it
  return started;
}

status receive::start_unpacking(device::stream s) noexcept {
  const auto whole = static_cast<MPI_Count>(bytes_ / layout_->size);
  TELPHER_TRY(datatype::unpack(*where_.owner, *layout_, packed_.data(), user_, whole, s));
  // A message may end inside an element: its last blocks are copied one by one.
  std::size_t done = static_cast<std::size_t>(whole) * layout_->size;
  const std::byte* from = static_cast<const std::byte*>(packed_.data());
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
  unpacked_ = std::move(*event);
  return status::ok;
}

void receive::settle(status outcome) noexcept {
  outcome_ = outcome;
  phase_ = phase::settled;
  leave_range();
  lease_.release();
  if (packed_) packed_ = {};
  if (arrived_ns_ != 0 && trace::on()) [[unlikely]]
    record();
}

// Of a message that was no ticket, what is known of the sender is its rank in the communicator.
void receive::record() const noexcept {
  const auto source = static_cast<std::size_t>(status_.MPI_SOURCE);
  const bool known = senders_ && status_.MPI_SOURCE >= 0 && source < senders_->size();
  const int from = by_ticket_ ? ticket_.sender : known ? (*senders_)[source] : -1;
  trace::facts f;
  f.add("from", from).add("tag", status_.MPI_TAG);
  f.add("bytes", static_cast<long long>(bytes_));
  f.add("path", moved_by_ == path::kind::none ? "host" : path::to_string(moved_by_));
  if (by_ticket_) f.add("id", ticket_id(ticket_.slot, ticket_.epoch, ticket_.reply_tag));
  f.add("arrived", static_cast<long long>(arrived_ns_));
  trace::record("receive", where_.on_device() ? "device message" : "message", posted_ns_, now_ns(),
                f);
}

// --- the end ---

int receive::finish(MPI_Status* out) noexcept {
  if (native_ != MPI_REQUEST_NULL) {
    MPI_Status native_status = status_;
    native_error_ = pmpi::Wait(&native_, &native_status);
    if (native_error_ != MPI_SUCCESS) status_ = native_status;
  }
  fill(out);
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
                  phase_ == phase::moving ? "bytes on their way" : "done");
}

}  // namespace telpher::ticket
