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

error arena::map_chunks(int device, bool exports, std::size_t bytes, std::size_t chunk_bytes,
                        void** address) noexcept {
  if (device < 0 || device >= devices_ || bytes == 0 || chunk_bytes == 0 || chunk_bytes % page)
    return error::invalid_value;
  const std::unique_lock lock(mutex_);
  const std::size_t all = whole_pages(bytes);
  const std::size_t offset = bytes > heap_bytes_ ? range_pool::none : heaps_[device].pool.take(all);
  if (offset == range_pool::none) return error::out_of_memory;
  const std::uintptr_t base = window_ + heap_bytes_ * static_cast<std::size_t>(device) + offset;
  *address = reinterpret_cast<void*>(base);
  for (std::size_t at = 0; at < bytes; at += chunk_bytes)
    if (!map_chunk(base + at, std::min(chunk_bytes, bytes - at), device, exports)) {
      unmap_locked(base, at);
      heaps_[device].pool.give(offset + whole_pages(at), all - whole_pages(at));
      return error::out_of_memory;
    }
  return error::success;
}

// The window shows the heap again. Those who have imported the chunk keep its memory.
void arena::unmap_locked(std::uintptr_t base, std::size_t bytes) noexcept {
  for (auto at = ranges_.lower_bound(base); at != ranges_.end() && at->first - base < bytes;) {
    const heap& h = heaps_[at->second.device];
    const std::size_t mapped = at->second.mapped;
    const std::size_t offset =
        at->first - window_ - heap_bytes_ * static_cast<std::size_t>(at->second.device);
    if (!show(at->first, mapped, h.file.get(), offset))
      TELPHER_DEBUG("the emulated device's heap cannot be mapped again: %m");
    heaps_[at->second.device].pool.give(offset, mapped);
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

error arena::descriptor_open(int device, int file, std::size_t bytes, void** address) noexcept {
  const std::size_t mapped = whole_pages(bytes);
  const topology& t = topology::instance();
  const int theirs = bytes == 0 ? -1 : device_of_file(file, mapped);
  if (theirs < 0 || theirs >= t.devices) return error::not_supported;
  if (theirs != device && t.links[device][theirs].kind == distance::unreachable)
    return error::not_supported;
  const std::unique_lock lock(mutex_);
  const std::size_t offset = imports_.take(mapped);
  if (offset == range_pool::none) return error::not_supported;
  const std::uintptr_t base = window_ + import_offset_ + offset;
  if (!show(base, mapped, file, 0)) {
    imports_.give(offset, mapped);
    return error::not_supported;
  }
  ranges_[base] = {bytes,
                   mapped,
                   next_generation_++,
                   static_cast<std::int16_t>(device),
                   memory_kind::device,
                   origin::imported};
  *address = reinterpret_cast<void*>(base);
  return error::success;
}

error arena::descriptor_close(void* address, std::size_t bytes) noexcept {
  const std::unique_lock lock(mutex_);
  const auto at = ranges_.find(reinterpret_cast<std::uintptr_t>(address));
  if (at == ranges_.end() || at->second.from != origin::imported ||
      at->second.exporter_cookie != 0 || at->second.bytes != bytes)
    return error::invalid_value;
  drop_import(at);
  return error::success;
}

}  // namespace telpher::device::emu
