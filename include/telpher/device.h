/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.h: communication over MPI windows from inside the program's kernels. On one node it is
 * plain loads and stores. Ranks of other nodes are reached through a queue, which a thread of
 * Telpher's on the host serves (device_relay.h). One source serves nvcc, hipcc and, on the emulated
 * device, a plain C++ compiler (C++17). On the host, telpher_win_device (window.h) makes the
 * handle. docs/use/kernels.md has the rules and an example. In short:
 *
 * - A place in a window is a rank and a displacement, in units of that rank's displacement unit, as
 *   in MPI_Put. Sizes are in bytes.
 * - A signal is a word of 64 bits in the window itself, at an address that 8 divides. The program
 *   sets it to 0 before use. While kernels use it, only the functions for signals may access it.
 * - To give a signal releases, to see it acquires (by a wait, or by telpher_read_signal). Who has
 *   seen it also sees everything that the giving thread had written before, wherever: puts to that
 *   rank or another, and plain stores. For the forms of a block this holds for all threads of the
 *   block, at both ends. Puts without a signal have no order.
 * - A signal to a rank of another node comes after what was put to that rank before. If it also
 *   tells of puts to further ranks of other nodes, call telpher_quiet before it.
 * - When a function returns, its source may be written again and, of a get, its result may be read.
 * - All threads of a block call the forms of a block (_block), with the same arguments. Those that
 *   copy begin with a barrier, and no thread leaves before the last one has copied. A signal is
 *   given after a barrier, and a wait ends with one.
 * - A function that takes a place does nothing and returns false (telpher_window_address: null) if
 *   the place does not lie in the window, or if that of a signal is not aligned. A kernel has no
 *   other way to say so.
 * - Functions that reach another node also return false once the host's thread has failed, which
 *   the log explains. A part of the put or get may be done then. In a window with ranks on other
 *   nodes a wait for a signal that has not come returns false then, too.
 * - A wait without a bound occupies its part of the device until the signal comes. Use
 *   telpher_wait_signal_for wherever the rank that gives the signal may need that part, or may be
 *   in a call that waits for this device.
 */
#ifndef TELPHER_DEVICE_H
#define TELPHER_DEVICE_H

#include <type_traits>

#include "device_lang.h"
#include "device_partitions.h"
#include "device_relay.h"
#include "telpher.h"

/* What a handle points to; telpher_win_device fills it, in device memory. A part for each rank
 * follows it. */
struct telpher_device_window {
  std::int32_t rank; /* the own one */
  std::int32_t ranks;
  telpher_device_queue* queue; /* for ranks of other nodes; null if there are none */
};
struct telpher_device_part {
  void* base; /* where kernels of this device find the memory of that rank; null on another node */
  std::uint64_t bytes;
  std::uint64_t unit; /* bytes of one displacement */
  std::uint64_t last; /* the last displacement within it: bytes / unit */
};

enum telpher_signal_operation { TELPHER_SIGNAL_SET, TELPHER_SIGNAL_ADD };
enum telpher_comparison {
  TELPHER_EQUAL,
  TELPHER_NOT_EQUAL,
  TELPHER_GREATER,
  TELPHER_AT_LEAST,
  TELPHER_LESS,
  TELPHER_AT_MOST
};

