// SPDX-License-Identifier: BSD-3-Clause
#include "device/emu/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/shared_memory.hpp"
#include "kernel/lang.hpp"

namespace telpher::device::emu {

/// The content of an ipc_handle.
struct wire_handle {
  std::int32_t pid;
  std::int32_t descriptor;
  std::uint64_t cookie;  // of the exporting heap
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t generation;
  std::uint64_t heap_bytes;
  std::int32_t device;
};
static_assert(sizeof(wire_handle) <= ipc_handle::capacity);

namespace {

constexpr std::size_t page = arena::page;
// Size of the import area, as a multiple of our own heaps. It is only address space, but tools that
// watch every byte (valgrind) have little of it.
constexpr std::size_t imports_to_own = 4;

// The end of a heap's memfd: the cookie, then the table of generations.
constexpr std::size_t table_bytes(std::size_t heap_bytes) {
  return arena::whole_pages(sizeof(std::uint64_t) * (1 + heap_bytes / page));
}
constexpr std::size_t generation_index(std::size_t offset) {
  return 1 + offset / page;
}
constexpr off_t generation_position(std::size_t heap_bytes, std::size_t offset) {
  return static_cast<off_t>(heap_bytes + sizeof(std::uint64_t) * generation_index(offset));
}

std::uintptr_t number_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

bool read_word(int descriptor, off_t at, std::uint64_t& word) {
  return ::pread(descriptor, &word, sizeof word, at) == sizeof word;
}

}  // namespace

arena& arena::instance() noexcept {
  static arena* one = new arena;  // never destroyed: streams may outlive static destructors
  return *one;
}

std::size_t arena::configured_bytes() noexcept {
  return whole_pages(config().emu_memory);
}

bool arena::start() noexcept {
  if (started()) return true;
  const std::unique_lock lock(mutex_);
  return started() || start_locked();
}

bool arena::start_locked() noexcept {
  devices_ = topology::instance().devices;
  heap_bytes_ = configured_bytes();
  import_offset_ = heap_bytes_ * static_cast<std::size_t>(devices_);
  const std::size_t import_bytes = imports_to_own * import_offset_;
  window_bytes_ = import_offset_ + import_bytes;
  void* reserved = ::mmap(nullptr, 2 * window_bytes_, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    TELPHER_ERROR("cannot reserve %zu bytes of address space: %m", 2 * window_bytes_);
    return false;
  }
  window_ = number_of(reserved);
  for (int device = 0; device < devices_; ++device)
    if (!make_heap(device)) return false;
  imports_ = range_pool(import_bytes);
  kernel::emulated_window = {window_, window_bytes_, window_bytes_};
  started_.store(true, std::memory_order_release);
  return true;
}

bool arena::make_heap(int device) noexcept {
  heap& h = heaps_[device];
  h.file = descriptor(::memfd_create("telpher-emu", MFD_CLOEXEC));
  const int file = h.file.get();
  const std::size_t bytes = heap_bytes_ + table_bytes(heap_bytes_);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    TELPHER_ERROR("cannot make %zu bytes of emulated device memory: %m", bytes);
    return false;
  }
  const std::uintptr_t alias =
      window_ + window_bytes_ + heap_bytes_ * static_cast<std::size_t>(device);
  void* const memory = ::mmap(reinterpret_cast<void*>(alias), heap_bytes_, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0);
  void* const table = ::mmap(nullptr, table_bytes(heap_bytes_), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_NORESERVE, file, static_cast<off_t>(heap_bytes_));
  if (memory == MAP_FAILED || table == MAP_FAILED) {
    TELPHER_ERROR("cannot map %zu bytes of emulated device memory: %m", heap_bytes_);
    return false;
  }
  if (config().test_emu_cpu_access &&
      ::mmap(reinterpret_cast<void*>(alias - window_bytes_), heap_bytes_, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED) {
    TELPHER_ERROR("cannot map emulated device memory for the CPU: %m");
    return false;
  }
  h.table = static_cast<std::uint64_t*>(table);
  h.table[0] = h.cookie = random_bits();
  h.pool = range_pool(heap_bytes_);
  return true;
}

void arena::set_generation(int device, std::size_t offset, std::uint64_t generation) noexcept {
  std::atomic_ref(heaps_[device].table[generation_index(offset)])
      .store(generation, std::memory_order_release);
}

arena::range_map::iterator arena::find(std::uintptr_t address) noexcept {
  auto at = ranges_.upper_bound(address);
  if (at == ranges_.begin()) return ranges_.end();
  --at;
  return address - at->first < at->second.bytes ? at : ranges_.end();
}

error arena::allocate(int device, std::size_t bytes, void** address) noexcept {
  const std::unique_lock lock(mutex_);
  const std::size_t mapped = whole_pages(bytes);
  const std::size_t offset =
      bytes > heap_bytes_ ? range_pool::none : heaps_[device].pool.take(mapped);
  if (offset == range_pool::none) return error::out_of_memory;
  const std::uintptr_t base = window_ + heap_bytes_ * static_cast<std::size_t>(device) + offset;
  const std::uint64_t generation = next_generation_++;
  set_generation(device, offset, generation);
  ranges_[base] = {
      bytes,      mapped, generation, static_cast<std::int16_t>(device), memory_kind::device,
      origin::own};
  *address = reinterpret_cast<void*>(base);
  return error::success;
}

error arena::drop(void* address, origin from, memory_kind kind, range& dropped) noexcept {
  const auto at = ranges_.find(number_of(address));
  if (at == ranges_.end() || at->second.from != from || at->second.kind != kind)
    return error::invalid_value;
  dropped = std::move(at->second);
  ranges_.erase(at);
  return error::success;
}

error arena::release(void* address) noexcept {
  const std::unique_lock lock(mutex_);
  range r{};
  if (const error e = drop(address, origin::own, memory_kind::device, r); e != error::success)
    return e;
  const std::size_t offset =
      number_of(address) - window_ - heap_bytes_ * static_cast<std::size_t>(r.device);
  set_generation(r.device, offset, 0);
  heap& h = heaps_[r.device];
  // The pages go back to the system. Importers that still map them read zeros.
  if (::madvise(static_cast<std::byte*>(address) + window_bytes_, r.mapped, MADV_REMOVE) != 0)
    TELPHER_DEBUG("cannot give emulated device memory back to the system: %m");
  h.pool.give(offset, r.mapped);
  return error::success;
}

error arena::allocate_host(memory_kind kind, std::size_t bytes, void** address) noexcept {
  const std::size_t mapped = whole_pages(bytes);
  void* made = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return error::out_of_memory;
  const std::unique_lock lock(mutex_);
  ranges_[number_of(made)] = {bytes, mapped, next_generation_++, 0, kind, origin::made_host};
  *address = made;
  return error::success;
}

error arena::prefetch(void* address, int device) noexcept {
  const std::unique_lock lock(mutex_);
  const auto at = find(number_of(address));
  if (at == ranges_.end() || at->second.kind != memory_kind::managed) return error::invalid_value;
  at->second.prefetched = device >= 0;
  at->second.device = static_cast<std::int16_t>(std::max(device, 0));
  return error::success;
}

error arena::release_host(memory_kind kind, void* address) noexcept {
  const std::unique_lock lock(mutex_);
  range r{};
  if (const error e = drop(address, origin::made_host, kind, r); e != error::success) return e;
  ::munmap(address, r.mapped);
  return error::success;
}

error arena::register_host(void* address, std::size_t bytes) noexcept {
  const std::uintptr_t base = number_of(address);
  if (!address || base % page || base - window_ < 2 * window_bytes_) return error::invalid_value;
  const std::unique_lock lock(mutex_);
  const auto next = ranges_.lower_bound(base);
  if (find(base) != ranges_.end() || (next != ranges_.end() && next->first - base < bytes))
    return error::already_mapped;
  ranges_[base] = {bytes, bytes, next_generation_++, 0, memory_kind::pinned, origin::registered};
  return error::success;
}

error arena::unregister_host(void* address) noexcept {
  const std::unique_lock lock(mutex_);
  range r{};
  return drop(address, origin::registered, memory_kind::pinned, r) == error::success
             ? error::success
             : error::already_mapped;
}

void arena::classify(const void* address, bool detail, pointer_info& out) noexcept {
  const std::shared_lock lock(mutex_);
  const auto at = find(number_of(address));
  if (at == ranges_.end()) return;
  const range& r = at->second;
  out.cpu_accessible = r.prefetched && config().managed != "host";
  out.kind = out.cpu_accessible ? memory_kind::device : r.kind;
  out.owner = vendor::emu;
  out.device = r.device;
  if (!detail) return;
  out.base = at->first;
  out.bytes = r.bytes;
  out.generation = r.generation;
  out.exportable = r.from == origin::own || r.exports;
  out.is_chunk = r.from == origin::mapped;
}

int arena::device_of(const void* address, std::size_t bytes) noexcept {
  std::uintptr_t start = number_of(address);
  if (start - window_ >= window_bytes_) return -1;
  const std::shared_lock lock(mutex_);
  auto at = find(start);
  const int device = at == ranges_.end() ? -2 : at->second.device;
  while (at != ranges_.end() && start - at->first + bytes > at->second.bytes) {
    const std::uintptr_t behind = at->first + at->second.bytes;
    const bool chunk = at->second.from == origin::mapped;
    if (++at == ranges_.end() || !chunk || at->second.from != origin::mapped || at->first != behind)
      return -2;
    bytes -= behind - start;
    start = behind;
  }
  return device;
}

error arena::ipc_get(void* address, ipc_handle& out) noexcept {
  const std::shared_lock lock(mutex_);
  const auto at = find(number_of(address));
  if (at == ranges_.end()) return error::invalid_value;
  const range& r = at->second;
  if (r.from != origin::own) return error::not_supported;
  const heap& h = heaps_[r.device];
  const int file = h.file.get();
  if (file < 0) return error::not_supported;  // the program closed it, so nobody can open it
  const wire_handle wire{
      ::getpid(),  file,
      h.cookie,    at->first - window_ - heap_bytes_ * static_cast<std::size_t>(r.device),
      r.bytes,     r.generation,
      heap_bytes_, r.device};
  out = {};
  std::memcpy(out.bytes, &wire, sizeof wire);
  return error::success;
}

error arena::ipc_open(int device, const ipc_handle& handle, void** address) noexcept {
  wire_handle wire;
  std::memcpy(&wire, handle.bytes, sizeof wire);
  const topology& t = topology::instance();
  if (is_own(wire) || wire.bytes == 0 || wire.offset % page ||
      wire.offset + wire.bytes > wire.heap_bytes || wire.device < 0 || wire.device >= t.devices)
    return error::invalid_value;
  if (wire.device != device && t.links[device][wire.device].kind == distance::unreachable)
    return error::not_supported;
  const std::unique_lock lock(mutex_);
  if (is_open(device, wire)) return error::already_mapped;
  if (!config().test_emu_opens_both && is_in_the_way(wire)) return error::not_supported;
  return map_import(device, wire, address);
}

// Processes of two PID namespaces may have one number.
bool arena::is_own(const wire_handle& wire) const noexcept {
  return std::any_of(heaps_, heaps_ + devices_,
                     [&](const heap& h) { return h.cookie == wire.cookie; });
}

// Two things are refused that some vendor may refuse: opening an allocation that this device has
// open already, which is an error, and opening an allocation while the process still has a former
// one at its addresses open.
bool arena::is_open(int device, const wire_handle& wire) const noexcept {
  return any_import(wire, [&](const range& r) {
    return r.exporter_generation == wire.generation && r.device == device;
  });
}
bool arena::is_in_the_way(const wire_handle& wire) const noexcept {
  return any_import(wire, [&](const range& r) {
    return r.exporter_generation != wire.generation &&
           r.exporter_offset < wire.offset + wire.bytes &&
           wire.offset < r.exporter_offset + r.bytes;
  });
}
template <class Test>
bool arena::any_import(const wire_handle& wire, Test test) const noexcept {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const auto& entry) {
    const range& r = entry.second;
    return r.from == origin::imported && r.exporter_cookie == wire.cookie && test(r);
  });
}

