// SPDX-License-Identifier: BSD-3-Clause
// Memory of the emulated devices as CUDA's virtual memory management gives it: chunks, each with
// physical memory of its own (a memfd), that a program maps side by side. They have no
// inter-process handle. Those made for it are exported as file descriptors; importing them depends
// on no process and no PID namespace.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "base/log.hpp"
#include "device/emu/arena.hpp"
#include "device/emu/emu.hpp"
#include "device/emu/streams.hpp"

namespace telpher::device::emu {
namespace {

/// The last page of a chunk's file: where the memory lies, for those who import it.
struct chunk_card {
  static constexpr std::uint64_t right_mark = 0x6b6e756863756d65;
  std::uint64_t mark;
  std::int32_t device;
};

int new_file(std::size_t mapped, int device) noexcept {
  const int file = ::memfd_create("telpher-emu-chunk", MFD_CLOEXEC);
  const chunk_card card{chunk_card::right_mark, device};
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(mapped + arena::page)) != 0 ||
      ::pwrite(file, &card, sizeof card, static_cast<off_t>(mapped)) != sizeof card) {
    TELPHER_ERROR("cannot make a chunk of %zu bytes of emulated device memory: %m", mapped);
    if (file >= 0) ::close(file);
    return -1;
  }
  return file;
}

/// The device of a chunk's file of that size; -1 if it is none.
int device_of_file(int file, std::size_t mapped) noexcept {
  struct stat info {};
  chunk_card card{};
  const bool right = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
                     static_cast<std::size_t>(info.st_size) == mapped + arena::page &&
                     ::pread(file, &card, sizeof card, static_cast<off_t>(mapped)) == sizeof card &&
                     card.mark == chunk_card::right_mark;
  return right ? card.device : -1;
}

}  // namespace

// Puts a file's bytes behind addresses of the window.
bool arena::show(std::uintptr_t base, std::size_t mapped, int file, std::size_t at) noexcept {
  return ::mmap(reinterpret_cast<void*>(base + window_bytes_), mapped, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, static_cast<off_t>(at)) != MAP_FAILED;
}

bool arena::map_chunk(std::uintptr_t base, std::size_t bytes, int device, bool exports) noexcept {
  const std::size_t mapped = whole_pages(bytes);
  descriptor file(new_file(mapped, device));
  if (!file || !show(base, mapped, file.get(), 0)) return false;
  range r{bytes,
          mapped,
          next_generation_++,
          static_cast<std::int16_t>(device),
          memory_kind::device,
          origin::mapped};
  r.exports = exports;
  r.file = std::move(file);
  ranges_[base] = std::move(r);
  return true;
}

error arena::reserve(int device, std::size_t bytes, void** address) noexcept {
  if (device < 0 || device >= devices_ || bytes == 0 || bytes % page) return error::invalid_value;
  const std::unique_lock lock(mutex_);
  const std::size_t offset =
      bytes > heap_bytes_ ? range_pool::none : heaps_[device].pool.take(bytes);
  if (offset == range_pool::none) return error::out_of_memory;
  *address =
      reinterpret_cast<void*>(window_ + heap_bytes_ * static_cast<std::size_t>(device) + offset);
  return error::success;
}

error arena::unreserve(void* address, std::size_t bytes) noexcept {
  const std::unique_lock lock(mutex_);
  const std::size_t at = reinterpret_cast<std::uintptr_t>(address) - window_;
  if (at >= import_offset_ || bytes > import_offset_ - at || !is_free(window_ + at, bytes))
    return error::invalid_value;
  heaps_[at / heap_bytes_].pool.give(at % heap_bytes_, bytes);
  return error::success;
}

bool arena::is_free(std::uintptr_t base, std::size_t bytes) noexcept {
  const auto next = ranges_.lower_bound(base);
  return find(base) == ranges_.end() && (next == ranges_.end() || next->first - base >= bytes);
}

error arena::map_chunks(void* address, bool exports, std::size_t bytes,
                        std::size_t chunk_bytes) noexcept {
  const std::unique_lock lock(mutex_);
  const auto base = reinterpret_cast<std::uintptr_t>(address);
  if (base - window_ >= import_offset_ || bytes == 0 || chunk_bytes == 0 || chunk_bytes % page ||
      !is_free(base, whole_pages(bytes)))
    return error::invalid_value;
  const auto device = static_cast<int>((base - window_) / heap_bytes_);
  for (std::size_t at = 0; at < bytes; at += chunk_bytes)
    if (!map_chunk(base + at, std::min(chunk_bytes, bytes - at), device, exports)) {
      unmap_locked(base, at);
      return error::out_of_memory;
    }
  return error::success;
}

