// SPDX-License-Identifier: BSD-3-Clause
#include "path/exported.hpp"

#include <utility>

#include "device/registry.hpp"
#include "memory/chunk_runs.hpp"
#include "path/neighbours.hpp"

namespace telpher::path {
namespace {

// The sender's own device (the copy then reads local memory), else one that reaches it; of those
// only that this process uses: a context on another one takes some hundred MB of it.
result<memory::place> device_for_host_copies(device::backend* b,
                                             const exported_memory& there) noexcept {
  const auto its = place_of(b, there.uuid);
  if (its && b->in_use(its->device)) return *its;
  for (int d = 0; d < b->device_count(); ++d)
    if (b->in_use(d) && (!its || b->peer_access(d, its->device))) return memory::place{b, d};
  return status::not_supported;
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
