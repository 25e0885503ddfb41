// SPDX-License-Identifier: BSD-3-Clause
#include "path/path.hpp"

#include <array>

#include "base/thread_use.hpp"

namespace telpher::path {
namespace {

constexpr const char* names[] = {"auto",
#define TELPHER_PATH(name, choice, what) #name,
#include "base/paths.def"
#undef TELPHER_PATH
                                 "inbox",       "coll_staged",   "coll_direct",  "coll_packed",
                                 "coll_lines",  "coll_exchange", "coll_stepped", "coll_vendor",
                                 "coll_levels", "file"};
static_assert(std::size(names) == static_cast<int>(kind::count_));

constexpr const char* descriptions[] = {
    "",
#define TELPHER_PATH(name, choice, what) what,
#include "base/paths.def"
#undef TELPHER_PATH
};

struct counter {
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> bytes{0};
};
std::array<counter, static_cast<int>(kind::count_)> counters;
std::atomic<kind> last_used{kind::none};

void add(std::atomic<std::uint64_t>& sum, std::uint64_t n) noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  if (several_threads.load(relaxed))
    sum.fetch_add(n, relaxed);
  else
    sum.store(sum.load(relaxed) + n, relaxed);
}

}  // namespace

const char* to_string(kind k) noexcept {
  return names[static_cast<int>(k)];
}

const char* description(kind k) noexcept {
  return descriptions[static_cast<int>(k)];
}

kind forced() noexcept {
  static const kind chosen = [] {
    for (int k = 0; k < static_cast<int>(kind::count_); ++k)
      if (config().path.text() == names[k]) return static_cast<kind>(k);
    return kind::none;
  }();
  return chosen;
}

void count(kind k, std::uint64_t bytes) noexcept {
  counter& c = counters[static_cast<std::size_t>(k)];
  add(c.messages, 1);
  add(c.bytes, bytes);
  last_used.store(k, std::memory_order_relaxed);
}

kind last() noexcept {
  return last_used.load(std::memory_order_relaxed);
}

usage used(kind k) noexcept {
  const counter& c = counters[static_cast<std::size_t>(k)];
  return {c.messages.load(std::memory_order_relaxed), c.bytes.load(std::memory_order_relaxed)};
}

}  // namespace telpher::path