// The window shows the heap again. Those who have imported the chunk keep its memory.
void arena::unmap_locked(std::uintptr_t base, std::size_t bytes) noexcept {
  for (auto at = ranges_.lower_bound(base); at != ranges_.end() && at->first - base < bytes;) {
    const heap& h = heaps_[at->second.device];
    const std::size_t offset =
        at->first - window_ - heap_bytes_ * static_cast<std::size_t>(at->second.device);
    if (!show(at->first, at->second.mapped, h.file.get(), offset))
      TELPHER_DEBUG("the emulated device's heap cannot be mapped again: %m");
    at = ranges_.erase(at);
  }
}

error arena::unmap_chunks(void* address, std::size_t bytes) noexcept {
  const std::unique_lock lock(mutex_);
  const auto base = reinterpret_cast<std::uintptr_t>(address);
  const auto at = ranges_.find(base);
  if (at == ranges_.end() || at->second.from != origin::mapped) return error::invalid_value;
  unmap_locked(base, bytes);
  return error::success;
}

error arena::descriptor_get(const pointer_info& info, int* file) noexcept {
  const std::shared_lock lock(mutex_);
  const auto at = ranges_.find(info.base);
  if (at == ranges_.end() || at->second.from != origin::mapped ||
      at->second.generation != info.generation || !at->second.exports)
    return error::not_supported;
  *file = ::fcntl(at->second.file.get(), F_DUPFD_CLOEXEC, 0);
  return *file < 0 ? error::not_supported : error::success;
}

error arena::descriptors_open(int device, std::span<const int> files, chunk_sizes bytes,
                              void** address) noexcept {
  const topology& t = topology::instance();
  std::size_t mapped = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool goes_on = i + 1 < files.size();
    const int theirs = bytes[i] == 0 || (goes_on && bytes[i] % page)
                           ? -1
                           : device_of_file(files[i], whole_pages(bytes[i]));
    if (theirs < 0 || theirs >= t.devices) return error::not_supported;
    if (theirs != device && t.links[device][theirs].kind == distance::unreachable)
      return error::not_supported;
    mapped += whole_pages(bytes[i]);
  }
  const std::unique_lock lock(mutex_);
  const std::size_t offset = mapped == 0 ? range_pool::none : imports_.take(mapped);
  if (offset == range_pool::none) return error::not_supported;
  const std::uintptr_t base = window_ + import_offset_ + offset;
  range whole{sum_of(bytes),       mapped,
              next_generation_++,  static_cast<std::int16_t>(device),
              memory_kind::device, origin::imported};
  const auto made = ranges_.emplace(base, std::move(whole)).first;
  std::uintptr_t at = base;
  for (std::size_t i = 0; i < files.size(); at += whole_pages(bytes[i++]))
    if (!show(at, whole_pages(bytes[i]), files[i], 0))
      return drop_import(made), error::not_supported;
  *address = reinterpret_cast<void*>(base);
  return error::success;
}

error arena::descriptors_close(void* address, std::size_t bytes) noexcept {
  const std::unique_lock lock(mutex_);
  const auto at = ranges_.find(reinterpret_cast<std::uintptr_t>(address));
  if (at == ranges_.end() || at->second.from != origin::imported ||
      at->second.exporter_cookie != 0 || at->second.bytes != bytes)
    return error::invalid_value;
  drop_import(at);
  return error::success;
}

// --- what tests see ---

void* reserve_chunks(int device, std::size_t bytes) noexcept {
  arena& a = arena::instance();
  void* address = nullptr;
  return a.start() && a.reserve(device, bytes, &address) == error::success ? address : nullptr;
}

bool unreserve_chunks(void* address, std::size_t bytes) noexcept {
  return arena::instance().unreserve(address, bytes) == error::success;
}

bool map_chunks(void* address, bool exports, std::size_t bytes, std::size_t chunk_bytes) noexcept {
  return arena::instance().map_chunks(address, exports, bytes, chunk_bytes) == error::success;
}

bool unmap_chunks(void* address, std::size_t bytes) noexcept {
  const int device = arena::instance().device_of(address, 1);
  if (device < 0) return false;
  streams::drain_device(device);
  return arena::instance().unmap_chunks(address, bytes) == error::success;
}

}  // namespace telpher::device::emu
