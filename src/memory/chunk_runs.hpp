// SPDX-License-Identifier: BSD-3-Clause
// Runs of chunks. A program that maps its memory itself (PyTorch's expandable segments: chunks of 2
// or 20 MB) has buffers that reach over several chunks. Chunks side by side, of one device and all
// exportable, are taken as one allocation, a run. Peers map them side by side, too.
//
// - A run has a generation of its own. Whoever names it for some bytes first looks at the chunks
//   under them: they must be those of which the run was made. If not, the run has ended, and
//   another one is made. So no message names a peer's mapping of memory that was unmapped.
// - A run is all that is mapped in one place, a range of addresses. Take a power of two that is at
//   least 32 MB and no less than the bytes: a place begins at one of its multiples and is two of
//   them long. So in memory of n such powers all buffers together have at most some 2n runs,
//   whatever their sizes and addresses. And few runs are made anew when the program maps more.
// - Runs overlap: a larger one is made beside a smaller one, of which messages may be under way. A
//   run may also end while other bytes of it are in use. So a run's mapping stays open in both
//   cases while it is in use (memory/allocations.hpp).
#pragma once

#include <vector>

#include "memory/allocations.hpp"
#include "memory/memory.hpp"

namespace telpher::memory {

/// The allocation that holds a device's bytes, where `info` is what the back end says of their
/// address: `info` itself, or a run if they reach beyond a chunk. `info`, too, if they are no run,
/// because other memory lies among them, or a chunk that cannot be exported.
device::pointer_info holding(const place& p, const device::pointer_info& info, const void* address,
                             std::size_t bytes) noexcept;

/// What a run is made of, in the order of the addresses; nothing if it has ended.
std::vector<device::pointer_info> chunks_of(const device::pointer_info& run) noexcept;

/// Whether all chunks of an own run are mapped still. If not, it has ended.
bool run_is_there(const allocation& run) noexcept;

/// So many file descriptors may be open for peers, of all that this process may have.
std::size_t most_descriptors() noexcept;

}  // namespace telpher::memory
