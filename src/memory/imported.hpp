// SPDX-License-Identifier: BSD-3-Clause
// The facets that vendors' inter-process handles make: the handle of an own allocation, and another
// process's allocation open in this one. The size that the exporter reports is compared with the
// size that the back end reports for what was opened. So a damaged description cannot lead to an
// access outside the mapping.
#pragma once

#include "memory/allocations.hpp"

namespace telpher::memory {

using mapping = allocations::held;

/// The handle by which peers open an own allocation. not_supported if the vendor gives none.
result<device::ipc_handle> export_handle(const place& p, const device::pointer_info& info) noexcept;

/// Opens another process's allocation for a device of this one, or finds it open; `there.owner` is
/// the importer's. not_supported if the vendor refuses, or if the exporter reports more bytes than
/// were opened (each is logged once).
result<mapping> import_memory(const allocation& there, const place& importer,
                              const device::ipc_handle& handle) noexcept;

/// How often a vendor has refused to open.
std::uint64_t refused_imports() noexcept;

}  // namespace telpher::memory
