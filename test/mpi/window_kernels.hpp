// SPDX-License-Identifier: BSD-3-Clause
// The kernels of kernel_windows.cpp.
#pragma once

#include "telpher/device.h"

namespace mpi_test {

using handle_of = const telpher_device_window*;

/// Puts to the right rank and gets from the left one, by one thread or by the block; then the bytes
/// are in their places, on other nodes too.
TELPHER_KERNEL_FUNCTION void move_bytes(handle_of w, unsigned char* memory, std::int64_t place,
                                        std::uint64_t bytes, bool by_block, std::uint64_t* good) {
  const int rank = telpher_window_rank(w), ranks = telpher_window_ranks(w);
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  if (by_block) {
    const bool put = telpher_put_block(w, right, place, memory, bytes);
    const bool got = telpher_get_block(w, memory + 4096, left, 0, bytes);
    if (telpher_thread_number() == 0) *good = put && got && telpher_quiet(w);
  } else if (telpher_thread_number() == 0) {
    *good = telpher_put(w, right, place, memory, bytes) &&
            telpher_get(w, memory + 4096, left, 0, bytes) && telpher_quiet(w);
  }
}

/// Word `i` of the message that rank `of` gives in a round.
TELPHER_DEVICE_FUNCTION std::uint64_t text(int of, std::uint64_t round, std::uint64_t i) {
  return (round << 20) + (i << 4) + static_cast<std::uint64_t>(of) + 1;
}

constexpr std::uint64_t message = 200;

/// Messages around the ring from round `state[0]` on, each checked when its signal has come. The
/// window: the signal, the answer, and two messages. Ends early if a wait does; state[1] counts
/// errors.
TELPHER_KERNEL_FUNCTION void ring(handle_of w, std::uint64_t* own, std::uint64_t* state,
                                  std::uint64_t rounds, std::uint64_t polls) {
  const int rank = telpher_window_rank(w), ranks = telpher_window_ranks(w);
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  const std::uint64_t first = telpher_thread_number(), step = telpher_thread_count();
  std::uint64_t round = state[0], wrong = 0;
  for (; round <= rounds; ++round) {
    const auto place = static_cast<std::int64_t>(2 + round % 2 * message);
    // The right rank has read what it got two rounds ago.
    if (round > 2 && !telpher_wait_signal_for_block(w, 1, TELPHER_AT_LEAST, round - 2, polls))
      break;
    for (std::uint64_t i = first; i < message; i += step) own[i] = text(rank, round, i);
    telpher_put_signal_block(w, right, place, own, 8 * message, 0, round, TELPHER_SIGNAL_SET);
    if (!telpher_wait_signal_for_block(w, 0, TELPHER_AT_LEAST, round, polls)) break;
    const auto* const got =
        static_cast<std::uint64_t*>(telpher_window_address(w, rank, place, 8 * message));
    for (std::uint64_t i = first; i < message; i += step) wrong += got[i] != text(left, round, i);
    telpher_signal_block(w, left, 1, round, TELPHER_SIGNAL_SET);
  }
  telpher_block_barrier();
  if (first == 0) state[0] = round;
  if (wrong > 0) state[1] += wrong;
}

/// The blocks put so many bytes to a rank in pieces, and wait for nothing.
TELPHER_KERNEL_FUNCTION void put_pieces(handle_of w, int to, const unsigned char* memory,
                                        std::uint64_t bytes, std::uint64_t piece,
                                        std::uint64_t* refused) {
  for (std::uint64_t at = telpher_block_number() * piece; at < bytes;
       at += telpher_block_count() * piece) {
    const std::uint64_t length = bytes - at < piece ? bytes - at : piece;
    if (!telpher_put_block(w, to, static_cast<std::int64_t>(at), memory + at, length)) *refused = 1;
  }
}

TELPHER_KERNEL_FUNCTION void get_all(handle_of w, int from, unsigned char* memory,
                                     std::uint64_t bytes, std::uint64_t* refused) {
  if (!telpher_get_block(w, memory, from, 0, bytes)) *refused = 1;
}

/// Waits for a signal that never comes.
TELPHER_KERNEL_FUNCTION void wait_in_vain(handle_of w, std::uint64_t* refused) {
  if (!telpher_wait_signal_block(w, 0, TELPHER_EQUAL, ~std::uint64_t{0})) *refused = 1;
}

/// Every block of every rank adds to a word of each rank.
TELPHER_KERNEL_FUNCTION void add_everywhere(handle_of w, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i)
    for (int r = 0; r < telpher_window_ranks(w); ++r)
      telpher_signal_block(w, r, 3, telpher_block_number() + 1, TELPHER_SIGNAL_ADD);
}

TELPHER_KERNEL_FUNCTION void signal_right(handle_of w) {
  const int right = (telpher_window_rank(w) + 1) % telpher_window_ranks(w);
  telpher_signal_block(w, right, 3, 1, TELPHER_SIGNAL_SET);
}

/// found: whether the signal came, and its value.
TELPHER_KERNEL_FUNCTION void await(handle_of w, std::uint64_t value, std::uint64_t polls,
                                   std::uint64_t* found) {
  found[0] = telpher_wait_signal_for_block(w, 3, TELPHER_EQUAL, value, polls);
  if (telpher_thread_number() == 0) telpher_read_signal(w, 3, found + 1);
}

/// Calls with a wrong rank or place: how many of them say so.
TELPHER_KERNEL_FUNCTION void wrong_calls(handle_of w, std::uint64_t* own, std::uint64_t* refused) {
  if (telpher_thread_number() != 0) return;
  const int ranks = telpher_window_ranks(w), rank = telpher_window_rank(w);
  const auto end = static_cast<std::int64_t>(64);
  std::uint64_t n = 0;
  n += !telpher_put(w, -1, 0, own, 8);
  n += !telpher_put(w, ranks, 0, own, 8);
  n += !telpher_put(w, rank, -1, own, 8);
  n += !telpher_put(w, rank, end, own, 8);
  n += !telpher_get(w, own, rank, end - 1, 16);
  n += !telpher_signal(w, ranks, 0, 1, TELPHER_SIGNAL_SET);
  n += !telpher_put_signal(w, rank, 0, own, 8, end, 1, TELPHER_SIGNAL_SET);
  n += !telpher_wait_signal(w, end, TELPHER_EQUAL, 0);
  n += telpher_window_address(w, ranks, 0, 8) == nullptr;
  *refused = n;
}

/// Whether rank 0 has 42 at 16 bytes, and the last rank nothing.
TELPHER_KERNEL_FUNCTION void look(handle_of w, std::uint64_t* found) {
  std::uint64_t value = 0;
  const bool got = telpher_get(w, &value, 0, 16, 8);
  *found = got && value == 42 && !telpher_put(w, telpher_window_ranks(w) - 1, 0, &value, 1);
}

}  // namespace mpi_test