namespace telpher_device {

/* --- places --- */

TELPHER_DEVICE_FUNCTION const telpher_device_part& part_of(const telpher_device_window* w, int rank) {
  return reinterpret_cast<const telpher_device_part*>(w + 1)[rank];
}

/* Finds `bytes` bytes at a displacement; false if they do not lie in the window. For a rank on
 * another node `place` is no address but the distance from the start of the rank's memory. */
TELPHER_DEVICE_FUNCTION bool find(const telpher_device_window* w, int rank, std::int64_t displacement,
                                  std::uint64_t bytes, unsigned char*& place) {
  if (rank < 0 || rank >= w->ranks) return false;
  const telpher_device_part& part = part_of(w, rank);
  const auto at = static_cast<std::uint64_t>(displacement); /* a negative one is beyond every last one */
  if (at > part.last || bytes > part.bytes - at * part.unit) return false;
  place = static_cast<unsigned char*>(part.base) + at * part.unit;
  return true;
}

/* Whether a rank of the window is on another node. False for a rank without bytes. */
TELPHER_DEVICE_FUNCTION bool is_far(const telpher_device_window* w, int rank) {
  const telpher_device_part& part = part_of(w, rank);
  return part.base == nullptr && part.bytes > 0;
}

TELPHER_DEVICE_FUNCTION bool find_signal(const telpher_device_window* w, int rank, std::int64_t displacement,
                                         unsigned char*& place) {
  return find(w, rank, displacement, sizeof(std::uint64_t), place) &&
         reinterpret_cast<std::uintptr_t>(place) % sizeof(std::uint64_t) == 0;
}

/* A signal of the own rank; null if the place is wrong. */
TELPHER_DEVICE_FUNCTION const std::uint64_t* own_signal(const telpher_device_window* w, std::int64_t displacement) {
  unsigned char* place = nullptr;
  return find_signal(w, w->rank, displacement, place) ? reinterpret_cast<const std::uint64_t*>(place) : nullptr;
}

TELPHER_DEVICE_FUNCTION telpher_device_command far_place(int rank, const unsigned char* place) {
  telpher_device_command c{};
  c.rank = rank;
  c.offset = reinterpret_cast<std::uintptr_t>(place);
  return c;
}

TELPHER_DEVICE_FUNCTION bool holds(std::uint64_t seen, telpher_comparison how, std::uint64_t value) {
  switch (how) {
    case TELPHER_EQUAL:
      return seen == value;
    case TELPHER_NOT_EQUAL:
      return seen != value;
    case TELPHER_GREATER:
      return seen > value;
    case TELPHER_AT_LEAST:
      return seen >= value;
    case TELPHER_LESS:
      return seen < value;
    case TELPHER_AT_MOST:
      return seen <= value;
  }
  return false;
}

TELPHER_DEVICE_FUNCTION void give(unsigned char* place, std::uint64_t value, telpher_signal_operation operation) {
  auto* const word = reinterpret_cast<std::uint64_t*>(place);
  if (operation == TELPHER_SIGNAL_ADD)
    add_release(word, value);
  else
    store_release(word, value);
}

TELPHER_DEVICE_FUNCTION void add_signal(telpher_device_command& c, const unsigned char* place, std::uint64_t value,
                                        telpher_signal_operation operation) {
  c.what = operation == TELPHER_SIGNAL_ADD ? relayed_add : relayed_set;
  c.signal = reinterpret_cast<std::uintptr_t>(place);
  c.value = value;
}

}  // namespace telpher_device

/* --- a window, in kernels --- */

/* The own rank in the window's group, and the number of its ranks. */
TELPHER_DEVICE_FUNCTION int telpher_window_rank(const telpher_device_window* w) { return w->rank; }
TELPHER_DEVICE_FUNCTION int telpher_window_ranks(const telpher_device_window* w) { return w->ranks; }

/* The address at which kernels of this device find `bytes` bytes of a rank's window memory; the own
 * rank has one, too. Null if they do not lie in the window, or if the rank is on another node.
 * Loads and stores at the address are ordered like gets and puts. */
TELPHER_DEVICE_FUNCTION void* telpher_window_address(const telpher_device_window* w, int rank,
                                                     std::int64_t displacement, std::uint64_t bytes) {
  unsigned char* place = nullptr;
  return telpher_device::find(w, rank, displacement, bytes, place) && !telpher_device::is_far(w, rank) ? place
                                                                                                       : nullptr;
}

/* Orders what this thread wrote or read before with what it writes later, for all devices of the
 * node. Needed only where the program's own flags take the place of signals. On one node no call
 * waits for puts: they are stores, and this fence, a signal, or the end of the kernel completes
 * them. */
TELPHER_DEVICE_FUNCTION void telpher_fence() { telpher_device::fence(); }

/* Completes what this thread has put, and what other threads of this rank have put to ranks of
 * other nodes before the call: when it returns true, the bytes are in their places. False if the
 * host's thread has failed. */
TELPHER_DEVICE_FUNCTION bool telpher_quiet(const telpher_device_window* w) {
  telpher_device::fence();
  return w->queue == nullptr || telpher_device::relay_quiet(w->queue);
}

/* --- moving bytes: by one thread, and by all threads of a block ---
 * A put copies `bytes` bytes from `source` to a place in a window, a get copies them from a place
 * to `target`. `source` and `target` are memory that kernels of this device can access, at any
 * alignment. The two ranges must not overlap. */

TELPHER_DEVICE_FUNCTION bool telpher_put(const telpher_device_window* w, int rank, std::int64_t displacement,
                                         const void* source, std::uint64_t bytes) {
  unsigned char* to = nullptr;
  if (!telpher_device::find(w, rank, displacement, bytes, to)) return false;
  if (telpher_device::is_far(w, rank))
    return telpher_device::relay_put<false>(w->queue, telpher_device::far_place(rank, to), source, bytes);
  telpher_device::copy(to, source, bytes);
  return true;
}

