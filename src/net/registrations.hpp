// SPDX-License-Identifier: BSD-3-Clause
// Cache of this process's allocations that are registered with the network. The key is base address
// and generation, as for imported allocations (memory/ipc_cache.hpp), and the rules are the same.
// An allocation that was freed and made again at the same address has another generation and is
// registered anew; entries that it overlaps are stale and are removed. An entry in use is never
// removed. At most TELPHER_RDMA_CACHE_ENTRIES unused entries stay; the least recently used is
// removed first. Device memory is registered at its own address if the provider accepts that, else
// through the CPU window. If neither is possible, `acquire` returns not_supported and blocks are
// staged. Called under the engine's lock.
#pragma once

#include <list>
#include <memory>

#include "memory/memory.hpp"
#include "net/fabric.hpp"

namespace telpher::net {

class registrations {
 public:
  struct entry {
    entry(const memory::place& place, const device::pointer_info& allocation) noexcept
        : where(place), info(allocation) {}
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;
    ~entry();

    memory::place where;
    device::pointer_info info;
    void* window = nullptr;      // our own window: nobody else may close it
    std::byte* begin = nullptr;  // for the network: the allocation itself or the window
    std::unique_ptr<registration> held;
    int users = 0;
  };

  /// A registered allocation in use; released on destruction.
  class use {
   public:
    use() = default;
    explicit use(entry* e) noexcept : entry_(e) { ++entry_->users; }
    use(use&& o) noexcept : entry_(std::exchange(o.entry_, nullptr)) {}
    use& operator=(use&& o) noexcept {
      std::swap(entry_, o.entry_);
      return *this;
    }
    ~use() {
      if (entry_) --entry_->users;
    }
    explicit operator bool() const noexcept { return entry_ != nullptr; }
    const registration& held() const noexcept { return *entry_->held; }
    /// The address that the network uses for a device address of the allocation.
    std::byte* reach(const void* device_address) const noexcept {
      return entry_->begin + (reinterpret_cast<std::uintptr_t>(device_address) - entry_->info.base);
    }

   private:
    entry* entry_ = nullptr;
  };

  explicit registrations(fabric& f) noexcept : fabric_(f) {}
  result<use> acquire(const memory::place& where, const device::pointer_info& info) noexcept;
  std::size_t size() const noexcept { return entries_.size(); }

 private:
  status enrol(entry& e) noexcept;
  void drop_stale(const device::pointer_info& info) noexcept;
  void trim() noexcept;

  fabric& fabric_;
  std::list<entry> entries_;  // most recently used first
};

}  // namespace telpher::net
