// SPDX-License-Identifier: BSD-3-Clause
#include "net/registrations.hpp"

#include "base/settings.hpp"

namespace telpher::net {

result<registrations::use> registrations::acquire(const memory::place& where,
                                                  const device::pointer_info& info) noexcept {
  for (auto e = entries_.begin(); e != entries_.end(); ++e) {
    if (e->info.base != info.base || e->info.generation != info.generation ||
        e->info.owner != info.owner)
      continue;
    entries_.splice(entries_.begin(), entries_, e);
    return use(&entries_.front());
  }
  drop_stale(info);
  entries_.emplace_front(where, info);
  if (const status s = enrol(entries_.front()); s != status::ok) {
    entries_.pop_front();
    return s;
  }
  use u(&entries_.front());
  trim();
  return u;
}

status registrations::enrol(entry& e) noexcept {
  const bool direct = fabric_.registers(e.info.owner);
  e.begin = reinterpret_cast<std::byte*>(e.info.base);
  if (!direct) {
    auto window = e.where.owner->map_for_cpu(e.info);
    TELPHER_TRY(window);
    e.window = *window;
    e.begin = static_cast<std::byte*>(e.window);
  }
  auto held = fabric_.enrol(e.begin, e.info.bytes, direct ? e.info.owner : device::vendor::none,
                            e.where.device);
  TELPHER_TRY(held);
  e.held = std::move(*held);
  return status::ok;
}

registrations::entry::~entry() {
  held.reset();
  if (window) where.owner->unmap_for_cpu(info, window);
}

void registrations::drop_stale(const device::pointer_info& info) noexcept {
  std::erase_if(entries_, [&](const entry& e) {
    return e.users == 0 && e.info.owner == info.owner && e.info.base < info.base + info.bytes &&
           info.base < e.info.base + e.info.bytes;
  });
}

void registrations::trim() noexcept {
  const auto most = static_cast<std::size_t>(config().rdma_cache_entries);
  for (auto e = entries_.end(); e != entries_.begin() && entries_.size() > most;) {
    --e;
    if (e->users == 0) e = entries_.erase(e);
  }
}

}  // namespace telpher::net