TELPHER_DEVICE_FUNCTION bool telpher_put_block(const telpher_device_window* w, int rank, std::int64_t displacement,
                                               const void* source, std::uint64_t bytes) {
  unsigned char* to = nullptr;
  if (!telpher_device::find(w, rank, displacement, bytes, to)) return false;
  if (telpher_device::is_far(w, rank))
    return telpher_device::relay_put<true>(w->queue, telpher_device::far_place(rank, to), source, bytes);
  telpher_block_barrier();
  telpher_device::copy_block(to, source, bytes);
  telpher_block_barrier();
  return true;
}

TELPHER_DEVICE_FUNCTION bool telpher_get(const telpher_device_window* w, void* target, int rank,
                                         std::int64_t displacement, std::uint64_t bytes) {
  unsigned char* from = nullptr;
  if (!telpher_device::find(w, rank, displacement, bytes, from)) return false;
  if (telpher_device::is_far(w, rank))
    return telpher_device::relay_get<false>(w->queue, telpher_device::far_place(rank, from), target, bytes);
  telpher_device::copy(target, from, bytes);
  return true;
}

TELPHER_DEVICE_FUNCTION bool telpher_get_block(const telpher_device_window* w, void* target, int rank,
                                               std::int64_t displacement, std::uint64_t bytes) {
  unsigned char* from = nullptr;
  if (!telpher_device::find(w, rank, displacement, bytes, from)) return false;
  if (telpher_device::is_far(w, rank))
    return telpher_device::relay_get<true>(w->queue, telpher_device::far_place(rank, from), target, bytes);
  telpher_block_barrier();
  telpher_device::copy_block(target, from, bytes);
  telpher_block_barrier();
  return true;
}

/* --- signals --- */

/* A put and then a signal to the same rank: the word at displacement `signal` is set to `value`, or
 * `value` is added to it. If either place is wrong, neither is done. */
TELPHER_DEVICE_FUNCTION bool telpher_put_signal(const telpher_device_window* w, int rank, std::int64_t displacement,
                                                const void* source, std::uint64_t bytes, std::int64_t signal,
                                                std::uint64_t value, telpher_signal_operation operation) {
  unsigned char *to = nullptr, *word = nullptr;
  if (!telpher_device::find_signal(w, rank, signal, word) || !telpher_device::find(w, rank, displacement, bytes, to))
    return false;
  if (telpher_device::is_far(w, rank)) {
    telpher_device_command c = telpher_device::far_place(rank, to);
    telpher_device::add_signal(c, word, value, operation);
    return telpher_device::relay_put<false>(w->queue, c, source, bytes);
  }
  telpher_device::copy(to, source, bytes);
  telpher_device::give(word, value, operation);
  return true;
}

TELPHER_DEVICE_FUNCTION bool telpher_put_signal_block(const telpher_device_window* w, int rank,
                                                      std::int64_t displacement, const void* source,
                                                      std::uint64_t bytes, std::int64_t signal, std::uint64_t value,
                                                      telpher_signal_operation operation) {
  unsigned char *to = nullptr, *word = nullptr;
  if (!telpher_device::find_signal(w, rank, signal, word) || !telpher_device::find(w, rank, displacement, bytes, to))
    return false;
  if (telpher_device::is_far(w, rank)) {
    telpher_device_command c = telpher_device::far_place(rank, to);
    telpher_device::add_signal(c, word, value, operation);
    return telpher_device::relay_put<true>(w->queue, c, source, bytes);
  }
  if (bytes > 0) {
    telpher_block_barrier();
    telpher_device::copy_block(to, source, bytes);
  }
  telpher_device::end_block_writes();
  if (telpher_thread_number() == 0) telpher_device::give(word, value, operation);
  return true;
}

/* The signal alone. */
TELPHER_DEVICE_FUNCTION bool telpher_signal(const telpher_device_window* w, int rank, std::int64_t signal,
                                            std::uint64_t value, telpher_signal_operation operation) {
  return telpher_put_signal(w, rank, 0, nullptr, 0, signal, value, operation);
}

/* One signal, after all that the block has written. */
TELPHER_DEVICE_FUNCTION bool telpher_signal_block(const telpher_device_window* w, int rank, std::int64_t signal,
                                                  std::uint64_t value, telpher_signal_operation operation) {
  return telpher_put_signal_block(w, rank, 0, nullptr, 0, signal, value, operation);
}

/* The value of a signal of the own rank; false leaves `value` as it was. */
TELPHER_DEVICE_FUNCTION bool telpher_read_signal(const telpher_device_window* w, std::int64_t signal,
                                                 std::uint64_t* value) {
  const std::uint64_t* const word = telpher_device::own_signal(w, signal);
  if (word) *value = telpher_device::load_acquire(word);
  return word != nullptr;
}

