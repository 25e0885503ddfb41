// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/unpacked_send.hpp"

#include <algorithm>
#include <iterator>

#include "host_mpi/job.hpp"
#include "memory/chunk_runs.hpp"
#include "path/neighbours.hpp"
#include "ticket/sends.hpp"

namespace telpher::mpi {
namespace {

// The largest message that is left unpacked. Over a bus short reads are slow, and what is longer
// has not been measured there: none. A device that this process does not see cannot be reached at
// all. Kernels of ranks that share a device take turns, so there a packed copy pays sooner. The
// answer is kept for each thread, until the peer uses another device.
std::uint64_t limit_to(const memory::place& from, int peer) noexcept {
  struct answer {
    int peer = -1;
    memory::place from;
    std::uint32_t devices = 0;
    std::uint64_t limits = 0;  // so many times the setting
  };
  constexpr std::uint64_t between_devices = 2;
  thread_local answer kept[16];
  const path::segment_header& there = ticket::peers().segment_of(peer).header();
  const std::uint32_t devices = std::min<std::uint32_t>(
      there.device_count.load(std::memory_order_acquire), path::most_devices);
  answer& a = kept[static_cast<std::size_t>(peer) % std::size(kept)];
  if (a.peer == peer && a.from == from && a.devices == devices)
    return a.limits * config().strided_limit;
  a = {peer, from, devices, devices > 0 ? between_devices : 0};
  for (std::uint32_t d = 0; d < devices; ++d) {
    const auto at = path::place_of(from.owner, there.devices[d]);
    if (!at || from.owner->distance_between(from.device, at->device) > device::distance::fabric)
      a.limits = 0;
    else if (*at == from)
      a.limits = std::min<std::uint64_t>(a.limits, 1);
  }
  return a.limits * config().strided_limit;
}

// A rank that has asked for help once may be unable to open our memory. A rank that was never seen
// to take a message by itself may have its buffers on the host. Both need packed bytes.
bool receiver_takes_it(const ticket::message& m, int peer) noexcept {
  ticket::peer_table& peers = ticket::peers();
  if (peer < 0 || !peers.near(peer)) return false;
  if (path::forced() == path::kind::ipc_unpack) return true;
  return path::forced() == path::kind::none && peers.pulls(peer) &&
         m.payload.bytes <= limit_to(m.payload.where, peer);
}

// What may go as one (rdma, direct) is packed as a whole.
bool goes_in_blocks(const ticket::message& m, int peer) noexcept {
  return peer >= 0 && !ticket::peers().near(peer) &&
         path::intent::only_blocks(peer, m.payload.bytes);
}

/// What holds all blocks: they may lie in several chunks.
device::pointer_info reached(const pt2pt::send_args& a, const datatype::layout& l,
                             const ticket::message& m) noexcept {
  if (!m.info.is_chunk || l.extent < 0) return m.info;
  const auto* lowest = static_cast<const std::byte*>(a.buffer) + l.true_lower_bound;
  const std::int64_t reach = l.true_extent + (a.count - 1) * l.extent;
  return memory::holding(m.payload.where, m.info, lowest, static_cast<std::size_t>(reach));
}

bool stays_for_receiver(const pt2pt::send_args& a, const datatype::layout& l, int peer,
                        ticket::message& m, datatype::strided& shape) noexcept {
  if (!l.regular || !m.info.exportable || !config().ipc) return false;
  shape = datatype::strided_of(l, m.payload.data, static_cast<std::uint64_t>(a.count));
  const device::pointer_info whole = reached(a, l, m);
  if (!shape.within(reinterpret_cast<std::uintptr_t>(m.payload.data), m.payload.bytes, whole.base,
                    whole.bytes) ||
      !receiver_takes_it(m, peer))
    return false;
  m.info = whole;
  return true;
}

}  // namespace

path::send_end end_of(ticket::message& m, pt2pt::send_mode mode, int peer) noexcept {
  ticket::peer_table& peers = ticket::peers();
  path::send_end e{m.payload, &m.info, &m.packed};
  e.may_announce = peer >= 0 && mode != pt2pt::send_mode::buffered &&
                   (m.payload.bytes >= ticket::ticket_bytes || peers.small_tickets());
  e.near = peer >= 0 && peers.shares_node(peer);
  e.ready = !m.ready;
  return e;
}

bool leave_unpacked(const pt2pt::send_args& a, const datatype::layout& l,
                    ticket::message& m) noexcept {
  if (a.mode == pt2pt::send_mode::buffered) return false;
  const int peer = host_mpi::world_rank(ticket::job(), a.comm, a.destination);
  datatype::strided shape{};
  if (!goes_in_blocks(m, peer) && !stays_for_receiver(a, l, peer, m, shape)) return false;
  path::send_end end = end_of(m, a.mode, peer);
  if (path::choose_eager(end)) return false;
  m.in_place.emplace(datatype::hold(&l), a.buffer, a.count, shape);
  return true;
}

status pack_after_all(ticket::message& m) noexcept {
  TELPHER_TRY(ticket::start_packing(m, m.packed, m.ready));
  m.packs = std::move(m.in_place->layout);
  m.in_place.reset();
  m.payload.data = static_cast<std::byte*>(m.packed.data());
  return memory::describe(m.payload.where, m.packed.data()).into(m.info);
}

}  // namespace telpher::mpi
