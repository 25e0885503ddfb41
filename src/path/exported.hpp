// SPDX-License-Identifier: BSD-3-Clause
// Memory of another process that is opened here: what a slot says of it, and a device that can
// reach it.
#pragma once

#include "memory/imported.hpp"
#include "path/slot.hpp"
#include "path/transfer.hpp"

namespace telpher::path {

/// The device of this process on which another process's allocation can be opened, for bytes that
/// go to or come from `here`. not_supported if no started back end fits.
result<memory::place> importer_for(const exported_memory& there,
                                   const memory::place& here) noexcept;

/// Opens it there, or finds it open.
result<memory::mapping> open_exported(int process, const exported_memory& there,
                                      const memory::place& importer) noexcept;

/// Another process's bytes where kernels of a device reach them, while the mapping is held.
struct opened_memory {
  memory::mapping mapping;
  std::byte* data;
};
/// Opens them for kernels of `where`. not_supported if these could not reach them.
result<opened_memory> open_for(int process, const exported_memory& there,
                               const memory::place& where) noexcept;

/// Describes a device region for another process; `info` comes from classify or describe of its
/// address. Of several chunks it describes their run. If they are none, the region is its own
/// allocation, and cannot be opened.
status export_region(const region& r, const device::pointer_info& info,
                     exported_memory& out) noexcept;

}  // namespace telpher::path
