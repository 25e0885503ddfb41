// SPDX-License-Identifier: BSD-3-Clause
// Which idle buffers are kept: of host memory any number of untouched ones and 256 MB of filled
// ones of a size; of a device 256 MB in all, or the last one, and none when memory runs out.
#include <sys/mman.h>

#include <vector>

#include "check.hpp"
#include "importer.hpp"
#include "memory/memory.hpp"

using telpher::memory::buffer;
using telpher::memory::shut_down;

namespace {

constexpr std::size_t bytes = std::size_t{64} << 20;

bool is_mapped(void* page) {
  return ::msync(page, 1, MS_ASYNC) == 0;
}

/// Takes `count` buffers and returns them; the result is how many of them are still mapped.
int stay(int count, bool filled) {
  std::vector<void*> pages;
  {
    std::vector<buffer> all;
    for (int i = 0; i < count; ++i) {
      auto b = buffer::host(bytes, nullptr);
      CHECK(b.has_value());
      if (!b) return -1;
      if (filled) b->filled();
      pages.push_back(b->data());
      all.push_back(std::move(*b));
    }
  }
  int mapped = 0;
  for (void* page : pages) mapped += is_mapped(page);
  return mapped;
}

}  // namespace

TEST_CASE(untouched_host_buffers_stay) {
  CHECK_EQ(stay(8, false), 8);
  shut_down();
}

TEST_CASE(filled_host_buffers_stay_up_to_a_limit) {
  CHECK_EQ(stay(8, true), 4);
  CHECK_EQ(stay(8, true), 4);
  shut_down();
}

TEST_CASE(one_buffer_of_any_size_stays) {
  void* page = nullptr;
  {
    auto b = buffer::host(8 * bytes, nullptr);
    REQUIRE(b.has_value());
    b->filled();
    page = b->data();
  }
  CHECK(is_mapped(page));
  shut_down();
  CHECK(!is_mapped(page));
}

namespace {

constexpr std::size_t mega = std::size_t{1} << 20;

/// Takes a buffer of the device and returns it; false if there was no memory.
bool use(telpher::importer& device, std::size_t megabytes) {
  return buffer::device({&device, 0}, megabytes * mega).has_value();
}

}  // namespace

TEST_CASE(idle_device_memory_has_a_limit_in_all) {
  static telpher::importer device;
  device.memory = 4096 * mega;
  CHECK(use(device, 30));
  CHECK(use(device, 60));
  CHECK_EQ(device.in_use(), 96 * mega);
  CHECK(use(device, 120));
  CHECK_EQ(device.in_use(), 224 * mega);
  CHECK(use(device, 200));
  CHECK_EQ(device.in_use(), 256 * mega);
  CHECK(use(device, 600));
  CHECK_EQ(device.in_use(), 1024 * mega);
  CHECK(use(device, 100));
  CHECK_EQ(device.in_use(), 128 * mega);
  shut_down();
  CHECK_EQ(device.in_use(), 0);
}

TEST_CASE(the_device_buffer_that_was_used_last_stays) {
  static telpher::importer device;
  device.memory = 4096 * mega;
  void* first = nullptr;
  for (int use = 0; use < 3; ++use) {
    auto b = buffer::device({&device, 0}, 300 * mega);
    REQUIRE(b.has_value());
    if (!first) first = b->data();
    CHECK_EQ(b->data(), first);
  }
  shut_down();
}

TEST_CASE(idle_device_memory_makes_room) {
  static telpher::importer device;
  device.memory = 300 * mega;
  CHECK(use(device, 200));
  CHECK(use(device, 100));
  CHECK_EQ(device.in_use(), 128 * mega);
  CHECK(!use(device, 400));
  shut_down();
}
