// SPDX-License-Identifier: BSD-3-Clause
// Before the message: the program's buffer is described, and the host MPI is given a place where
// what arrives may lie (receive.hpp has the rules).
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

#include "host_mpi/asserted.hpp"
#include "ticket/plain_receives.hpp"
#include "ticket/receives.hpp"

namespace telpher::ticket {
namespace {

// What a landing of more bytes than an int counts is made of, where the host MPI counts with one.
constexpr std::size_t landing_block = std::size_t{1} << 20;
constexpr std::size_t landing_blocks(std::size_t bytes) noexcept {
  return (bytes + landing_block - 1) / landing_block;
}

}  // namespace

status receive::prepare(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm) noexcept {
  if (count < 0) return status::invalid_argument;
  auto layout = datatype::layout_of(type);
  TELPHER_TRY(layout);
  if (!datatype::is_committed(**layout, type, peers_.job().control))
    return status::invalid_argument;
  layout_ = datatype::hold(*layout);
  user_ = static_cast<std::byte*>(buffer);
  count_ = count;
  type_ = type;
  comm_ = comm;
  errors_ = host_mpi::kept_comm(comm);
  capacity_ = static_cast<std::size_t>(count) * layout_->size;
  if (capacity_ > 0 && !memory::surely_host(buffer) && !host_mpi::asserts_host(comm))
    TELPHER_TRY(find_place());
  if (may_be_written_in_place()) {
    save_prefix();
    return status::ok;
  }
  lands_ = true;
  if (capacity_ <= ticket_bytes) return status::ok;  // saved_ is large enough
  const std::size_t room =
      capacity_ <= INT_MAX ? capacity_ : landing_blocks(capacity_) * landing_block;
  TELPHER_TRY(memory::buffer::host(room, where_.owner).into(more().landing));
  return status::ok;
}

written_ranges::range range_of(const void* buffer, MPI_Count count,
                               const datatype::layout& l) noexcept {
  const std::int64_t others = (count - 1) * l.extent;  // the last element from the first
  const std::byte* const data = static_cast<const std::byte*>(buffer) + l.true_lower_bound;
  return {
      reinterpret_cast<std::uintptr_t>(data + std::min<std::int64_t>(others, 0)),
      reinterpret_cast<std::uintptr_t>(data + l.true_extent + std::max<std::int64_t>(others, 0))};
}

written_ranges::range receive::range() const noexcept {
  return range_of(user_, count_, *layout_);
}

// True if it overlaps another one, and is not exposed then.
bool receive::enter_range(bool exposes) noexcept {
  entered_ = true;
  return all_.written().enter(range(), exposes);
}

status receive::find_place() noexcept {
  device::pointer_info info;
  where_ = memory::classify(user_ + layout_->blocks.front().offset, info, cached_);
  return user_ == MPI_BOTTOM && datatype::mixes_places(*layout_, user_) ? status::not_supported
                                                                        : status::ok;
}

bool receive::may_be_written_in_place() noexcept {
  if (where_.on_device() || capacity_ < ticket_bytes || splits_elements(*layout_)) return false;
  if (plain().write_to(range())) return false;
  if (enter_range(true)) return shares_place_ = all_.enter_shared_place();
  return exposed_ = true;
}

// The ticket has been read, or there will be none.
void receive::leave_place() noexcept {
  if (exposed_) all_.written().cover(range());
  if (shares_place_) peers_.own().leave_shared_place();
  exposed_ = shares_place_ = false;
}

void receive::leave_range() noexcept {
  all_.written().leave(range(), std::exchange(exposed_, false));
  leave_place();
  entered_ = false;
}

// The program's host buffer gets bytes from elsewhere.
void receive::write_host(const void* packed, std::size_t bytes) noexcept {
  if (all_.written().any_exposed()) all_.keep_tickets_in(range());
  if (one_run())
    std::memcpy(contiguous_data(), packed, bytes);
  else
    datatype::unpack_host(*layout_, packed, 0, bytes, user_);
}

void receive::note_start() noexcept {
  more().posted_ns = now_ns();
  more_->senders = host_mpi::world_ranks(peers_.job(), comm_);
}

void receive::note_arrival(std::uint64_t when_ns) noexcept {
  more().arrived_ns = when_ns;
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
  plain().expect_tickets(tag);
  const int rc = by_count(pmpi::Irecv, pmpi::Irecv_c, source, tag, comm_, &native_);
  return host_mpi::started(rc, native_);
}

int receive::post_blocking(int source, int tag) noexcept {
  MPI_Status s{};
  plain().expect_tickets(tag);
  const int rc = by_count(pmpi::Recv, pmpi::Recv_c, source, tag, comm_, &s);
  if (more_ && more_->posted_ns != 0) [[unlikely]]
    trace::record("wait", "MPI_Recv", more_->posted_ns, now_ns(), trace::facts());
  if (rc == MPI_SUCCESS) arrived(s);
  return rc;
}

int receive::post_matched(MPI_Message* message) noexcept {
  return by_count(pmpi::Imrecv, pmpi::Imrecv_c, message, &native_);
}

void receive::save_prefix() noexcept {
  if (!peers_.small_tickets()) return;
  saved_bytes_ = std::min(ticket_bytes, capacity_);
  if (one_run())
    std::memcpy(saved_, contiguous_data(), saved_bytes_);
  else
    datatype::pack_host(*layout_, user_, 0, saved_bytes_, saved_);
}

void receive::restore_prefix() noexcept {
  if (lands_ || saved_bytes_ == 0) return;
  if (one_run())
    std::memcpy(contiguous_data(), saved_, saved_bytes_);
  else
    datatype::unpack_host(*layout_, saved_, 0, saved_bytes_, user_);
  saved_bytes_ = 0;
}

// The first of the bytes that lie in the program's buffer; `scratch` has room for them.
const std::byte* receive::prefix(std::size_t bytes, std::byte* scratch) const noexcept {
  if (one_run()) return contiguous_data();
  datatype::pack_host(*layout_, user_, 0, bytes, scratch);
  return scratch;
}

// No call of the host MPI lies between this look and what is written then: any call may deliver a
// ticket, also one that asks for another message.
void receive::keep_ticket() noexcept {
  if (!exposed_) return;
  std::byte scratch[ticket_bytes];
  const std::byte* lies_there = prefix(ticket_bytes, scratch);
  if (!holds_ticket(lies_there, peers_.job().nonce)) return;
  std::memcpy(more().kept_ticket, lies_there, ticket_bytes);
  more_->keeps_ticket = true;
  restore_prefix();
}

const std::byte* receive::first_bytes(std::byte* scratch) noexcept {
  if (lands_) return landed();
  if (!more_ || !more_->keeps_ticket) return prefix(bytes_, scratch);
  keep_ticket();  // what lies there came later
  return more_->kept_ticket;
}

}  // namespace telpher::ticket
