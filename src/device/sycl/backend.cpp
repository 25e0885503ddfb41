// SPDX-License-Identifier: BSD-3-Clause
#include "device/sycl/backend.hpp"

#include <sycl/sycl.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "device/gpurt/nodes.hpp"
#include "device/sycl/guarded.hpp"
#include "device/sycl/kernels.hpp"
#include "device/sycl/queue.hpp"

namespace telpher::device::sycl {
namespace {

struct event_object {
  std::mutex mutex;
  std::optional<::sycl::event> recorded;
};

event_object& object_of(event e) noexcept {
  return *static_cast<event_object*>(e.handle);
}

const place& place_at(int device) {
  return places::instance().at(device);
}

// Parses an address such as "0000:3a:00.0".
void read_pci(const ::sycl::device& d, device_properties& out) {
  out.pci_domain = out.pci_bus = out.pci_device = -1;
  if (!d.has(::sycl::aspect::ext_intel_pci_address)) return;
  const std::string text = d.get_info<::sycl::ext::intel::info::device::pci_address>();
  unsigned domain = 0, bus = 0, slot = 0;
  if (std::sscanf(text.c_str(), "%x:%x:%x", &domain, &bus, &slot) != 3) return;
  out.pci_domain = static_cast<int>(domain);
  out.pci_bus = static_cast<int>(bus);
  out.pci_device = static_cast<int>(slot);
}

void read_uuid(const ::sycl::device& d, device_uuid& out) {
  if (d.has(::sycl::aspect::ext_intel_device_info_uuid)) {
    const auto uuid = d.get_info<::sycl::ext::intel::info::device::uuid>();
    std::memcpy(out.bytes, uuid.data(), std::min(sizeof out.bytes, uuid.size()));
    return;
  }
  const std::size_t hash = std::hash<std::string>{}(d.get_info<::sycl::info::device::name>());
  std::memcpy(out.bytes, &hash, sizeof hash);
}

}  // namespace

// --- identity ---

bool backend::valid(int device) noexcept {
  return device >= 0 && device < device_count();
}

int backend::device_count() noexcept {
  return process_exit::begun() ? 0 : places::instance().count();
}

status backend::properties(int device, device_properties& out) noexcept {
  out = {};
  if (!valid(device)) return status::invalid_argument;
  if (!started()) return status::not_supported;  // asking would start the runtime
  return guarded("properties", [&] {
    const ::sycl::device& d = place_at(device).device;
    std::snprintf(out.name, sizeof out.name, "%s",
                  d.get_info<::sycl::info::device::name>().c_str());
    read_uuid(d, out.uuid);
    read_pci(d, out);
    out.memory_bytes = d.get_info<::sycl::info::device::global_mem_size>();
    out.processors = static_cast<int>(d.get_info<::sycl::info::device::max_compute_units>());
    out.numa_node =
        out.pci_domain < 0 ? -1 : gpurt::numa_node_of(out.pci_domain, out.pci_bus, out.pci_device);
    return status::ok;
  });
}

bool backend::peer_access(int device, int peer) noexcept {
  if (!valid(device) || !valid(peer)) return false;
  if (device == peer) return true;
  if (!started()) return false;
  return guarded("peer access", [&] {
           ::sycl::device asking = place_at(device).device;  // the query is not a const function
           const bool can = place_at(device).context == place_at(peer).context &&
                            asking.ext_oneapi_can_access_peer(place_at(peer).device);
           return can ? status::ok : status::not_supported;
         }) == status::ok;
}

// SYCL does not distinguish links between GPUs from PCIe.
distance backend::distance_between(int device, int peer) noexcept {
  if (!valid(device) || !valid(peer)) return distance::unreachable;
  if (device == peer) return distance::same;
  return peer_access(device, peer) ? distance::pcie : distance::unreachable;
}

// --- the program's memory ---

bool backend::started() noexcept {
  return !process_exit::begun() && places::instance().started();
}

status backend::adopt_queue(const void* queue) noexcept {
  if (!queue) return status::invalid_argument;
  return places::instance().adopt(*static_cast<const ::sycl::queue*>(queue));
}

status backend::classify(const void* address, bool detail, pointer_info& out) noexcept {
  out = {};
  if (!address || !started()) return status::ok;
  return guarded("pointer type", [&] {
    const place* where = places::instance().look_up(address, out);
    if (!where) {
      static_cast<void>(registered(reinterpret_cast<std::uintptr_t>(address), out));
      return status::ok;
    }
    allocation a;
    if (!detail || where->native.describe(address, a) != status::ok) return status::ok;
    out.base = a.base;
    out.bytes = a.bytes;
    out.generation = a.identity ? a.identity : generation_of(a.base);
    // Without an id from the driver, new memory at an old address could not be told from the old.
    out.exportable = out.kind == memory_kind::device && where->exports && a.identity != 0;
    return status::ok;
  });
}

bool backend::registered(std::uintptr_t address, pointer_info& out) noexcept {
  if (registrations_.load(std::memory_order_acquire) == 0) return false;
  std::lock_guard lock(mutex_);
  auto at = registered_.upper_bound(address);
  if (at == registered_.begin() || address >= std::prev(at)->second.last) return false;
  --at;
  out.kind = memory_kind::pinned;
  out.owner = vendor::sycl;
  out.device = static_cast<std::int16_t>(at->second.device);
  out.base = at->first;
  out.bytes = at->second.last - at->first;
  return true;
}

std::uint64_t backend::generation_of(std::uintptr_t base) noexcept {
  std::lock_guard lock(mutex_);
  const auto found = generations_.find(base);
  return found == generations_.end() ? 0 : found->second;
}

// --- our memory ---

result<void*> backend::obtained(void* address, std::size_t bytes) noexcept {
  if (!address) {
    TELPHER_ERROR("sycl gives no %zu bytes: out of memory", bytes);
    return status::out_of_memory;
  }
  std::lock_guard lock(mutex_);
  generations_[reinterpret_cast<std::uintptr_t>(address)] = next_generation_++;
  return address;
}

status backend::give_back(int device, void* address) noexcept {
  if (!address) return status::ok;
  {
    std::lock_guard lock(mutex_);
    generations_.erase(reinterpret_cast<std::uintptr_t>(address));
  }
  return guarded("free", [&] {
    ::sycl::free(address, place_at(device).context);
    return status::ok;
  });
}

result<void*> backend::allocate(int device, std::size_t bytes) noexcept {
  if (!valid(device)) return status::invalid_argument;
  TELPHER_TRY(places::instance().start());
  void* made = nullptr;
  TELPHER_TRY(guarded("malloc_device", [&] {
    const place& p = place_at(device);
    made = ::sycl::aligned_alloc_device(256, std::max<std::size_t>(bytes, 1), p.device, p.context);
    return status::ok;
  }));
  return obtained(made, bytes);
}

status backend::release(int device, void* address) noexcept {
  return valid(device) ? give_back(device, address) : status::invalid_argument;
}

result<void*> backend::allocate_pinned(std::size_t bytes) noexcept {
  TELPHER_TRY(places::instance().start());
  void* made = nullptr;
  TELPHER_TRY(guarded("malloc_host", [&] {
    made = ::sycl::aligned_alloc_host(4096, std::max<std::size_t>(bytes, 1), place_at(0).context);
    return status::ok;
  }));
  return obtained(made, bytes);
}

status backend::release_pinned(void* address) noexcept {
  return give_back(0, address);
}

result<void*> backend::allocate_managed(std::size_t bytes) noexcept {
  TELPHER_TRY(places::instance().start());
  void* made = nullptr;
  TELPHER_TRY(guarded("malloc_shared", [&] {
    const place& p = place_at(0);
    if (!p.device.has(::sycl::aspect::usm_shared_allocations)) return status::not_supported;
    made = ::sycl::malloc_shared(std::max<std::size_t>(bytes, 1), p.device, p.context);
    return status::ok;
  }));
  return obtained(made, bytes);
}

status backend::release_managed(void* address) noexcept {
  return give_back(0, address);
}

// A CPU device can access all memory as it is.
status backend::register_host(void* address, std::size_t bytes) noexcept {
  if (!started()) return status::not_supported;
  return guarded("host memory registration", [&] {
    const place& p = place_at(0);
    if (!p.registers) return status::not_supported;
    if (!p.device.is_cpu())
      ::sycl::ext::oneapi::experimental::register_host_memory(address, bytes, p.context);
    const auto first = reinterpret_cast<std::uintptr_t>(address);
    std::lock_guard lock(mutex_);
    registered_[first] = {first + bytes, 0};
    registrations_.store(registered_.size(), std::memory_order_release);
    return status::ok;
  });
}

status backend::unregister_host(void* address) noexcept {
  return guarded("host memory deregistration", [&] {
    const place& p = place_at(0);
    {
      std::lock_guard lock(mutex_);
      if (registered_.erase(reinterpret_cast<std::uintptr_t>(address)) == 0)
        return status::invalid_argument;
      registrations_.store(registered_.size(), std::memory_order_release);
    }
    if (!p.device.is_cpu())
      ::sycl::ext::oneapi::experimental::unregister_host_memory(address, p.context);
    return status::ok;
  });
}

bool backend::shares_host_memory(int device) noexcept {
  if (!valid(device) || !started()) return false;
  return guarded("device kind", [&] {
           return place_at(device).device.is_cpu() ? status::ok : status::not_supported;
         }) == status::ok;
}

// --- work ---

result<stream> backend::create_stream(int device) noexcept {
  if (!valid(device)) return status::invalid_argument;
  TELPHER_TRY(places::instance().start());
  stream made;
  TELPHER_TRY(guarded("queue", [&] {
    made.handle = new work_queue(device);
    return status::ok;
  }));
  return made;
}

void backend::destroy_stream(stream s) noexcept {
  if (s && !process_exit::begun()) delete &queue_of(s);
}

result<event> backend::create_event(int device) noexcept {
  if (!valid(device)) return status::invalid_argument;
  auto* made = new (std::nothrow) event_object;
  if (!made) return status::out_of_memory;
  return event{made};
}

void backend::destroy_event(event e) noexcept {
  if (e && !process_exit::begun()) delete &object_of(e);
}

// Takes the event of the last work instead of submitting another command.
status backend::record(event e, stream s) noexcept {
  return guarded("event record", [&] {
    auto last = queue_of(s).last();
    event_object& object = object_of(e);
    std::lock_guard lock(object.mutex);
    object.recorded = std::move(last);
    return status::ok;
  });
}

status backend::query(event e) noexcept {
  return guarded("event query", [&] {
    event_object& object = object_of(e);
    std::lock_guard lock(object.mutex);
    if (!object.recorded) return status::ok;
    if (!is_done(*object.recorded)) return status::would_block;
    object.recorded.reset();
    return status::ok;
  });
}

status backend::synchronise(stream s) noexcept {
  return guarded("queue wait", [&] {
    queue_of(s).wait();
    return status::ok;
  });
}

namespace {

/// The place of a device address that the queue's context does not know; -1 if it knows it.
int foreign_place(const work_queue& q, const void* address) {
  if (!places::instance().several_contexts()) return -1;
  pointer_info info;
  const place* p = places::instance().look_up(address, info);
  const bool foreign = p && info.kind != memory_kind::pinned &&
                       p->context != places::instance().at(q.device()).context;
  return foreign ? info.device : -1;
}

// No queue knows addresses of two contexts. The copy goes through the host and is done on return.
void copy_across(work_queue& q, void* to, int to_place, const void* from, int from_place,
                 std::size_t bytes) {
  std::vector<std::byte> between(bytes);
  q.wait();  // keeps the stream's order
  work_queue reader(from_place >= 0 ? from_place : q.device());
  reader.copy(between.data(), from, bytes);
  reader.wait();
  work_queue writer(to_place >= 0 ? to_place : q.device());
  writer.copy(to, between.data(), bytes);
  writer.wait();
}

}  // namespace

status backend::copy(void* to, const void* from, std::size_t bytes, stream s) noexcept {
  if (bytes == 0) return status::ok;
  return guarded("memcpy", [&] {
    work_queue& q = queue_of(s);
    const int to_place = foreign_place(q, to), from_place = foreign_place(q, from);
    if (to_place >= 0 || from_place >= 0)
      copy_across(q, to, to_place, from, from_place, bytes);
    else
      q.copy(to, from, bytes);
    return status::ok;
  });
}

status backend::fill(void* to, int byte, std::size_t bytes, stream s) noexcept {
  if (bytes == 0) return status::ok;
  return guarded("memset", [&] {
    queue_of(s).fill(to, byte, bytes);
    return status::ok;
  });
}

status backend::launch(kernel::id k, const void* parameters, int blocks, int threads,
                       stream s) noexcept {
  if (blocks < 1 || threads < 1 || threads > 1024) return status::invalid_argument;
  return guarded("launch", [&] { return queue_of(s).launch(k, parameters, blocks, threads); });
}

status backend::prepare(int device, kernel::id k) noexcept {
  if (!valid(device)) return status::invalid_argument;
  TELPHER_TRY(places::instance().start());
  return guarded("kernel", [&] {
    return kernel_of(place_at(device), k) ? status::ok : status::not_supported;
  });
}

}  // namespace telpher::device::sycl
