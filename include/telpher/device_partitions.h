/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_partitions.h: partitioned communication (MPI-4.1, chapter 4) from inside the program's
 * kernels; device.h includes it. On one node it is plain loads and stores. To other nodes it uses
 * the queue of device_relay.h. On the host, telpher_partitions_device (stream.h) gives the handle
 * of a request of MPI_Psend_init or MPI_Precv_init that telpher_match has matched.
 * docs/use/kernels.md has the rules and an example. In short:
 *
 * - Kernels use the handle after telpher_start_enqueue and before telpher_wait_enqueue of the
 *   request. The stream's order ensures that, or events if a kernel is in another stream.
 * - telpher_pready writes the partition into the receiver's buffer and marks it there. It waits
 *   until the receive has been started, so start receives before a kernel marks, at every rank;
 *   telpher_pready_for waits for a bounded time.
 * - To mark releases, to see a partition arrive acquires (by telpher_parrived or a wait). Who has
 *   seen it sees its bytes, and everything else that the marking thread had written before (if the
 *   two ends are on different nodes: on the marking thread's node, and what its rank marked for
 *   this receiver before).
 * - All threads of a block call the forms of a block (_block), with the same arguments. Order then
 *   holds for all threads of the block, at both ends.
 * - The two ends may have different partitions of the same bytes. A partition of the receive has
 *   arrived when every partition of the send that has bytes in it has been marked.
 * - A partition is marked once in a start. The functions that mark do nothing and return false for
 *   a partition that does not exist or was marked before in this start, and for a request that has
 *   not been started or is a receive.
 * - Between nodes the functions that mark or wait also return false once the host's thread has
 *   failed; the log says why.
 */
#ifndef TELPHER_DEVICE_PARTITIONS_H
#define TELPHER_DEVICE_PARTITIONS_H

#include "device_lang.h"
#include "device_relay.h"

/* What a handle points to; telpher_partitions_device fills it, in device memory. A round is one
 * start. */
struct telpher_device_partitions {
  std::uint64_t bytes; /* of a partition of this end */
  std::uint64_t partitions;
  void* buffer; /* the program's */
  void* target; /* of a send: the receiver's buffer, as kernels of this device find it, or, on
                   another node, as the receiver does; else null */
  std::uint64_t* marks; /* one a partition of the sender: the last round in which it was marked */
  std::uint64_t* target_marks; /* of a send: the receiver's, likewise */
  std::uint64_t mark_bytes;    /* of a partition of the sender */
  std::uint64_t round;         /* written by the start */
  std::uint64_t opened; /* of a send: the round for which the target may be written; written by the
                           receiver */
  telpher_device_queue* queue; /* to the other end, if it is on another node; else null */
  std::int32_t peer;           /* its rank there */
};

namespace telpher_device {

/* Whether the partition may be marked in this round. */
TELPHER_DEVICE_FUNCTION bool may_mark(const telpher_device_partitions* p, std::int64_t partition) {
  const auto i =
      static_cast<std::uint64_t>(partition); /* a negative one is beyond every last one */
  return p->target != nullptr && i < p->partitions && p->marks[i] != p->round;
}

/* Looks at most `polls` times whether the receive of this round has been started; false if not, or
 * if the relay has failed. */
TELPHER_DEVICE_FUNCTION bool await_opened(const telpher_device_partitions* p, std::uint64_t polls) {
  const std::uint64_t round = p->round;
  for (std::uint64_t poll = 0; poll < polls; ++poll) {
    if (load_acquire(&p->opened) >= round) return true;
    if (relay_is_broken(p->queue, poll + 1)) return false;
    relax();
  }
  return false;
}

TELPHER_DEVICE_FUNCTION const unsigned char* place_of(const telpher_device_partitions* p,
                                                      std::int64_t partition) {
  return static_cast<const unsigned char*>(p->buffer) +
         static_cast<std::uint64_t>(partition) * p->bytes;
}
TELPHER_DEVICE_FUNCTION unsigned char* target_of(const telpher_device_partitions* p,
                                                 std::int64_t partition) {
  return static_cast<unsigned char*>(p->target) + static_cast<std::uint64_t>(partition) * p->bytes;
}

/* Called by one thread after the bytes are written. The mark at the receiver releases them. The own
 * mark needs no order: the wait for the send, which reads it, follows the kernel. */
TELPHER_DEVICE_FUNCTION void mark(const telpher_device_partitions* p, std::int64_t partition) {
  p->marks[partition] = p->round;
  store_release(p->target_marks + partition, p->round);
}

/* Gives the relay the bytes and then the mark, for a receiver on another node. */
template <bool ByBlock>
TELPHER_DEVICE_FUNCTION bool send_far(const telpher_device_partitions* p, std::int64_t partition) {
  telpher_device_command c{};
  c.rank = p->peer;
  c.what = relayed_set;
  c.offset = reinterpret_cast<std::uintptr_t>(target_of(p, partition));
  c.signal = reinterpret_cast<std::uintptr_t>(p->target_marks + partition);
  c.value = p->round;
  return relay_put<ByBlock>(p->queue, c, place_of(p, partition), p->bytes);
}

}  // namespace telpher_device

