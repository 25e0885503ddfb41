// SPDX-License-Identifier: BSD-3-Clause
#include "stream/words.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/lasting.hpp"

namespace telpher::stream {
namespace {

// Pinning memory may wait for the device, and streams that wait may be there: one page is enough
// for most programs.
constexpr std::size_t page_bytes = 64 * 1024, line_bytes = 64;

struct page {
  device::backend* owner;
  std::byte* bytes;
  std::size_t used;
};

struct free_word {
  device::backend* owner;
  std::uint32_t* word;
};

std::mutex guard;
lasting<std::vector<free_word>> free_words;
lasting<std::vector<page>> pages;

}  // namespace

result<std::uint32_t*> take_word(device::backend* owner) noexcept {
  std::lock_guard lock(guard);
  auto& free = *free_words;
  if (const auto found = std::find_if(free.begin(), free.end(),
                                      [&](const free_word& f) { return f.owner == owner; });
      found != free.end()) {
    std::uint32_t* const word = found->word;
    free.erase(found);
    *word = 0;
    return word;
  }
  for (page& p : *pages) {
    if (p.owner != owner || p.used == page_bytes) continue;
    auto* const word = reinterpret_cast<std::uint32_t*>(p.bytes + p.used);
    p.used += line_bytes;
    return word;
  }
  const auto memory = owner->allocate_pinned(page_bytes);
  TELPHER_TRY(memory);
  std::memset(*memory, 0, page_bytes);
  pages->push_back({owner, static_cast<std::byte*>(*memory), line_bytes});
  return static_cast<std::uint32_t*>(*memory);
}

void give_word(device::backend* owner, std::uint32_t* word) noexcept {
  std::lock_guard lock(guard);
  free_words->push_back({owner, word});
}

void release_words() noexcept {
  std::lock_guard lock(guard);
  free_words->clear();
  for (const page& p : *pages) static_cast<void>(p.owner->release_pinned(p.bytes));
  pages->clear();
}

}  // namespace telpher::stream