/* Loads a signal of the own rank at most `polls` times, until it compares with `value` as `how`
 * says (TELPHER_AT_LEAST: signal >= value). False if it did not. The kernel can then end, which
 * frees its part of the device for others, and the host can launch it again. */
TELPHER_DEVICE_FUNCTION bool telpher_wait_signal_for(const telpher_device_window* w, std::int64_t signal,
                                                     telpher_comparison how, std::uint64_t value, std::uint64_t polls) {
  const std::uint64_t* const word = telpher_device::own_signal(w, signal);
  if (!word) return false;
  const telpher_device_queue* const queue = w->queue;
  for (std::uint64_t poll = 0; poll < polls; ++poll) {
    if (telpher_device::holds(telpher_device::load_acquire(word), how, value)) return true;
    if (telpher_device::relay_is_broken(queue, poll + 1)) return false;
    telpher_device::relax();
  }
  return false;
}

TELPHER_DEVICE_FUNCTION bool telpher_wait_signal_for_block(const telpher_device_window* w, std::int64_t signal,
                                                           telpher_comparison how, std::uint64_t value,
                                                           std::uint64_t polls) {
  const bool mine = telpher_thread_number() == 0 && telpher_wait_signal_for(w, signal, how, value, polls);
  const bool seen = telpher_device::any_of_block(mine);
  telpher_device::begin_block_reads();
  return seen;
}

/* The same without a bound: false only if the place of the signal is wrong, or if the host's thread
 * has failed. */
TELPHER_DEVICE_FUNCTION bool telpher_wait_signal(const telpher_device_window* w, std::int64_t signal,
                                                 telpher_comparison how, std::uint64_t value) {
  return telpher_wait_signal_for(w, signal, how, value, ~std::uint64_t{0});
}

TELPHER_DEVICE_FUNCTION bool telpher_wait_signal_block(const telpher_device_window* w, std::int64_t signal,
                                                       telpher_comparison how, std::uint64_t value) {
  return telpher_wait_signal_for_block(w, signal, how, value, ~std::uint64_t{0});
}

/* --- on the host --- */

namespace telpher_device {
template <class T>
struct same {
  using type = T;
};

#if defined(TELPHER_DEVICE_EMULATED)
template <class Call>
void run_block(const void* parameters, unsigned block, unsigned blocks) {
  static_assert(std::is_trivially_copyable<Call>::value && alignof(Call) <= 16, "arguments are copied as bytes");
  here().block = block;
  here().blocks = blocks;
  (*static_cast<const Call*>(parameters))();
}
#endif
}  // namespace telpher_device

/* Makes telpher_get_device's device the calling thread's current one, for launches. Returns an
 * error code of telpher.h. */
inline int telpher_use_device() {
  int device = 0;
  const int code = telpher_get_device(&device);
  if (code != TELPHER_SUCCESS) return code;
#if defined(TELPHER_DEVICE_CUDA)
  return cudaSetDevice(device) == cudaSuccess ? TELPHER_SUCCESS : TELPHER_ERR_DEVICE;
#elif defined(TELPHER_DEVICE_HIP)
  return hipSetDevice(device) == hipSuccess ? TELPHER_SUCCESS : TELPHER_ERR_DEVICE;
#else
  return TELPHER_SUCCESS;
#endif
}

/* Launches a kernel of `blocks` blocks of `threads` threads in a stream, on the current device.
 * Returns an error code of telpher.h. On the emulated device a kernel is a function of this process
 * and `threads` is ignored: a block is one thread. The blocks are called one after the other, so
 * none may wait for a later one of its launch. The arguments are copied as bytes; addresses among
 * them must be those for kernels (telpher_kernel_address, telpher_window_address). */
template <class... P>
inline int telpher_launch(void (*kernel)(P...), unsigned blocks, unsigned threads, void* stream,
                          typename telpher_device::same<P>::type... arguments) {
#if defined(TELPHER_DEVICE_CUDA)
  kernel<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(arguments...);
  return cudaGetLastError() == cudaSuccess ? TELPHER_SUCCESS : TELPHER_ERR_DEVICE;
#elif defined(TELPHER_DEVICE_HIP)
  kernel<<<blocks, threads, 0, static_cast<hipStream_t>(stream)>>>(arguments...);
  return hipGetLastError() == hipSuccess ? TELPHER_SUCCESS : TELPHER_ERR_DEVICE;
#else
  static_cast<void>(threads);
  const auto call = [=] { kernel(arguments...); };
  return telpher_emulated_launch(telpher_device::run_block<decltype(call)>, &call, sizeof call, blocks, stream);
#endif
}

#endif
