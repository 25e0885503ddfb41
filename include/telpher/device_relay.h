/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_relay.h: the part of device.h for ranks of other nodes, whose memory kernels cannot reach
 * by stores. A kernel writes commands, with the bytes that it puts, into a queue of slots in pinned
 * host memory. A thread of Telpher's (the host, below) carries them to the other rank by messages.
 * Programs use device.h; this file has the protocol of the queue:
 *
 * - If the queue has room, a kernel claims the next number by a compare-and-swap of `claimed`.
 *   Command n is in slot n mod `count`. The slot belongs to the claiming thread or block alone
 *   until it writes n + 1 to `ready` (release). In between it waits for nobody else. So the host,
 *   which reads slots in the order of their numbers, never waits for a kernel that waits.
 * - The host sends the slot as it stands. For a get it writes n + 1 to `answered` (release) when
 *   the bytes are in the slot, for a quiet when all that was put before is in its place. The kernel
 *   reads the answer and then writes n + 1 to `taken` (release).
 * - The host gives slots back in their order: `freed` (release) is the first number whose slot is
 *   still in use. Kernels keep what they last saw of it in `known_freed`, in their device's memory,
 *   because a look at pinned memory is slow.
 * - After a failure, which the host logs, `freed` is `telpher_device::broken`, and so is every
 *   `answered`. From then on functions return false.
 */
#ifndef TELPHER_DEVICE_RELAY_H
#define TELPHER_DEVICE_RELAY_H

#include "device_lang.h"

struct telpher_device_command {
  std::uint64_t ready, answered, taken;
  std::uint64_t offset; /* of a window: of the place, from the start of the rank's memory; of
                           partitions: an address at the other rank */
  std::uint64_t bytes;
  std::uint64_t signal, value; /* place of the signal, as `offset`; value to set or to add */
  std::int32_t rank;
  std::uint32_t what;
}; /* the bytes follow */

struct telpher_device_queue {
  std::uint64_t claimed; /* in device memory, as the queue itself */
  std::uint64_t known_freed;
  const std::uint64_t* freed; /* in pinned memory, as the slots */
  unsigned char* slots;
  std::uint64_t count;    /* of slots */
  std::uint64_t stride;   /* bytes from one slot to the next */
  std::uint64_t capacity; /* bytes that a command can carry */
};

