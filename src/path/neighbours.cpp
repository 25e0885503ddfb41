// SPDX-License-Identifier: BSD-3-Clause
#include "path/neighbours.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>

#include "base/lasting.hpp"

namespace telpher::path {
namespace {

using cpu_mask = decltype(segment_header::cpus);

std::size_t size_of(const cpu_mask& cpus) noexcept {
  std::size_t n = 0;
  for (const std::uint64_t word : cpus) n += static_cast<std::size_t>(std::popcount(word));
  return n;
}

bool within(const cpu_mask& some, const cpu_mask& all) noexcept {
  for (std::size_t i = 0; i < some.size(); ++i)
    if ((some[i] & ~all[i]) != 0) return false;
  return true;
}

// A rank that does not know its processors counts as able to run anywhere.
bool is_over_full(const cpu_mask& cpus, const std::vector<const segment_header*>& all) noexcept {
  const auto ranks = std::count_if(all.begin(), all.end(), [&](const segment_header* rank) {
    return size_of(rank->cpus) > 0 && within(rank->cpus, cpus);
  });
  return static_cast<std::size_t>(ranks) > size_of(cpus);
}

bool has_said(const segment_header& rank, const device::device_uuid& device) noexcept {
  const std::uint32_t n = rank.device_count.load(std::memory_order_acquire);
  const auto* const end = rank.devices + std::min<std::size_t>(n, most_devices);
  return std::find(rank.devices, end, device) != end;
}

std::atomic<neighbours*> here{nullptr};

}  // namespace

void neighbours::write_cpus(segment_header& own) noexcept {
  own.cpus = {};
  constexpr int most = static_cast<int>(sizeof(cpu_mask) * 8);
  cpu_set_t* const set = CPU_ALLOC(most);
  if (!set) return;
  const std::size_t bytes = CPU_ALLOC_SIZE(most);
  if (::sched_getaffinity(0, bytes, set) == 0)
    for (std::size_t i = 0; i < most; ++i)
      if (CPU_ISSET_S(i, bytes, set)) own.cpus[i / 64] |= std::uint64_t{1} << i % 64;
  CPU_FREE(set);
}

bool neighbours::crowded(const std::vector<const segment_header*>& all) {
  cpu_mask any{};
  for (const segment_header* rank : all)
    for (std::size_t i = 0; i < any.size(); ++i) any[i] |= rank->cpus[i];
  return is_over_full(any, all) ||
         std::any_of(all.begin(), all.end(),
                     [&](const segment_header* rank) { return is_over_full(rank->cpus, all); });
}

// If the list is full, the other ranks cannot be told about the device, so the answer is false.
bool neighbours::alone_on(const device::device_uuid& device) noexcept {
  {
    std::lock_guard lock(guard_);
    const std::uint32_t n = own_.device_count.load(std::memory_order_relaxed);
    if (!has_said(own_, device)) {
      if (n == most_devices) return false;
      own_.devices[n] = device;
      own_.device_count.store(n + 1, std::memory_order_release);
    }
  }
  return std::none_of(others_.begin(), others_.end(),
                      [&](const segment_header* rank) { return has_said(*rank, device); });
}

void set_neighbours(neighbours* n) noexcept {
  here.store(n, std::memory_order_release);
}

bool may_wait_on(const memory::place& where) noexcept {
  neighbours* const n = here.load(std::memory_order_acquire);
  if (!n) return true;
  const device::device_properties about = properties_of(where);
  return n->alone_on(about.uuid) || about.runs_together;
}

device::device_properties properties_of(const memory::place& where) noexcept {
  struct known {
    memory::place where;
    device::device_properties about;
  };
  static std::mutex guard;
  static constinit lasting<std::vector<known>> cache;
  std::lock_guard lock(guard);
  for (const known& k : *cache)
    if (k.where == where) return k.about;
  device::device_properties about{};
  if (where.owner->properties(where.device, about) != status::ok) about = {};
  cache->push_back({where, about});
  return about;
}

std::optional<memory::place> place_of(device::backend* owner,
                                      const device::device_uuid& uuid) noexcept {
  for (int d = 0; d < owner->device_count(); ++d)
    if (uuid_of({owner, d}) == uuid) return memory::place{owner, d};
  return {};
}

}  // namespace telpher::path
