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
//                      (release), and then to the sender's own mark.
//   partitions_wait    waits until every mark at this end is `round` (acquire): at the sender that
//                      all were marked ready, at the receiver that all have arrived.
// There is a mark for each partition of the sender. A mark that is `round` already is not given
// again. So a partition that is marked twice, or before the start, changes nothing.
//
// A stream may be held from the start until the wait has ended: so the wait writes `round` to
// pinned memory, where the host finds it (path/matched_room.hpp).
//
// `round` is written by partitions_start alone; launches of one end follow one another, and what
// marks is launched between. A mark at the sender is written by who marks the partition, `opened`
// and the marks at the receiver are written by the other end. `arrivals` belongs to the launch of
// partition_ready.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

TELPHER_DEVICE void await_round(const std::uint64_t* word, std::uint64_t round) {
  while (load_acquire_system(word) < round) relax();
}

template <class W>
TELPHER_DEVICE void partitions_start_body(W w, const partitions_start& p) {
  for (unsigned i = w.id(); i < p.count; i += w.size()) {
    const std::uint64_t round = ++*resolve(p.pieces[i].round);
    if (p.pieces[i].opens) store_release_system(resolve(p.pieces[i].opens), round);
  }
}

template <class W>
TELPHER_DEVICE void partitions_wait_body(W w, const partitions_wait& p) {
  const partition_pieces::piece& one = p.pieces[w.block()];
  const std::uint64_t round = *resolve(one.round);
  for (std::uint64_t i = w.id(); i < one.marks; i += w.size())
    await_round(resolve(one.mark) + i, round);
  w.barrier();
  if (w.id() == 0) store_relaxed_system(resolve(one.ended), round);
}

template <class W>
TELPHER_DEVICE void partition_ready_body(W w, const partition_ready& p) {
  std::uint64_t* const own_mark = resolve(p.own_mark);
  const std::uint64_t round = *resolve(p.round);
  if (*own_mark == round) return;  // in all blocks: it is written when all have come below
  if (w.id() == 0) await_round(resolve(p.opened), round);
  w.barrier();
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
  store_published(resolve(p.mark), round);
  store_published(own_mark, round);
}

}  // namespace telpher::kernel
