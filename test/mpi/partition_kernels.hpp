// SPDX-License-Identifier: BSD-3-Clause
// The kernels of stream_partitions.cpp.
#pragma once

#include "telpher/device.h"

namespace mpi_test {

using parts_of = const telpher_device_partitions*;

/// What rank `rank` sends in a round, in kernels and on the host.
#if !defined(TELPHER_DEVICE_EMULATED)
__host__ __device__
#endif
    constexpr unsigned char
    sent_byte(std::uint64_t round, int rank, std::uint64_t at) {
  return static_cast<unsigned char>(round * 31 + static_cast<std::uint64_t>(rank) * 7 + at * 3 +
                                    at / 251);
}

/// Each block writes some partitions and marks each as soon as it is written, the last one first;
/// `counted` takes those that were not marked. With `polls` a wait for the receive is bounded.
TELPHER_KERNEL_FUNCTION void produce(parts_of p, std::uint64_t round, int rank, bool by_block,
                                     std::uint64_t polls, std::uint64_t* counted) {
  const auto n = static_cast<unsigned>(telpher_partition_count(p));
  const std::uint64_t bytes = telpher_partition_bytes(p);
  for (unsigned i = n - 1 - telpher_block_number(); i < n; i -= telpher_block_count()) {
    auto* const to = static_cast<unsigned char*>(telpher_partition_address(p, i));
    for (std::uint64_t at = telpher_thread_number(); at < bytes; at += telpher_thread_count())
      to[at] = sent_byte(round, rank, i * bytes + at);
    bool good = false;
    if (by_block) {
      good = telpher_pready_for_block(p, i, polls);
    } else {
      telpher_block_barrier();
      if (telpher_thread_number() == 0) good = telpher_pready_for(p, i, polls);
    }
    if (telpher_thread_number() == 0 && !good) *counted += 1;
  }
}

/// Takes partitions in their order as they arrive and adds up how many bytes are wrong; ends at the
/// first one that does not come. `counted`: wrong bytes, and partitions that came.
TELPHER_KERNEL_FUNCTION void consume(parts_of p, std::uint64_t round, int rank, std::uint64_t polls,
                                     std::uint64_t* counted) {
  const std::uint64_t bytes = telpher_partition_bytes(p);
  for (int i = 0; i < telpher_partition_count(p); ++i) {
    if (!telpher_wait_partition_for_block(p, i, polls)) break;
    const auto* const from = static_cast<const unsigned char*>(telpher_partition_address(p, i));
    if (telpher_thread_number() > 0) continue;
    counted[1] += telpher_parrived(p, i);
    for (std::uint64_t at = 0; at < bytes; ++at)
      counted[0] += from[at] != sent_byte(round, rank, static_cast<std::uint64_t>(i) * bytes + at);
  }
}

/// Calls that are wrong: how many say so.
TELPHER_KERNEL_FUNCTION void wrong_marks(parts_of send, parts_of receive, std::uint64_t* refused) {
  if (telpher_thread_number() > 0) return;
  const int n = telpher_partition_count(send);
  *refused += !telpher_pready(send, -1);
  *refused += !telpher_pready(send, n);
  *refused += !telpher_pready(receive, 0);
  *refused += !telpher_parrived(receive, telpher_partition_count(receive));
  *refused += telpher_partition_address(send, n) == nullptr;
}

}  // namespace mpi_test
