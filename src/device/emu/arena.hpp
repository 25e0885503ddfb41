// SPDX-License-Identifier: BSD-3-Clause
// Memory of the emulated devices. One reservation of address space holds the window and, at a fixed
// distance, the alias:
//   window   the device addresses that programs get: the heaps of devices 0, 1, ..., then the area
//            for imports. Not accessible: an accidental CPU access ends in a segmentation fault.
//            (With TELPHER_TEST_EMU_CPU_ACCESS the heaps are, for programs of test/heap.)
//   alias    the same layout with the bytes: each heap is a memfd, each import another process's
//            memfd. Only the emulated copies, kernels and map_for_cpu use it.
// A heap's memfd ends with a table of generations: one word for each page at which an allocation
// may start (0: none starts there). An importer uses it to tell a live allocation from a freed one.
// Chunks that a program maps (chunks.cpp) take addresses of the heap, with memfds of their own.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <shared_mutex>

#include "base/descriptor.hpp"
#include "device/emu/errors.hpp"
#include "device/emu/ranges.hpp"
#include "device/emu/topology.hpp"
#include "device/types.hpp"

namespace telpher::device::emu {

struct wire_handle;

class arena {
 public:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t whole_pages(std::size_t bytes) noexcept {
    return (bytes + page - 1) / page * page;
  }

  static arena& instance() noexcept;

  /// Reserves the window and makes the heaps; idempotent. False if the system has no room.
  bool start() noexcept;
  bool started() const noexcept { return started_.load(std::memory_order_acquire); }

  error allocate(int device, std::size_t bytes, void** address) noexcept;
  error release(void* address) noexcept;
  /// Host memory allocated by the runtime: pinned or managed.
  error allocate_host(memory_kind kind, std::size_t bytes, void** address) noexcept;
  error release_host(memory_kind kind, void* address) noexcept;
  /// Puts a range of managed memory on a device, or (-1) back.
  error prefetch(void* address, int device) noexcept;
  error register_host(void* address, std::size_t bytes) noexcept;
  error unregister_host(void* address) noexcept;

  void classify(const void* address, bool detail, pointer_info& out) noexcept;
  /// The device that holds the range; -1 for host memory, -2 for a range in the window that is not
  /// allocated as a whole.
  int device_of(const void* address, std::size_t bytes) noexcept;

  error ipc_get(void* address, ipc_handle& out) noexcept;
  error ipc_open(int device, const ipc_handle& handle, void** address) noexcept;
  error ipc_close(void* address) noexcept;

  // --- chunks (chunks.cpp) ---
  /// Addresses of a device, whole pages, at which nothing else will be.
  error reserve(int device, std::size_t bytes, void** address) noexcept;
  /// Gives them back; nothing may be mapped there.
  error unreserve(void* address, std::size_t bytes) noexcept;
  /// Maps chunks of that size, a multiple of a page, side by side at reserved addresses. `exports`:
  /// as descriptors.
  error map_chunks(void* address, bool exports, std::size_t bytes,
                   std::size_t chunk_bytes) noexcept;
  /// Unmaps all chunks that begin in the range; one begins at `address`. It stays reserved.
  error unmap_chunks(void* address, std::size_t bytes) noexcept;
  error descriptor_get(const pointer_info& info, int* file) noexcept;
  error descriptors_open(int device, std::span<const int> files, chunk_sizes bytes,
                         void** address) noexcept;
  error descriptors_close(void* address, std::size_t bytes) noexcept;

  enum class origin : std::uint8_t { own, mapped, imported, made_host, registered };
  /// The number of ranges of an origin and kind.
  std::int64_t live(origin from, memory_kind kind) noexcept;
  /// Bytes of memory of one device, as configured.
  static std::size_t configured_bytes() noexcept;

 private:
  struct range {
    std::size_t bytes;   // as requested
    std::size_t mapped;  // rounded up to whole pages
    std::uint64_t generation;
    std::int16_t device;
    memory_kind kind;
    origin from;
    std::uint64_t exporter_cookie = 0;  // for an import; 0: of a chunk
    std::uint64_t exporter_generation = 0;
    std::uint64_t exporter_offset = 0;
    bool prefetched = false;  // managed memory: it lies on `device`
    bool exports = false;     // for a chunk
    descriptor file;
  };
  struct heap {
    descriptor file;                 // other processes open it
    std::uint64_t* table = nullptr;  // its end, mapped: the cookie and the generations
    std::uint64_t cookie = 0;
    range_pool pool;
  };
  using range_map = std::map<std::uintptr_t, range>;

  bool start_locked() noexcept;
  bool make_heap(int device) noexcept;
  void set_generation(int device, std::size_t offset, std::uint64_t generation) noexcept;
  range_map::iterator find(std::uintptr_t address) noexcept;
  error drop(void* address, origin from, memory_kind kind, range& dropped) noexcept;
  bool is_own(const wire_handle& wire) const noexcept;
  bool is_open(int device, const wire_handle& wire) const noexcept;
  bool is_in_the_way(const wire_handle& wire) const noexcept;
  /// Of the exporter's heap.
  template <class Test>
  bool any_import(const wire_handle& wire, Test test) const noexcept;
  error map_import(int device, const wire_handle& wire, void** address) noexcept;
  void drop_import(range_map::iterator at) noexcept;
  bool show(std::uintptr_t base, std::size_t mapped, int file, std::size_t at) noexcept;
  bool map_chunk(std::uintptr_t base, std::size_t bytes, int device, bool exports) noexcept;
  bool is_free(std::uintptr_t base, std::size_t bytes) noexcept;
  void unmap_locked(std::uintptr_t base, std::size_t bytes) noexcept;

  std::shared_mutex mutex_;
  std::atomic<bool> started_{false};
  std::uintptr_t window_ = 0;
  std::size_t window_bytes_ = 0;
  std::size_t heap_bytes_ = 0;
  std::size_t import_offset_ = 0;
  int devices_ = 0;
  heap heaps_[device_limit];
  range_pool imports_;
  range_map ranges_;
  std::uint64_t next_generation_ = 1;
};

}  // namespace telpher::device::emu
