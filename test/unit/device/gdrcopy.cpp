// SPDX-License-Identifier: BSD-3-Clause
// Windows through GDRCopy, with a fake library (fake_gdrapi.cpp). The window shows the allocation's
// own bytes wherever the allocation begins in a page, and everything is released. Run three times:
// with the library, with a library whose kernel module is missing, and without a library.
#include "device/cuda/gdrcopy.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "check_log.hpp"

using namespace telpher;
using device::cuda::gdrcopy::map;
using device::cuda::gdrcopy::unmap;

namespace {

constexpr std::size_t page = 64 * 1024;

std::string situation() {
  const char* text = std::getenv("TEST_GDR");
  return text ? text : "absent";
}

std::byte* shared_pages(std::size_t bytes) {
  void* at =
      ::mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) std::abort();
  const auto first = (reinterpret_cast<std::uintptr_t>(at) + page - 1) / page * page;
  return reinterpret_cast<std::byte*>(first);
}

device::pointer_info about(const std::byte* first, std::size_t bytes) {
  device::pointer_info info;
  info.kind = device::memory_kind::device;
  info.base = reinterpret_cast<std::uintptr_t>(first);
  info.bytes = bytes;
  return info;
}

int live() {
  void* fake = ::dlopen("libgdrapi.so.2", RTLD_NOW | RTLD_NOLOAD);
  auto* count = fake ? reinterpret_cast<int (*)()>(::dlsym(fake, "fake_gdr_live")) : nullptr;
  return count ? count() : -1;
}

}  // namespace

TEST_CASE(a_window_shows_the_allocation) {
  std::byte* memory = shared_pages(4 * page);
  for (const std::size_t offset : {std::size_t{0}, std::size_t{512}, page - 256, page + 8}) {
    const auto window = map(about(memory + offset, page + 100));
    if (situation() != "library") {
      CHECK_EQ(window.error(), status::not_supported);
      continue;
    }
    REQUIRE(window.has_value());
    auto* seen = static_cast<std::byte*>(*window);
    CHECK(seen != memory + offset);
    std::memset(seen, 0x11, page + 100);
    memory[offset + 7] = std::byte{0x77};
    CHECK(memory[offset] == std::byte{0x11} && memory[offset + page + 99] == std::byte{0x11});
    CHECK(seen[7] == std::byte{0x77});
    CHECK_EQ(live(), 1);
    unmap(seen);
    CHECK_EQ(live(), 0);
  }
}

TEST_CASE(an_allocation_that_is_too_large_has_none_but_others_may) {
  if (situation() != "library") return;
  std::byte* memory = shared_pages(page);
  CHECK_EQ(map(about(memory, std::size_t{1} << 40)).error(), status::out_of_memory);
  const auto small = map(about(memory, 100));
  REQUIRE(small.has_value());
  unmap(*small);
  unmap(memory);  // not a window: ignored
  CHECK_EQ(live(), 0);
}
