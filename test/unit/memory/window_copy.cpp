// SPDX-License-Identifier: BSD-3-Clause
// The streaming copy moves exactly the requested bytes: every alignment of both sides within a
// cache line, every size up to a few lines and some large ones, each instruction set of this CPU.
// The bytes around the target are checked as well.
#include "memory/window_copy.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "check.hpp"

using namespace telpher;

namespace {

constexpr std::size_t line = memory::line_copy::line;
constexpr std::size_t largest = 2 * line + 1;
constexpr std::size_t room = 64 * 1024;  // whole lines beyond any range

struct area {
  std::unique_ptr<std::byte, void (*)(void*)> held{
      static_cast<std::byte*>(std::aligned_alloc(4096, room)), std::free};
  std::byte* data() const { return held.get() + 1024; }
};

area source, target, expected;

void fill_source() {
  for (std::size_t i = 0; i < room; ++i)
    source.held.get()[i] = static_cast<std::byte>(i * 167 + i / 256 * 13 + 5);
}

using copy_function = void (*)(const memory::line_copy&, void*, const void*, std::size_t);

// Compares a few lines around the target with the result of a plain copy.
bool exact(copy_function copy, const memory::line_copy& by, std::size_t to, std::size_t from,
           std::size_t bytes) {
  const std::size_t shown = bytes + 4 * line;
  std::memset(target.data() - line, 0x5a, shown);
  std::memset(expected.data() - line, 0x5a, shown);
  std::memcpy(expected.data() + to, source.data() + from, bytes);
  copy(by, target.data() + to, source.data() + from, bytes);
  return std::memcmp(target.data() - line, expected.data() - line, shown) == 0;
}

std::size_t wrong_copies(copy_function copy, const memory::line_copy& by) {
  std::size_t wrong = 0;
  for (std::size_t to = 0; to < line; ++to)
    for (std::size_t from = 0; from < line; ++from)
      for (std::size_t bytes = 0; bytes <= largest; ++bytes)
        wrong += !exact(copy, by, to, from, bytes);
  for (const std::size_t bytes : {1000u, 4095u, 4096u, 4097u, 8192u, 32768u + 17u})
    for (std::size_t shift = 0; shift < line; ++shift) {
      wrong += !exact(copy, by, shift, 0, bytes);
      wrong += !exact(copy, by, 0, shift, bytes);
    }
  return wrong;
}

}  // namespace

TEST_CASE(every_instruction_set_copies_exactly) {
  fill_source();
  for (const memory::line_copy& by : memory::line_copies()) {
    std::printf("%s\n", by.name);
    CHECK_EQ(wrong_copies(&memory::load_from_window, by), 0);
    CHECK_EQ(wrong_copies(&memory::store_to_window, by), 0);
  }
}

TEST_CASE(the_widest_is_used) {
  const auto all = memory::line_copies();
  REQUIRE(!all.empty());
  CHECK(std::strcmp(all.front().name, "plain") == 0);
#if defined(__x86_64__)
  CHECK_EQ(all.size() >= 2, static_cast<bool>(__builtin_cpu_supports("sse4.1")));
  CHECK_EQ(all.size() >= 3, static_cast<bool>(__builtin_cpu_supports("avx2")));
  CHECK_EQ(all.size() >= 4, static_cast<bool>(__builtin_cpu_supports("avx512f")));
#endif
  fill_source();
  memory::store_to_window(target.data() + 3, source.data() + 5, 300);
  memory::load_from_window(expected.data() + 1, target.data() + 3, 300);
  CHECK(std::memcmp(expected.data() + 1, source.data() + 5, 300) == 0);
}
