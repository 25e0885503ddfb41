// SPDX-License-Identifier: BSD-3-Clause
#include "device/emu/emu_rt.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "device/emu/arena.hpp"
#include "device/emu/default_streams.hpp"
#include "device/emu/emu.hpp"
#include "device/emu/faults.hpp"
#include "device/emu/topology.hpp"
#include "device/gpurt/backend.hpp"
#include "kernel/cpu.hpp"
#include "kernel/lang.hpp"

namespace telpher::device::emu {
namespace {

thread_local int current = 0;

counters counts{};  // what arenas know of their memory is not counted here

void add(std::int64_t& counter, std::int64_t by = 1) {
  std::atomic_ref(counter).fetch_add(by, std::memory_order_relaxed);
}

constexpr struct {
  const char* name;
  std::int64_t counters::*value;
} rows[] = {{"streams", &counters::streams},
            {"events", &counters::events},
            {"imports", &counters::imports},
            {"allocations", &counters::allocations},
            {"pinned", &counters::pinned},
            {"managed", &counters::managed},
            {"registered", &counters::registered},
            {"mallocs", &counters::mallocs},
            {"copies", &counters::copies},
            {"fills", &counters::fills},
            {"launches", &counters::launches},
            {"queries", &counters::queries},
            {"classifications", &counters::classifications},
            {"ipc_gets", &counters::ipc_gets},
            {"ipc_opens", &counters::ipc_opens},
            {"windows", &counters::windows},
            {"records", &counters::records},
            {"synchronisations", &counters::synchronisations}};

bool strikes(fault_point p) {
  return fault_table::instance().strikes(p);
}

}  // namespace

status emu_rt::to_status(error e) noexcept {
  switch (e) {
    case error::success:
      return status::ok;
    case error::not_ready:
      return status::would_block;
    case error::invalid_value:
      return status::invalid_argument;
    case error::out_of_memory:
      return status::out_of_memory;
    case error::not_supported:
      return status::not_supported;
    default:
      return status::device_error;
  }
}

// --- the runtime ---

bool emu_rt::started() noexcept {
  return arena::instance().started() && !streams::forked();
}

int emu_rt::device_count() noexcept {
  return topology::instance().devices;
}

int emu_rt::current_device() noexcept {
  return started() ? current : -1;
}

error emu_rt::enter(int device, int& saved) noexcept {
  if (streams::forked()) return error::forked;
  if (device >= device_count()) return error::invalid_value;
  if (!arena::instance().start()) return error::out_of_memory;
  streams::watch_forks();
  saved = current;
  current = device;
  return error::success;
}

void emu_rt::leave(int saved) noexcept {
  current = saved;
}

error emu_rt::properties(int device, device_properties& out) noexcept {
  const topology& t = topology::instance();
  out = {};
  std::snprintf(out.name, sizeof out.name, "%s", t.device_name.c_str());
  std::memcpy(out.uuid.bytes, "telpher emu", 11);
  out.uuid.bytes[15] = static_cast<std::uint8_t>(device);
  out.memory_bytes = arena::configured_bytes();
  out.processors = t.processors;
  out.pci_domain = out.pci_bus = out.pci_device = -1;
  out.numa_node = t.numa[device];
  out.runs_together = t.together;
  return error::success;
}

bool emu_rt::peer_access(int device, int peer) noexcept {
  return topology::instance().links[device][peer].kind != distance::unreachable;
}

distance emu_rt::distance_between(int device, int peer) noexcept {
  return topology::instance().links[device][peer].kind;
}

// --- memory ---

error emu_rt::classify(const void* address, bool detail, pointer_info& out) noexcept {
  add(counts.classifications);
  arena::instance().classify(address, detail, out);
  return error::success;
}

error emu_rt::malloc(void** address, std::size_t bytes) noexcept {
  if (strikes(fault_point::malloc)) return error::out_of_memory;
  add(counts.mallocs);
  return arena::instance().allocate(current, bytes, address);
}

error emu_rt::free(void* address) noexcept {
  const int device = arena::instance().device_of(address, 1);
  if (device < 0) return error::invalid_value;
  streams::drain_device(device);
  return arena::instance().release(address);
}

error emu_rt::malloc_pinned(void** address, std::size_t bytes) noexcept {
  if (strikes(fault_point::pinned)) return error::out_of_memory;
  return arena::instance().allocate_host(memory_kind::pinned, bytes, address);
}

error emu_rt::free_pinned(void* address) noexcept {
  streams::drain_device(streams::all_devices);
  return arena::instance().release_host(memory_kind::pinned, address);
}

error emu_rt::malloc_managed(void** address, std::size_t bytes) noexcept {
  if (strikes(fault_point::malloc)) return error::out_of_memory;
  add(counts.mallocs);
  return arena::instance().allocate_host(memory_kind::managed, bytes, address);
}

error emu_rt::free_managed(void* address) noexcept {
  streams::drain_device(streams::all_devices);
  return arena::instance().release_host(memory_kind::managed, address);
}

error emu_rt::register_host(void* address, std::size_t bytes) noexcept {
  if (strikes(fault_point::register_)) return error::not_supported;
  return arena::instance().register_host(address, bytes);
}

error emu_rt::unregister_host(void* address) noexcept {
  streams::drain_device(streams::all_devices);
  return arena::instance().unregister_host(address);
}

error emu_rt::ipc_get(ipc_handle& out, void* address) noexcept {
  add(counts.ipc_gets);
  if (strikes(fault_point::ipc_get)) return error::not_supported;
  return arena::instance().ipc_get(address, out);
}

error emu_rt::ipc_open(void** address, const ipc_handle& handle) noexcept {
  add(counts.ipc_opens);
  if (strikes(fault_point::ipc_open)) return error::not_supported;
  return arena::instance().ipc_open(current, handle, address);
}

error emu_rt::ipc_close(void* address) noexcept {
  const int device = arena::instance().device_of(address, 1);
  if (device < 0) return error::invalid_value;
  streams::drain_device(device);
  return arena::instance().ipc_close(address);
}

error emu_rt::descriptor_get(int* file, const pointer_info& info) noexcept {
  add(counts.ipc_gets);
  if (strikes(fault_point::ipc_get)) return error::not_supported;
  return arena::instance().descriptor_get(info, file);
}

error emu_rt::descriptors_open(void** address, int device, std::span<const int> files,
                               chunk_sizes bytes) noexcept {
  add(counts.ipc_opens);
  if (strikes(fault_point::ipc_open)) return error::not_supported;
  return arena::instance().descriptors_open(device, files, bytes, address);
}

error emu_rt::descriptors_close(void* address, chunk_sizes bytes) noexcept {
  const int device = arena::instance().device_of(address, 1);
  if (device < 0) return error::invalid_value;
  streams::drain_device(device);
  return arena::instance().descriptors_close(address, sum_of(bytes));
}

status emu_rt::map_for_cpu(const pointer_info& info, void** window) noexcept {
  if (!topology::instance().cpu_window) return status::not_supported;
  add(counts.windows);
  *window = kernel::resolve(reinterpret_cast<void*>(info.base));
  return status::ok;
}

void* emu_rt::kernel_address(void* address) noexcept {
  return kernel::resolve(address);
}

bool emu_rt::windows_write_combined(int) noexcept {
  return topology::instance().window_write_combined;
}

// --- work ---

error emu_rt::stream_create(stream_type* out) noexcept {
  *out = streams::make_stream(current, priority::highest);
  add(counts.streams);
  return error::success;
}

error emu_rt::program_stream_create(stream_type* out) noexcept {
  *out = streams::make_stream(current, priority::program);
  add(counts.streams);
  return error::success;
}

error emu_rt::stream_destroy(const stream_type& s) noexcept {
  s->close();
  add(counts.streams, -1);
  return error::success;
}

error emu_rt::stream_synchronise(const stream_type& s) noexcept {
  add(counts.synchronisations);
  s->synchronise();
  return s->take_failure() ? error::faulted : error::success;
}

error emu_rt::event_create(event_type* out) noexcept {
  *out = std::make_shared<event_state>();
  add(counts.events);
  return error::success;
}

error emu_rt::event_destroy(const event_type&) noexcept {
  add(counts.events, -1);
  return error::success;
}

error emu_rt::event_record(const event_type& e, const stream_type& s) noexcept {
  add(counts.records);
  if (strikes(fault_point::event)) return error::injected;
  e->failed.store(false, std::memory_order_relaxed);
  const std::uint64_t number = e->recorded.fetch_add(1) + 1;
  return s->enqueue([e, number, stream = s.get()] {
    if (stream->take_failure()) e->failed.store(true, std::memory_order_relaxed);
    std::uint64_t done = e->done.load(std::memory_order_relaxed);
    while (done < number && !e->done.compare_exchange_weak(done, number)) {
    }
  });
}

error emu_rt::event_query(const event_type& e) noexcept {
  if (streams::forked()) return error::forked;
  add(counts.queries);
  if (e->done.load(std::memory_order_acquire) < e->recorded.load()) return error::not_ready;
  return e->failed.load(std::memory_order_relaxed) ? error::faulted : error::success;
}

error emu_rt::copy(void* to, const void* from, std::size_t bytes, const stream_type& s) noexcept {
  add(counts.copies);
  if (strikes(fault_point::memcpy)) return error::injected;
  const int target = arena::instance().device_of(to, bytes);
  const int source = arena::instance().device_of(from, bytes);
  if (target == -2 || source == -2) return error::invalid_value;
  return s->enqueue([=] {
    const double microseconds = topology::instance().copy_time_us(target, source, bytes);
    const std::uint64_t start = microseconds > 0 ? now_ns() : 0;
    std::memmove(kernel::resolve(to), kernel::resolve(from), bytes);
    if (microseconds > 0) streams::wait_until(start, microseconds);
  });
}

error emu_rt::fill(void* to, int byte, std::size_t bytes, const stream_type& s) noexcept {
  add(counts.fills);
  if (strikes(fault_point::memcpy)) return error::injected;
  if (arena::instance().device_of(to, bytes) == -2) return error::invalid_value;
  return s->enqueue([=] { std::memset(kernel::resolve(to), byte, bytes); });
}

error emu_rt::launch(kernel::id k, const void* parameters, int blocks, int,
                     const stream_type& s) noexcept {
  if (strikes(fault_point::kernel)) return error::not_supported;
  const kernel::cpu_kernel& body = kernel::cpu_kernel_of(k);
  return launch_function(body.run_block, parameters, body.parameter_bytes,
                         static_cast<unsigned>(blocks), s);
}

error emu_rt::launch_function(block_function run, const void* parameters, std::size_t bytes,
                              unsigned blocks, const stream_type& s) noexcept {
  add(counts.launches);
  if (strikes(fault_point::launch)) return error::injected;
  if (strikes(fault_point::die)) return s->enqueue([stream = s.get()] { stream->fail(); });
  struct alignas(16) parameter_copy {
    std::array<std::byte, kernel::parameter_capacity> bytes;
  };
  auto copied = std::make_shared<parameter_copy>();
  if (bytes > 0) std::memcpy(copied->bytes.data(), parameters, bytes);
  return s->enqueue([copied, run, blocks] {
    for (unsigned block = 0; block < blocks; ++block) run(copied->bytes.data(), block, blocks);
  });
}

// --- the program's streams: default_streams.cpp ---

error emu_rt::synchronise_device() noexcept {
  add(counts.synchronisations);
  streams::synchronise_device(current);
  return error::success;
}

error emu_rt::synchronise_default() noexcept {
  add(counts.synchronisations);
  synchronise_default_streams();
  return error::success;
}

static_assert(gpurt::gpu_runtime<emu_rt> && gpurt::gives_descriptors<emu_rt>);

// --- what tests see ---

device::backend* instance() noexcept {
  static auto* one = new gpurt::backend<emu_rt>;  // never destroyed: used until the process ends
  return one;
}

counters count() noexcept {
  using origin = arena::origin;
  arena& a = arena::instance();
  counters c;
  for (const auto& row : rows) c.*row.value = std::atomic_ref(counts.*row.value).load();
  c.imports = a.live(origin::imported, memory_kind::device);
  c.allocations = a.live(origin::own, memory_kind::device);
  c.pinned = a.live(origin::made_host, memory_kind::pinned);
  c.managed = a.live(origin::made_host, memory_kind::managed);
  c.registered = a.live(origin::registered, memory_kind::pinned);
  return c;
}

std::int64_t count(const char* name) noexcept {
  if (std::strcmp(name, "faults") == 0) return fault_table::instance().struck();
  for (const auto& row : rows)
    if (std::strcmp(row.name, name) == 0) return count().*row.value;
  return -1;
}

void set_faults(const char* text) noexcept {
  fault_table::instance().set(text);
}

}  // namespace telpher::device::emu
