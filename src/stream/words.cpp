// SPDX-License-Identifier: BSD-3-Clause
#include "stream/words.hpp"

#include <cstring>
#include <mutex>
#include <vector>

namespace telpher::stream {
namespace {

constexpr std::size_t page_bytes = 4096, line_bytes = 64;

struct page {
  device::backend* owner;
  std::byte* bytes;
  std::size_t used;
};

std::mutex guard;
std::vector<page>& pages() {
  static auto* const one = new std::vector<page>;
  return *one;
}

}  // namespace

result<std::uint32_t*> take_word(device::backend* owner) noexcept {
  std::lock_guard lock(guard);
  for (page& p : pages()) {
    if (p.owner != owner || p.used == page_bytes) continue;
    auto* const word = reinterpret_cast<std::uint32_t*>(p.bytes + p.used);
    p.used += line_bytes;
    return word;
  }
  const auto memory = owner->allocate_pinned(page_bytes);
  TELPHER_TRY(memory);
  std::memset(*memory, 0, page_bytes);
  pages().push_back({owner, static_cast<std::byte*>(*memory), line_bytes});
  return static_cast<std::uint32_t*>(*memory);
}

void release_words() noexcept {
  std::lock_guard lock(guard);
  for (const page& p : pages()) static_cast<void>(p.owner->release_pinned(p.bytes));
  pages().clear();
}

}  // namespace telpher::stream
