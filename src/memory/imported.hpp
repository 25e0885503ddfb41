// SPDX-License-Identifier: BSD-3-Clause
// The facets that vendors' inter-process handles make: the handle of an own allocation, and another
// process's allocation open in this one. The size that the exporter reports is compared with the
// size that the back end reports for what was opened. So a damaged description cannot lead to an
// access outside the mapping.
//
// Of a chunk that the program mapped itself (pointer_info::is_chunk), or of a run of them
// (memory/chunk_runs.hpp), the handle names the file descriptors, one a chunk. The importer fetches
// these from the exporter's process (base/descriptor_broker.hpp) and maps the chunks side by side.
// The exporter keeps them open as long as the facet lives, which is until it notices that the
// program has unmapped a chunk. An importer closes them as soon as it has mapped the memory.
#pragma once

#include "memory/allocations.hpp"

namespace telpher::memory {

using mapping = allocations::held;

/// The handle by which peers open an own allocation. not_supported if there is none.
result<device::ipc_handle> export_handle(const place& p, const device::pointer_info& info) noexcept;

/// Opens another process's allocation for a device of this one, or finds it open; `there.owner` is
/// the importer's. not_supported if the vendor refuses, or if the exporter reports more bytes than
/// were opened (each is logged once).
result<mapping> import_memory(const allocation& there, const place& importer,
                              const device::ipc_handle& handle) noexcept;

/// How often a vendor has refused to open.
std::uint64_t refused_imports() noexcept;

}  // namespace telpher::memory