namespace telpher_device {

constexpr std::uint64_t broken = ~std::uint64_t{0};
enum relayed : std::uint32_t { relayed_put = 1, relayed_set = 2, relayed_add = 4, relayed_get = 8, relayed_quiet = 16 };

TELPHER_DEVICE_FUNCTION telpher_device_command* slot_of(const telpher_device_queue* q, std::uint64_t number) {
  return reinterpret_cast<telpher_device_command*>(q->slots + number % q->count * q->stride);
}

enum class claim { none, had, failed };

/* Claims a number if the queue has room; never waits. */
TELPHER_DEVICE_FUNCTION claim try_claim(telpher_device_queue* q, std::uint64_t& number) {
  const std::uint64_t next = load_acquire(&q->claimed);
  if (next - load_acquire(&q->known_freed) >= q->count) {
    const std::uint64_t freed = load_acquire(q->freed);
    if (freed == broken) return claim::failed;
    store_release(&q->known_freed, freed);
    if (next - freed >= q->count) return claim::none;
  }
  if (!compare_and_swap(&q->claimed, next, next + 1)) return claim::none;
  number = next;
  return claim::had;
}

TELPHER_DEVICE_FUNCTION void write_command(telpher_device_command* slot, const telpher_device_command& c,
                                           std::uint64_t number) {
  slot->offset = c.offset;
  slot->bytes = c.bytes;
  slot->signal = c.signal;
  slot->value = c.value;
  slot->rank = c.rank;
  slot->what = c.what;
  store_release(&slot->ready, number + 1);
}

/* Waits for room and posts a command; false if the relay has failed. A number is claimed and its
 * command written in one pass of the loop. If the claim ended the loop instead, lanes of a
 * wavefront that advance together would wait for one without room before the one with a number
 * writes. */
TELPHER_DEVICE_FUNCTION bool post(telpher_device_queue* q, const telpher_device_command& c, const void* carried,
                                  std::uint64_t& number) {
  claim got = claim::none;
  while (got == claim::none) {
    got = try_claim(q, number);
    if (got == claim::had) {
      telpher_device_command* const slot = slot_of(q, number);
      if (carried) copy(slot + 1, carried, c.bytes);
      write_command(slot, c, number);
    } else {
      relax();
    }
  }
  return got == claim::had;
}

/* The same by all threads of a block: one command, which all of them fill. */
TELPHER_DEVICE_FUNCTION bool post_block(telpher_device_queue* q, const telpher_device_command& c, const void* carried,
                                        std::uint64_t& number) {
  number = broken;
  if (telpher_thread_number() == 0) {
    claim got = claim::none;
    while (got == claim::none) {
      got = try_claim(q, number);
      relax();
    }
    if (got == claim::failed) number = broken;
  }
  number = broadcast_in_block(number);
  if (number == broken) return false;
  telpher_device_command* const slot = slot_of(q, number);
  if (carried) copy_block(slot + 1, carried, c.bytes);
  end_block_writes();
  if (telpher_thread_number() == 0) write_command(slot, c, number);
  return true;
}

/* Waits for the answer to command `number`; false if the relay has failed. */
TELPHER_DEVICE_FUNCTION bool await_answer(const telpher_device_queue* q, std::uint64_t number) {
  const telpher_device_command* const slot = slot_of(q, number);
  std::uint64_t seen = load_acquire(&slot->answered);
  for (; seen != number + 1 && seen != broken; seen = load_acquire(&slot->answered)) relax();
  return seen != broken;
}

/* A put of any size, in commands of at most `capacity` bytes; the last one carries the signal of
 * `c`, if there is one. */
template <bool ByBlock>
TELPHER_DEVICE_FUNCTION bool relay_put(telpher_device_queue* q, telpher_device_command c, const void* source,
                                       std::uint64_t bytes) {
  const std::uint32_t signal = c.what;
  const auto* from = static_cast<const unsigned char*>(source);
  std::uint64_t number = 0;
  do {
    c.bytes = bytes < q->capacity ? bytes : q->capacity;
    c.what = (c.bytes > 0 ? relayed_put : 0u) | (c.bytes == bytes ? signal : 0u);
    const void* const carried = c.bytes > 0 ? from : nullptr;
    if (c.what != 0 && !(ByBlock ? post_block(q, c, carried, number) : post(q, c, carried, number))) return false;
    from += c.bytes;
    c.offset += c.bytes;
    bytes -= c.bytes;
  } while (bytes > 0);
  return true;
}

template <bool ByBlock>
TELPHER_DEVICE_FUNCTION bool relay_get(telpher_device_queue* q, telpher_device_command c, void* target,
                                       std::uint64_t bytes) {
  auto* to = static_cast<unsigned char*>(target);
  c.what = relayed_get;
  for (; bytes > 0; to += c.bytes, c.offset += c.bytes, bytes -= c.bytes) {
    std::uint64_t number = 0;
    c.bytes = bytes < q->capacity ? bytes : q->capacity;
    if (!(ByBlock ? post_block(q, c, nullptr, number) : post(q, c, nullptr, number))) return false;
    telpher_device_command* const slot = slot_of(q, number);
    bool here = false;
    if (!ByBlock || telpher_thread_number() == 0) here = await_answer(q, number);
    if (ByBlock) {
      here = any_of_block(here);
      begin_block_reads();
    }
    if (!here) return false;
    if (ByBlock) {
      copy_block(to, slot + 1, c.bytes);
      telpher_block_barrier();
    } else {
      copy(to, slot + 1, c.bytes);
    }
    if (!ByBlock || telpher_thread_number() == 0) store_release(&slot->taken, number + 1);
  }
  return true;
}

/* Sets a word of another rank, at its address there, after what was put to that rank before. */
TELPHER_DEVICE_FUNCTION bool relay_set(telpher_device_queue* q, int rank, const std::uint64_t* word,
                                       std::uint64_t value) {
  telpher_device_command c{};
  c.rank = rank;
  c.what = relayed_set;
  c.signal = reinterpret_cast<std::uintptr_t>(word);
  c.value = value;
  std::uint64_t number = 0;
  return post(q, c, nullptr, number);
}

/* Whether the relay has failed, so that a wait for another node is in vain. `looks` counts the
 * looks of the wait: only every 256th reads the host's memory. `q` is null in a wait for the own
 * node. */
TELPHER_DEVICE_FUNCTION bool relay_is_broken(const telpher_device_queue* q, std::uint64_t looks) {
  return q != nullptr && looks % 256 == 0 && load_acquire(q->freed) == broken;
}

/* Waits until all that this rank's kernels have put into the queue so far is in its place; false if
 * the relay has failed. */
TELPHER_DEVICE_FUNCTION bool relay_quiet(telpher_device_queue* q) {
  telpher_device_command c{};
  c.what = relayed_quiet;
  c.rank = -1;
  std::uint64_t number = 0;
  if (!post(q, c, nullptr, number)) return false;
  const bool here = await_answer(q, number);
  if (here) store_release(&slot_of(q, number)->taken, number + 1);
  return here;
}

}  // namespace telpher_device

#endif
