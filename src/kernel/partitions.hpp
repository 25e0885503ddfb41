// SPDX-License-Identifier: BSD-3-Clause
// A partitioned send and its receive that were matched once (path/matched_partitions.hpp), started
// again and again in the order of streams. Kernels mark partitions ready: the program's own
// (include/telpher/device_partitions.h), or partition_ready for the host.
//
// Protocol. A round is one start of both ends. Each end counts its own (`round`, from 1 on).
//   partitions_start   round += 1; of a receive, the sender's opened = round (release, system
//                      scope): what was launched before has read the receiver's buffer.
//   marking ready      waits until opened >= round (acquire), copies the partition into the
//                      receiver's buffer, and stores round to the partition's mark at the receiver
//                      (release) and to the sender's own mark. The two stores need no order among
//                      them: the wait at the sender is a kernel that follows.
//   partitions_wait    waits until every mark at this end is `round` (acquire): at the sender that
//                      all were marked ready, at the receiver that all have arrived.
// There is a mark for each partition of the sender. A mark that is `round` already is not stored
// again. So to mark a partition twice, or before the start, changes nothing.
//
// If the other end is on another node, the stores to it (`opened`, a partition's bytes, its mark)
// are commands to the relay of this process, in this order (telpher/device_relay.h). Their
// addresses are those of the other process. Once the relay has failed, nobody waits any longer.
//
// A stream may be held from the start until the wait has ended. So the wait writes `round` to
// pinned memory, where the host sees that it has ended (path/matched_room.hpp).
//
// `round` is written by partitions_start alone; launches of one end follow one another, and what
// marks is launched between. A mark at the sender is written by who marks the partition, `opened`
// and the marks at the receiver are written by the other end. `arrivals` belongs to the launch of
// partition_ready.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"
#include "telpher/device_partitions.h"

namespace telpher::kernel {

/// `queue`: null, if the word is written by a device of this node.
TELPHER_DEVICE void await_round(const std::uint64_t* word, std::uint64_t round,
                                const telpher_device_queue* queue) {
  for (std::uint64_t looks = 1; load_acquire_system(word) < round; ++looks) {
    if (telpher_device::relay_is_broken(queue, looks)) return;
    relax();
  }
}

template <class W>
TELPHER_DEVICE void partitions_start_body(W w, const partitions_start& p) {
  for (unsigned i = w.id(); i < p.count; i += w.size()) {
    const partition_pieces::piece& one = p.pieces[i];
    telpher_device_partitions* const end = resolve(one.end);
    const std::uint64_t round = ++end->round;
    if (!one.opens) continue;
    if (one.far < 0)
      store_release_system(resolve(one.opens), round);
    else
      telpher_device::relay_set(end->queue, one.far, one.opens, round);
  }
}

template <class W>
TELPHER_DEVICE void partitions_wait_body(W w, const partitions_wait& p) {
  const partition_pieces::piece& one = p.pieces[w.block()];
  const telpher_device_partitions* const end = resolve(one.end);
  const telpher_device_queue* const queue = one.far < 0 ? nullptr : end->queue;
  const std::uint64_t round = end->round;
  for (std::uint64_t i = w.id(); i < one.marks; i += w.size())
    await_round(resolve(one.mark) + i, round, queue);
  w.barrier();
  if (w.id() == 0) store_relaxed_system(resolve(one.ended), round);
}

/// A block's share of a partition for another node. What cannot be sent is not marked either: the
/// relay has failed, and no command goes any more.
template <class W>
TELPHER_DEVICE void put_far(W w, const partition_ready& p, telpher_device_queue* queue) {
  const std::uint64_t share = (p.bytes / w.blocks() / 16 + 1) * 16, first = w.block() * share;
  if (first >= p.bytes) return;
  telpher_device_command c{};
  c.rank = p.far;
  c.offset = reinterpret_cast<std::uintptr_t>(p.to) + first;
  telpher_device::relay_put<true>(queue, c,
                                  resolve(static_cast<const std::uint8_t*>(p.from)) + first,
                                  p.bytes - first < share ? p.bytes - first : share);
}

template <class W>
TELPHER_DEVICE void partition_ready_body(W w, const partition_ready& p) {
  std::uint64_t* const own_mark = resolve(p.own_mark);
  const telpher_device_partitions* const end = resolve(p.end);
  telpher_device_queue* const queue = p.far < 0 ? nullptr : end->queue;
  const std::uint64_t round = end->round;
  if (*own_mark == round) return;  // in all blocks: it is written when all have come below
  if (w.id() == 0) await_round(&end->opened, round, queue);
  w.barrier();
  if (queue)
    put_far(w, p, queue);
  else
    copy_span(std::uint64_t{w.block()} * w.size() + w.id(), std::uint64_t{w.blocks()} * w.size(),
              resolve(static_cast<std::uint8_t*>(p.to)),
              resolve(static_cast<const std::uint8_t*>(p.from)), p.bytes);
  w.publish();
  if (w.id() != 0) return;
  if (w.blocks() > 1) {
    std::uint32_t* const arrivals = resolve(p.arrivals);
    if (fetch_add_device(arrivals, 1) != w.blocks() - 1) return;
    *arrivals = 0;
    fence_system();
  }
  if (queue)
    telpher_device::relay_set(queue, p.far, p.mark, round);
  else
    store_published(resolve(p.mark), round);
  store_published(own_mark, round);
}

}  // namespace telpher::kernel
