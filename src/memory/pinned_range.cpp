// SPDX-License-Identifier: BSD-3-Clause
#include "memory/pinned_range.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace telpher::memory {
bool pinned_range::known(device::backend* owner, std::size_t index) const noexcept {
  return std::any_of(chunks_.begin(), chunks_.end(),
                     [&](const chunk& c) { return c.owner == owner && c.index == index; });
}

void pinned_range::prepare(device::backend* owner, const std::byte* address,
                           std::size_t bytes) noexcept {
  if (bytes == 0) return;
  const auto at = static_cast<std::size_t>(address - first_);
  for (std::size_t i = at / chunk_bytes; i <= (at + bytes - 1) / chunk_bytes; ++i) {
    if (known(owner, i)) continue;
    const std::size_t length = std::min(chunk_bytes, bytes_ - i * chunk_bytes);
    const status s = owner->register_host(first_ + i * chunk_bytes, length);
    if (s != status::ok && chunks_.empty())
      TELPHER_INFO("shared staging memory cannot be pinned (%s): staged copies are slower",
                   to_string(s));
    chunks_.push_back({owner, i, s == status::ok});
  }
}

void pinned_range::release() noexcept {
  for (const chunk& c : chunks_)
    if (c.registered) {
      [[maybe_unused]] const status logged =
          c.owner->unregister_host(first_ + c.index * chunk_bytes);
    }
  chunks_.clear();
}

}  // namespace telpher::memory
