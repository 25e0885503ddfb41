// SPDX-License-Identifier: BSD-3-Clause
#include "path/exported.hpp"

#include <utility>

#include "device/registry.hpp"
#include "memory/chunk_runs.hpp"
#include "path/neighbours.hpp"

namespace telpher::path {
namespace {

// The sender's own device if this process sees it (the copy then reads local memory), else device
// 0.
memory::place device_for_host_copies(device::backend* b, const exported_memory& there) noexcept {
  return place_of(b, there.uuid).value_or(memory::place{b, 0});
}

}  // namespace

result<memory::place> importer_for(const exported_memory& there,
                                   const memory::place& here) noexcept {
  if (!there.exportable || !config().ipc) return status::not_supported;
  if (here.on_device())
    return here.owner->owner() == there.owner ? result<memory::place>(here) : status::not_supported;
  device::backend* b = device::find(there.owner);
  if (!b || !b->started() || b->device_count() == 0) return status::not_supported;
  return device_for_host_copies(b, there);
}

status export_region(const region& r, const device::pointer_info& info,
                     exported_memory& out) noexcept {
  const device::pointer_info whole = memory::holding(r.where, info, r.data, r.bytes);
  out = {};
  out.address = reinterpret_cast<std::uintptr_t>(r.data);
  out.base = whole.base;
  out.allocation_bytes = whole.bytes;
  out.generation = whole.generation;
  out.uuid = uuid_of(r.where);
  may_wait_on(r.where);  // announces to the other ranks that the device is used
  out.device = info.device;
  out.owner = info.owner;
  // Bytes of several chunks that are no run have no handle. What lies behind them is not known.
  if (whole.is_chunk && !inside(r, whole)) {
    out.base = out.address;
    out.allocation_bytes = r.bytes;
    return status::ok;
  }
  if (!config().ipc) return status::ok;
  auto handle = memory::export_handle(r.where, whole);
  out.exportable = handle.has_value();
  if (handle) out.handle = *handle;
  return status::ok;
}

result<memory::mapping> open_exported(int process, const exported_memory& there,
                                      const memory::place& importer) noexcept {
  return memory::import_memory({process, importer.owner, static_cast<std::uintptr_t>(there.base),
                                there.allocation_bytes, there.generation, there.handle.is_run()},
                               importer, there.handle);
}

result<opened_memory> open_for(int process, const exported_memory& there,
                               const memory::place& where) noexcept {
  if (!importer_for(there, where)) return status::not_supported;
  auto opened = open_exported(process, there, where);
  TELPHER_TRY(opened);
  std::byte* const data = opened->base() + (there.address - there.base);
  return opened_memory{std::move(*opened), data};
}

}  // namespace telpher::path
