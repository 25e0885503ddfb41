// SPDX-License-Identifier: BSD-3-Clause
// Other processes' allocations, opened once and kept. An entry is named by the exporting process,
// the allocation's base address, its generation and the importing device. Safety rules:
// - an allocation that was freed and made again at the same address has another generation, so it
//   is another entry; meeting it closes entries of the same process that overlap it (they are
//   stale), also those that somebody holds for later: CUDA opens nothing over them. Such an entry
//   stays, closed, until its last user lets go;
// - otherwise an entry in use (its reference count is not zero) is never closed;
// - one whose holders all let it rest is closed when it is idle for too long or there are too many
//   bytes, but never while trimming is paused: a holder pauses it, finds out by base() whether it
//   still has its mapping, and goes on to use it until the pause ends;
// - what the exporter says of the allocation's size is compared with what the back end says of the
//   opened range, so that a damaged description leads to no address outside it;
// - at most TELPHER_IPC_CACHE_ENTRIES entries and TELPHER_IPC_CACHE_BYTES bytes stay open unused,
//   the least recently used closes first; one unused for TELPHER_IPC_CACHE_IDLE closes at the next
//   use of the cache. An exporter's freed memory is therefore returned to its device at the latest
//   when the importer next communicates after that time.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>

#include "memory/memory.hpp"

namespace telpher::memory {

class ipc_cache {
 public:
  struct key {
    std::int32_t process;  // world rank of the exporter
    std::uintptr_t base;
    std::uint64_t generation;
    place importer;
    friend bool operator==(const key&, const key&) = default;
  };
  struct counters {
    std::uint64_t hits = 0, opens = 0, closes = 0, stale = 0, refused = 0;
  };

  /// A reference to an open allocation; released on destruction. base() is null once the exporter
  /// is known to have freed it.
  class mapping {
   public:
    mapping() = default;
    mapping(mapping&& o) noexcept
        : entry_(std::exchange(o.entry_, nullptr)), rests_(std::exchange(o.rests_, false)) {}
    mapping& operator=(mapping&& o) noexcept {
      std::swap(entry_, o.entry_);
      std::swap(rests_, o.rests_);
      return *this;
    }
    ~mapping();
    std::byte* base() const noexcept;
    /// Kept for later, not in use now: it may be closed, and base() is null then.
    void rest() noexcept;
    /// A resting one was used.
    void touch() noexcept;
    explicit operator bool() const noexcept { return entry_ != nullptr; }

   private:
    friend class ipc_cache;
    explicit mapping(struct ipc_entry* e) noexcept : entry_(e) {}
    struct ipc_entry* entry_ = nullptr;
    bool rests_ = false;
  };

  /// While one lives nothing that rests is closed.
  class pause {
   public:
    pause() = default;
    pause(pause&& o) noexcept : on_(std::exchange(o.on_, false)) {}
    pause& operator=(pause&& o) noexcept {
      std::swap(on_, o.on_);
      return *this;
    }
    ~pause();

   private:
    friend class ipc_cache;
    explicit pause(bool on) noexcept : on_(on) {}
    bool on_ = false;
  };

  static ipc_cache& instance() noexcept;

  /// Opens the allocation or finds it open. not_supported when the vendor refuses, or when the
  /// exporter names more bytes than were opened (each logged once).
  result<mapping> acquire(const key& k, std::size_t bytes,
                          const device::ipc_handle& handle) noexcept;

  /// Closes what has been idle too long and what exceeds the bounds, if it is time to look.
  void trim_when_due() noexcept;
  pause pause_trimming() noexcept;
  /// How many resting mappings were closed so far.
  std::uint64_t revoked() const noexcept { return revoked_.load(std::memory_order_relaxed); }
  /// Closes everything that is not in use.
  void clear() noexcept;
  counters count() const noexcept { return counters_; }

 private:
  friend class mapping;
  using iterator = std::list<struct ipc_entry>::iterator;
  void close(ipc_entry& entry) noexcept;
  iterator drop(iterator entry) noexcept;
  void close_stale(const key& k, std::size_t bytes) noexcept;
  void trim_locked(std::size_t entries, std::size_t bytes) noexcept;

  std::mutex guard_;
  std::list<struct ipc_entry> entries_;  // most recently used first
  std::list<struct ipc_entry> closed_;   // stale, and still held by somebody
  std::size_t open_bytes_ = 0;
  int pauses_ = 0;
  std::atomic<std::uint64_t> revoked_{0};
  std::atomic<std::int64_t> due_ns_{0};  // of the next look
  counters counters_;
};

}  // namespace telpher::memory
