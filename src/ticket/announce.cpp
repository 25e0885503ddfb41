// SPDX-License-Identifier: BSD-3-Clause
// The beginning of a send by ticket: what the receiver must know is written into a slot or into the
// ticket, and the ticket leaves through the host MPI in place of the message.
#include <new>

#include "base/log.hpp"
#include "host_mpi/error.hpp"
#include "path/exported.hpp"
#include "ticket/sends.hpp"

namespace telpher::ticket {
namespace {

// Describes a payload in a slot, without its address. Keeps the last description: programs send
// from few allocations. A slot that holds it already is not rewritten.
struct description {
  path::exported_memory memory{};
  device::backend* owner = nullptr;
  std::uint64_t number = 0;  // 0: not to be kept
  std::uint64_t exports_closed = 0;
};

// Under the progress lock.
result<const description*> describe_payload(const path::region& r,
                                            const device::pointer_info& info) noexcept {
  static description last;
  static std::uint64_t numbers = 0;
  const path::exported_memory& m = last.memory;
  const std::uint64_t closed = memory::allocations::instance().exports_closed();
  if (last.number != 0 && last.exports_closed == closed && last.owner == r.where.owner &&
      m.base == info.base && m.generation == info.generation && m.allocation_bytes == info.bytes &&
      m.device == info.device)
    return &last;
  last.number = 0;
  TELPHER_TRY(path::export_region(r, info, last.memory));
  last.owner = r.where.owner;
  last.exports_closed = closed;
  if (m.exportable) last.number = ++numbers;  // else it may be another time
  return &last;
}

}  // namespace

status send::announce() noexcept {
  const bool near = peers_.near(peer_);
  ticket& t = *new (wire_bytes) ticket{};
  t.bytes = message_.payload.bytes;
  t.sender = peers_.job().rank;
  t.slot = no_slot;
  t.reply_tag = -1;
  if (near) {
    if (!peers_.segment_of(peer_).announce_ticket(message_.tag)) return status::would_block;
    TELPHER_TRY(take_slot());
    t.slot = use_.index;
    t.epoch = use_.epoch;
  } else {
    t.reply_tag = reply_tag_ = peers_.take_reply_tag(peer_);
    const path::region travels = compressed(t);
    const auto& gaps = message_.in_place;
    const auto meant = t.coding || gaps ? path::intent{} : path::intent::of(peer_, travels.bytes);
    t.announces = meant.announces();
    remote_ = std::make_unique<path::pipelined_send>(
        path::wire{peers_.job().control, peer_, t.reply_tag},
        gaps ? path::block_end(travels.where, *gaps->layout, gaps->buffer, travels.bytes)
             : path::block_end(travels),
        meant);
  }
  const std::size_t size =
      near && short_will_do(message_.element_bytes) ? short_ticket_bytes : ticket_bytes;
  seal(t, peers_.job().nonce, size);
  if (!near || trace::on()) since_ns_ = now_ns();
  TELPHER_TRY(send_carrier(wire_bytes, static_cast<int>(size)));
  if (near) peers_.segment_of(peer_).ring();
  return status::ok;
}

// For an inbox message: the slot names the cells. An earlier payload description in it stays valid.
status send::take_slot_for_cells() noexcept {
  const auto use = peers_.own().take_slot();
  if (!use) return status::would_block;
  use_ = *use;
  cell_ = &peers_.own().cell(use_.index);
  cell_->where = message_.cells->first;
  cell_->ring_blocks = message_.cells->mark;
  cell_->set(use_.epoch, path::slot_state::coming);
  return status::ok;
}

status send::take_slot() noexcept {
  if (message_.cells) return take_slot_for_cells();
  const auto payload = describe_payload(message_.payload, message_.info);
  TELPHER_TRY(payload);
  path::own_segment& own = peers_.own();
  const auto use = own.take_slot();
  if (!use) return status::would_block;
  use_ = *use;
  cell_ = &own.cell(use_.index);
  const description& d = **payload;
  if (d.number == 0 || use_.described != d.number) cell_->payload = d.memory;
  use_.described = d.number;
  cell_->payload.address = reinterpret_cast<std::uintptr_t>(message_.payload.data);
  cell_->is_strided = message_.in_place.has_value();
  if (message_.in_place) cell_->shape = message_.in_place->shape;
  exportable_ = d.memory.exportable;
  const bool prepares = message_.ready || message_.by_stream;
  cell_->set(use_.epoch, prepares ? path::slot_state::preparing : path::slot_state::ready);
  return status::ok;
}

// The bytes that travel: the payload, or what it was compressed to. Where that fails, or would have
// to wait for the payload, the payload itself goes, which is right as well.
path::region send::compressed(ticket& t) noexcept {
  if (!message_.coding || message_.ready) return message_.payload;
  auto coded = path::compress(message_.payload, message_.coding);
  if (!coded) {
    TELPHER_DEBUG("a message of %zu bytes goes uncompressed: %s", message_.payload.bytes,
                  to_string(coded.error()));
    return message_.payload;
  }
  coded_ = std::move(*coded);
  t.coding = message_.coding;
  t.coded_bytes = coded_.bytes;
  return {message_.payload.where, static_cast<std::byte*>(coded_.data.data()), coded_.bytes};
}

status send::send_carrier(const void* bytes, int size) noexcept {
  const int rc = message_.synchronous ? pmpi::Issend(bytes, size, MPI_BYTE, message_.destination,
                                                     message_.tag, message_.comm, &carrier_)
                                      : pmpi::Isend(bytes, size, MPI_BYTE, message_.destination,
                                                    message_.tag, message_.comm, &carrier_);
  host_error_ = host_mpi::started(rc, carrier_);
  return host_error_ == MPI_SUCCESS ? status::ok : status::host_mpi_error;
}

}  // namespace telpher::ticket
