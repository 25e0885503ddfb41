// SPDX-License-Identifier: BSD-3-Clause
// The emulated device for tests that link it into the program: the back end, counters of live
// objects and of calls, and faults. The plug-in exports the counters as telpher_emu_counter.
#pragma once

#include <cstdint>

#include "device/device.hpp"

namespace telpher::device::emu {

/// The only back end of this process. Does not start the runtime.
device::backend* instance() noexcept;

struct counters {
  // alive now
  std::int64_t streams, events, imports, allocations, pinned, managed, registered;
  // calls so far
  std::int64_t mallocs, copies, fills, launches, queries, classifications, ipc_gets, ipc_opens,
      windows, records, synchronisations;
};
counters count() noexcept;

/// A counter by the name of its field, or the injected "faults" that have struck; -1 for an unknown
/// name.
std::int64_t count(const char* name) noexcept;

/// Memory in chunks that have no inter-process handle, as arena's functions give it. Starts the
/// runtime; null if there is no room.
void* reserve_chunks(int device, std::size_t bytes) noexcept;
bool unreserve_chunks(void* address, std::size_t bytes) noexcept;
bool map_chunks(void* address, bool exports, std::size_t bytes, std::size_t chunk_bytes) noexcept;
/// When the device is done with them.
bool unmap_chunks(void* address, std::size_t bytes) noexcept;

/// Replaces the faults (syntax of TELPHER_TEST_EMU_FAULTS) and restarts the counting of calls.
void set_faults(const char* text) noexcept;

}  // namespace telpher::device::emu
