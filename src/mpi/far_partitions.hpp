// SPDX-License-Identifier: BSD-3-Clause
// The relay of matched partitioned requests whose other end is on another node (rma/relay.hpp): one
// of the process, for kernels of one device. It is served while there are such requests. Under the
// progress lock.
#pragma once

#include "path/matched_partitions.hpp"

namespace telpher::partitioned {

/// How kernels of the device reach ends on other nodes; no queue where they cannot: MPI runs below
/// MPI_THREAD_MULTIPLE, the first such request was of another device, memory ran out, or a message
/// has failed before.
path::far_way far_way_of(const memory::place& where) noexcept;

/// A message between two relays has failed, or something at another rank. It stays so.
bool far_is_broken() noexcept;

/// Sends what kernels have left to be sent, and ends the relay. Before the host MPI's end.
void stop_far() noexcept;

}  // namespace telpher::partitioned
