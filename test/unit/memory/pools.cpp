// SPDX-License-Identifier: BSD-3-Clause
// What stays of idle buffers: of host memory any number of untouched ones and 256 MB of a size of
// filled ones (1 GB in all where they serve a device that registers them), of pinned memory the two
// images of a staged collective, of a device 256 MB in all or the last one, and nothing there when
// memory runs out.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
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

/// Takes `count` buffers and gives them back; how many of them are still mapped then.
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

/// Takes a buffer of the device and gives it back; whether there was one.
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
  CHECK_EQ(device.in_use(), 640 * mega);
  CHECK(use(device, 100));
  CHECK_EQ(device.in_use(), 112 * mega);
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
  CHECK_EQ(device.in_use(), 112 * mega);
  CHECK(!use(device, 400));
  shut_down();
}

TEST_CASE(kernels_get_pinned_memory_or_none) {
  static telpher::importer device;
  device.memory = 2 * mega;
  auto first = buffer::for_kernels(mega, &device);
  REQUIRE(first.has_value());
  CHECK(first->pinned());
  CHECK(!buffer::for_kernels(2 * mega, &device));
  const auto in_its_place = buffer::host(2 * mega, &device, true);
  CHECK(in_its_place.has_value() && !in_its_place->pinned());
}

TEST_CASE(both_images_of_a_large_collective_stay_pinned) {
  static telpher::importer device;
  device.memory = 2048 * mega;
  for (int call = 0; call < 3; ++call) {
    auto in = buffer::host(257 * mega, &device, true),
         out = buffer::host(257 * mega, &device, true);
    REQUIRE(in.has_value() && out.has_value());
    CHECK_EQ(device.made, 2);
    CHECK_EQ(device.in_use(), 2 * 320 * mega);
  }
  shut_down();
  CHECK_EQ(device.in_use(), 0);
}

TEST_CASE(a_large_host_buffer_is_registered_once_it_was_filled) {
  static telpher::importer device;
  device.registers = true;
  { CHECK(buffer::host(bytes, &device).has_value()); }
  CHECK(device.registered.empty());
  for (int use = 0; use < 3; ++use) {
    auto b = buffer::host(bytes, &device);
    REQUIRE(b.has_value());
    b->filled();
    CHECK_EQ(device.registered.count(b->data()), use == 0 ? 0u : 1u);
  }
  CHECK_EQ(device.registered.size(), 1u);
  shut_down();
  CHECK(device.registered.empty());
}

// 1 GiB, or 1/64 of the machine's memory where that is more, up to 8 GiB.
TEST_CASE(registered_host_buffers_have_a_limit_in_all) {
  static telpher::importer device;
  device.registers = true;
  const auto memory = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t most = std::clamp(memory / 64, 1024 * mega, 8192 * mega) / bytes;
  for (int use = 0; use < 2; ++use) {
    std::vector<buffer> all;
    for (std::size_t i = 0; i < most + 4; ++i) {
      auto b = buffer::host(bytes, &device);
      REQUIRE(b.has_value());
      b->filled();
      all.push_back(std::move(*b));
    }
  }
  CHECK_EQ(device.registered.size(), most);
  shut_down();
  CHECK(device.registered.empty());
}

TEST_CASE(a_device_that_registers_nothing_leaves_buffers_mapped) {
  static telpher::importer device;
  void* page = nullptr;
  for (int use = 0; use < 2; ++use) {
    auto b = buffer::host(bytes, &device);
    REQUIRE(b.has_value());
    b->filled();
    if (page) CHECK_EQ(b->data(), page);
    page = b->data();
  }
  CHECK(is_mapped(page));
  shut_down();
}