/* The bytes of a partition of this end, and the number of its partitions. */
TELPHER_DEVICE_FUNCTION std::uint64_t telpher_partition_bytes(const telpher_device_partitions* p) {
  return p->bytes;
}
TELPHER_DEVICE_FUNCTION int telpher_partition_count(const telpher_device_partitions* p) {
  return static_cast<int>(p->partitions);
}
/* Where kernels find a partition in the buffer of this end; null if there is no such partition. */
TELPHER_DEVICE_FUNCTION void* telpher_partition_address(const telpher_device_partitions* p,
                                                        std::int64_t partition) {
  if (static_cast<std::uint64_t>(partition) >= p->partitions) return nullptr;
  return const_cast<unsigned char*>(telpher_device::place_of(p, partition));
}

/* --- of a send --- */

/* Marks a partition ready. One thread calls it, which has written the bytes or has seen them
 * written. It looks at most `polls` times whether the receive has been started. If not, it returns
 * false, and the call may be repeated. */
TELPHER_DEVICE_FUNCTION bool telpher_pready_for(const telpher_device_partitions* p,
                                                std::int64_t partition, std::uint64_t polls) {
  using namespace telpher_device;
  if (!may_mark(p, partition) || !await_opened(p, polls)) return false;
  if (p->queue) {
    if (!send_far<false>(p, partition)) return false;
    p->marks[partition] = p->round;
    return true;
  }
  copy(target_of(p, partition), place_of(p, partition), p->bytes);
  mark(p, partition);
  return true;
}

/* The same by all threads of a block. What any of them has written before is sent. */
TELPHER_DEVICE_FUNCTION bool telpher_pready_for_block(const telpher_device_partitions* p,
                                                      std::int64_t partition, std::uint64_t polls) {
  using namespace telpher_device;
  const bool mine =
      telpher_thread_number() == 0 && may_mark(p, partition) && await_opened(p, polls);
  if (!any_of_block(mine)) return false;
  begin_block_reads();
  if (p->queue) {
    if (!send_far<true>(p, partition)) return false;
    if (telpher_thread_number() == 0) p->marks[partition] = p->round;
    return true;
  }
  copy_block(target_of(p, partition), place_of(p, partition), p->bytes);
  end_block_writes();
  if (telpher_thread_number() == 0) mark(p, partition);
  return true;
}

TELPHER_DEVICE_FUNCTION bool telpher_pready(const telpher_device_partitions* p,
                                            std::int64_t partition) {
  return telpher_pready_for(p, partition, ~std::uint64_t{0});
}
TELPHER_DEVICE_FUNCTION bool telpher_pready_block(const telpher_device_partitions* p,
                                                  std::int64_t partition) {
  return telpher_pready_for_block(p, partition, ~std::uint64_t{0});
}

/* --- of a receive --- */

/* Looks at most `polls` times whether a partition has arrived. False if it has not, or does not
 * exist. For the handle of a send: whether the partition was marked. telpher_parrived looks once,
 * telpher_wait_partition without a bound. */
TELPHER_DEVICE_FUNCTION bool telpher_wait_partition_for(const telpher_device_partitions* p,
                                                        std::int64_t partition,
                                                        std::uint64_t polls) {
  if (static_cast<std::uint64_t>(partition) >= p->partitions) return false;
  const std::uint64_t first = static_cast<std::uint64_t>(partition) * p->bytes;
  const std::uint64_t last = (first + p->bytes - 1) / p->mark_bytes, round = p->round;
  std::uint64_t i = first / p->mark_bytes;
  for (std::uint64_t poll = 0; poll < polls; ++poll) {
    while (telpher_device::load_acquire(p->marks + i) == round)
      if (i++ == last) return true;
    if (telpher_device::relay_is_broken(p->queue, poll + 1)) return false;
    telpher_device::relax();
  }
  return false;
}

TELPHER_DEVICE_FUNCTION bool telpher_wait_partition_for_block(const telpher_device_partitions* p,
                                                              std::int64_t partition,
                                                              std::uint64_t polls) {
  const bool mine = telpher_thread_number() == 0 && telpher_wait_partition_for(p, partition, polls);
  const bool arrived = telpher_device::any_of_block(mine);
  telpher_device::begin_block_reads();
  return arrived;
}

TELPHER_DEVICE_FUNCTION bool telpher_parrived(const telpher_device_partitions* p,
                                              std::int64_t partition) {
  return telpher_wait_partition_for(p, partition, 1);
}
TELPHER_DEVICE_FUNCTION bool telpher_parrived_block(const telpher_device_partitions* p,
                                                    std::int64_t partition) {
  return telpher_wait_partition_for_block(p, partition, 1);
}
TELPHER_DEVICE_FUNCTION bool telpher_wait_partition(const telpher_device_partitions* p,
                                                    std::int64_t partition) {
  return telpher_wait_partition_for(p, partition, ~std::uint64_t{0});
}
TELPHER_DEVICE_FUNCTION bool telpher_wait_partition_block(const telpher_device_partitions* p,
                                                          std::int64_t partition) {
  return telpher_wait_partition_for_block(p, partition, ~std::uint64_t{0});
}

#endif