error arena::map_import(int device, const wire_handle& wire, void** address) noexcept {
  const int file =
      open_of_process(wire.pid, wire.descriptor, wire.heap_bytes + table_bytes(wire.heap_bytes));
  if (file < 0) return error::not_supported;
  std::uint64_t cookie = 0, generation = 0;
  const bool alive =
      read_word(file, static_cast<off_t>(wire.heap_bytes), cookie) &&
      read_word(file, generation_position(wire.heap_bytes, wire.offset), generation) &&
      cookie == wire.cookie && generation == wire.generation;
  const std::size_t mapped = whole_pages(wire.bytes);
  const std::size_t offset = alive ? imports_.take(mapped) : range_pool::none;
  if (offset == range_pool::none) {
    ::close(file);
    return error::not_supported;
  }
  const std::uintptr_t base = window_ + import_offset_ + offset;
  void* alias = reinterpret_cast<void*>(base + window_bytes_);
  const bool done = ::mmap(alias, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                           static_cast<off_t>(wire.offset)) != MAP_FAILED;
  ::close(file);
  if (!done) {
    imports_.give(offset, mapped);
    return error::not_supported;
  }
  range r{wire.bytes,          mapped,
          next_generation_++,  static_cast<std::int16_t>(device),
          memory_kind::device, origin::imported};
  r.exporter_cookie = wire.cookie;
  r.exporter_generation = wire.generation;
  r.exporter_offset = wire.offset;
  ranges_[base] = std::move(r);
  *address = reinterpret_cast<void*>(base);
  return error::success;
}

error arena::ipc_close(void* address) noexcept {
  const std::unique_lock lock(mutex_);
  const auto at = ranges_.find(number_of(address));
  if (at == ranges_.end() || at->second.from != origin::imported || at->second.exporter_cookie == 0)
    return error::invalid_value;
  drop_import(at);
  return error::success;
}

void arena::drop_import(range_map::iterator at) noexcept {
  const std::size_t mapped = at->second.mapped;
  ::mmap(reinterpret_cast<void*>(at->first + window_bytes_), mapped, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  imports_.give(at->first - window_ - import_offset_, mapped);
  ranges_.erase(at);
}

std::int64_t arena::live(origin from, memory_kind kind) noexcept {
  const std::shared_lock lock(mutex_);
  std::int64_t found = 0;
  for (const auto& [base, r] : ranges_) found += r.from == from && r.kind == kind;
  return found;
}

}  // namespace telpher::device::emu
