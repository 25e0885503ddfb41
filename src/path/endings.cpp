// SPDX-License-Identifier: BSD-3-Clause
#include "path/endings.hpp"

namespace telpher::path {

void endings::close_ended(std::int32_t process, std::uint64_t& seen) noexcept {
  const std::uint64_t now = count.load(std::memory_order_acquire);
  if (now == seen) return;
  auto& all = memory::allocations::instance();
  bool mixed = now - seen >= kept;
  for (std::uint64_t n = seen; n != now && !mixed; ++n) {
    const place& p = ring[n % kept];
    const std::uint64_t base = p.base.load(std::memory_order_acquire);
    const std::uint64_t generation = p.generation.load(std::memory_order_acquire);
    mixed = count.load(std::memory_order_relaxed) - n >= kept;
    if (!mixed) all.ended(process, base, generation);
  }
  if (mixed) all.some_ended(process);
  seen = now;
}

}  // namespace telpher::path
