// SPDX-License-Identifier: BSD-3-Clause
// Cache of other processes' allocations that are open in this process (IPC mappings). The key of an
// entry is the exporting process, the allocation's base address, its generation and the importing
// device. Safety rules:
// - An allocation that was freed and made again at the same address has another generation, so it
//   is another entry. When it is first acquired, all entries of the same process that overlap it
//   are stale and are closed, even those that somebody holds for later, because CUDA opens nothing
//   over them. A closed entry stays in a list until its last user releases it.
// - Otherwise an entry in use (users > 0) is never closed.
// - An entry whose holders have all called rest() is closed if it is idle for too long or too many
//   bytes are open, but never while trimming is paused. A holder pauses trimming, checks with
//   base() that it still has its mapping, and may use it until the pause ends.
// - The size that the exporter reports is compared with the size that the back end reports for the
//   opened range. So a damaged description cannot lead to an access outside the mapping.
// - At most TELPHER_IPC_CACHE_ENTRIES entries and TELPHER_IPC_CACHE_BYTES bytes stay open unused;
//   the least recently used closes first. An entry that was unused for TELPHER_IPC_CACHE_IDLE
//   closes at the next use of the cache. So memory that an exporter freed returns to its device at
//   the latest when the importer next communicates after that time.
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
    /// Marks the mapping as kept for later, not in use now. It may then be closed; base() is null
    /// after that.
    void rest() noexcept;
    /// Notes a use of a resting mapping.
    void touch() noexcept;
    explicit operator bool() const noexcept { return entry_ != nullptr; }

   private:
    friend class ipc_cache;
    explicit mapping(struct ipc_entry* e) noexcept : entry_(e) {}
    struct ipc_entry* entry_ = nullptr;
    bool rests_ = false;
  };

  /// While a pause lives, no resting mapping is closed by trimming.
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

  /// Finds the allocation open or opens it. not_supported if the vendor refuses, or if the exporter
  /// reports more bytes than were opened (each is logged once).
  result<mapping> acquire(const key& k, std::size_t bytes,
                          const device::ipc_handle& handle) noexcept;

  /// Closes what has been idle too long and what exceeds the limits, if a check is due.
  void trim_when_due() noexcept;
  pause pause_trimming() noexcept;
  /// How many resting mappings trimming has closed so far.
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
  std::list<struct ipc_entry> closed_;   // closed, but still held by somebody
  std::size_t open_bytes_ = 0;
  int pauses_ = 0;
  std::atomic<std::uint64_t> revoked_{0};
  std::atomic<std::int64_t> due_ns_{0};  // when trim_when_due looks next
  counters counters_;
};

}  // namespace telpher::memory
