// SPDX-License-Identifier: BSD-3-Clause
#include "memory/lease.hpp"

#include <array>
#include <mutex>

#include "base/lasting.hpp"
#include "base/thread_use.hpp"

namespace telpher::memory {

struct lease::entry {
  place where;
  device::pointer_info info;
  std::size_t users = 0;  // number of leases; 0: the entry is free

  bool covers(std::uintptr_t address) const noexcept {
    return users > 0 && address - info.base < info.bytes;
  }
};

// Eight entries are enough: programs send from few allocations at a time.
struct lease::table {
  std::mutex guard;
  std::size_t leases = 0;  // total of all entries
  std::array<entry, 8> entries;

  void lend(entry& e, lease& to) noexcept {
    ++e.users;
    ++leases;
    to.entry_ = &e;
  }

  static lasting<table> one;
};
constinit lasting<lease::table> lease::table::one;

void lease::give_back(entry* e) noexcept {
  table& all = *table::one;
  const guard_threads lock(all.guard);
  --e->users;
  --all.leases;
}

place classify(const void* address, device::pointer_info& info, lease& held) noexcept {
  held.release();
  lease::table& all = *lease::table::one;
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  if (const guard_threads lock(all.guard); all.leases > 0)
    for (lease::entry& e : all.entries) {
      if (!e.covers(a)) continue;
      all.lend(e, held);
      info = e.info;
      return e.where;
    }
  const place where = classify(address, info);
  if (!where.on_device() || a - info.base >= info.bytes) return where;
  const guard_threads lock(all.guard);
  for (lease::entry& e : all.entries) {
    if (e.users > 0) continue;
    e.where = where;
    e.info = info;
    all.lend(e, held);
    break;
  }
  return where;
}

}  // namespace telpher::memory
