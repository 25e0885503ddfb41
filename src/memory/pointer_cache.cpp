// SPDX-License-Identifier: BSD-3-Clause
#include "memory/pointer_cache.hpp"

#include <array>
#include <mutex>

#include "base/lasting.hpp"
#include "base/thread_use.hpp"

namespace telpher::memory {

struct cached_pointer::entry {
  place where;
  device::pointer_info info;
  std::size_t users = 0;  // number of references; 0: the entry is free

  bool covers(std::uintptr_t address) const noexcept {
    return users > 0 && address - info.base < info.bytes;
  }
};

// Eight entries are enough: programs send from few allocations at a time.
struct cached_pointer::table {
  std::mutex guard;
  std::size_t references = 0;  // total of all entries
  std::array<entry, 8> entries;

  void lend(entry& e, cached_pointer& to) noexcept {
    ++e.users;
    ++references;
    to.entry_ = &e;
  }

  static lasting<table> one;
};
constinit lasting<cached_pointer::table> cached_pointer::table::one;

void cached_pointer::give_back(entry* e) noexcept {
  table& all = *table::one;
  const guard_threads lock(all.guard);
  --e->users;
  --all.references;
}

place classify(const void* address, device::pointer_info& info, cached_pointer& held) noexcept {
  held.release();
  cached_pointer::table& all = *cached_pointer::table::one;
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  if (const guard_threads lock(all.guard); all.references > 0)
    for (cached_pointer::entry& e : all.entries) {
      if (!e.covers(a)) continue;
      all.lend(e, held);
      info = e.info;
      return e.where;
    }
  const place where = classify(address, info);
  if (!where.on_device() || a - info.base >= info.bytes) return where;
  const guard_threads lock(all.guard);
  for (cached_pointer::entry& e : all.entries) {
    if (e.users > 0) continue;
    e.where = where;
    e.info = info;
    all.lend(e, held);
    break;
  }
  return where;
}

}  // namespace telpher::memory
