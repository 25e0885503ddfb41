// SPDX-License-Identifier: BSD-3-Clause
#include "path/ipc_get.hpp"

#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "device/registry.hpp"
#include "path/neighbours.hpp"

namespace telpher::path {
namespace {

// The sender's own device if this process sees it (the copy then reads local memory), else device
// 0.
memory::place device_for_host_copies(device::backend* b, const exported_memory& there) noexcept {
  for (int d = 0; d < b->device_count(); ++d)
    if (uuid_of({b, d}) == there.uuid) return {b, d};
  return {b, 0};
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
  out = {};
  out.address = reinterpret_cast<std::uintptr_t>(r.data);
  out.base = info.base;
  out.allocation_bytes = info.bytes;
  out.generation = info.generation;
  out.uuid = uuid_of(r.where);
  may_wait_on(r.where);  // announces to the other ranks that the device is used
  out.device = info.device;
  out.owner = info.owner;
  if (!config().ipc) return status::ok;
  auto handle = memory::export_handle(r.where, info);
  out.exportable = handle.has_value();
  if (handle) out.handle = *handle;
  return status::ok;
}

result<memory::mapping> open_exported(int process, const exported_memory& there,
                                      const memory::place& importer) noexcept {
  return memory::import_memory({process, importer.owner, static_cast<std::uintptr_t>(there.base),
                                there.allocation_bytes, there.generation},
                               importer, there.handle);
}

get_copy::get_copy(const memory::place& mover, const region& to, const void* from,
                   bool is_local) noexcept
    : copier_(copier::on(mover)), is_local_(is_local) {
  job_.to = to.data;
  job_.from = from;
  job_.bytes = to.bytes;
  if (!to.where.on_device()) land(mover);
}

get_copy::~get_copy() = default;

// A kernel takes less time for a small message than a copy of the driver, but may write to pinned
// host memory only.
void get_copy::land(const memory::place& mover) noexcept {
  job_.engine_only = true;
  if (job_.bytes > config().landing_pinned_limit) return;
  auto landing = memory::buffer::host(job_.bytes, mover.owner);
  if (!landing || !landing->pinned()) return;
  landing_ = std::move(*landing);
  target_ = std::exchange(job_.to, landing_.data());
  job_.engine_only = false;
}

status get_copy::poll() noexcept {
  const status s = copier_.poll(job_);
  if (s == status::ok && landing_) std::memcpy(target_, landing_.data(), job_.bytes);
  return s;
}

result<opened_memory> open_for(int process, const exported_memory& there,
                               const memory::place& where) noexcept {
  if (!importer_for(there, where)) return status::not_supported;
  auto opened = open_exported(process, there, where);
  TELPHER_TRY(opened);
  std::byte* const data = opened->base() + (there.address - there.base);
  return opened_memory{std::move(*opened), data};
}

// A kernel can access memory of another device of this process only if peer access was enabled; a
// copy engine always can.
std::unique_ptr<get_copy> get_copy::local(const region& to, const memory::place& where,
                                          const void* from) noexcept {
  const memory::place& mover = to.where.on_device() ? to.where : where;
  std::unique_ptr<get_copy> p(new get_copy(mover, to, from, true));
  p->job_.engine_only |= !(mover == where);
  p->copier_.enqueue(p->job_);
  return p;
}

result<std::unique_ptr<get_copy>> get_copy::imported(int sender, const exported_memory& from,
                                                     const region& to) noexcept {
  auto importer = importer_for(from, to.where);
  TELPHER_TRY(importer);
  auto mapping = open_exported(sender, from, *importer);
  TELPHER_TRY(mapping);
  const void* source = mapping->base() + (from.address - from.base);
  std::unique_ptr<get_copy> p(new get_copy(*importer, to, source, false));
  p->mapping_ = std::move(*mapping);
  p->copier_.enqueue(p->job_);
  return p;
}

// No back end can copy between its own memory and another back end's.
status get_local(receive_end& e) noexcept {
  const exported_memory& payload = e.cell->payload;
  device::backend* const owner = device::find(payload.owner);
  if (e.to.where.on_device() && e.to.where.owner != owner) return status::not_supported;
  e.transfer = get_copy::local(e.to, {owner, payload.device},
                               reinterpret_cast<const void*>(payload.address));
  e.cell->set(e.epoch, slot_state::getting);
  return status::ok;
}

status get_imported(receive_end& e) noexcept {
  const exported_memory& payload = e.cell->payload;
  if (e.to.where.on_device() && e.to.where.owner != device::find(payload.owner))
    return status::not_supported;
  auto p = get_copy::imported(e.peer, payload, e.to);
  TELPHER_TRY(p);
  e.transfer = std::move(*p);
  e.cell->set(e.epoch, slot_state::getting);
  return status::ok;
}

}  // namespace telpher::path
