// SPDX-License-Identifier: BSD-3-Clause
// Contract: the kind of an address, and memory of each kind.
#define CHECK_NO_MAIN
#include <sys/mman.h>

#include <memory>

#include "contract.hpp"

namespace contract {
namespace {

int program_data = 1;

TEST_CASE(identity) {
  REQUIRE(subject().device_count() > 0);
  const memory starts(memory_kind::device, 64);
  device::device_properties first{}, second{};
  CHECK_OK(subject().properties(0, first));
  CHECK(first.name[0] != '\0');
  CHECK(first.memory_bytes > 0);
  CHECK(first.processors > 0);
  CHECK_EQ(error_of(subject().properties(-1, second)), status::invalid_argument);
  CHECK_EQ(error_of(subject().properties(subject().device_count(), second)),
           status::invalid_argument);
  CHECK(subject().distance_between(0, 0) == device::distance::same);
  if (second_device() == 0) return;
  CHECK_OK(subject().properties(1, second));
  CHECK(!(first.uuid == second.uuid));
}

TEST_CASE(host_addresses_are_host_memory) {
  const memory starts(memory_kind::device, 64);
  int on_stack = 0;
  const bytes on_heap(100000);
  const void* const addresses[] = {nullptr,        &on_stack,
                                   on_heap.data(), &program_data,
                                   "text",         reinterpret_cast<const void*>(&kind_of)};
  for (const void* address : addresses) {
    CHECK_EQ(kind_of(address), memory_kind::host);
    CHECK_EQ(describe(address).kind, memory_kind::host);
    CHECK_EQ(describe(address).owner, device::vendor::none);
  }
  CHECK(on_stack == 0);
}

TEST_CASE(every_kind_is_recognised_inside_too) {
  constexpr std::size_t size = 10000;
  for (const memory_kind kind : {memory_kind::pinned, memory_kind::managed, memory_kind::device}) {
    const memory m(kind, size);
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, size - 1}) {
      CHECK_EQ(kind_of(m.data() + offset), kind);
      const pointer_info info = describe(m.data() + offset);
      CHECK_EQ(info.kind, kind);
      CHECK_EQ(info.owner, subject().owner());
      if (kind != memory_kind::device) continue;
      CHECK_EQ(info.base, reinterpret_cast<std::uintptr_t>(m.data()));
      CHECK(info.bytes >= size);
      CHECK_EQ(info.device, 0);
      if (!info.exportable) CHECK_EQ(error_of(subject().ipc_export(info)), status::not_supported);
    }
  }
}

TEST_CASE(freed_memory_is_host_memory) {
  void* address = subject().allocate(0, 4 << 20).value_or(nullptr);
  REQUIRE(address);
  CHECK_EQ(kind_of(address), memory_kind::device);
  CHECK_OK(subject().release(0, address));
  CHECK_EQ(kind_of(address), memory_kind::host);
}

TEST_CASE(memory_of_each_device_names_it) {
  const int device = second_device();
  const memory m(memory_kind::device, 100, device);
  pointer_info info;
  CHECK_OK(subject().classify(m.data(), false, info));
  CHECK_EQ(info.device, device);
}

TEST_CASE(generation_differs_for_the_same_address) {
  constexpr std::size_t size = 8 << 20;
  pointer_info before{};
  bool reused = false;
  for (int i = 0; i < 4; ++i) {
    const memory m(memory_kind::device, size);
    const pointer_info now = describe(m.data());
    if (now.base == before.base) {
      CHECK(now.generation != before.generation);
      reused = true;
    }
    CHECK_EQ(describe(m.data() + size / 2).generation, now.generation);
    before = now;
  }
  CHECK(reused || !subject_is_emulated());
}

TEST_CASE(allocations_do_not_overlap) {
  const scoped_stream s;
  std::vector<std::unique_ptr<memory>> held;
  std::vector<std::size_t> sizes;
  for (unsigned i = 0; i < 40; ++i) {
    sizes.push_back(1 + random_below(20000));
    held.push_back(std::make_unique<memory>(memory_kind::device, sizes.back()));
    write(held.back()->data(), pattern(sizes.back(), i), s);
    CHECK_EQ(reinterpret_cast<std::uintptr_t>(held.back()->data()) % 256, 0);
  }
  for (unsigned i = 0; i < held.size(); ++i)
    CHECK(read(held[i]->data(), sizes[i], s) == pattern(sizes[i], i));
}

TEST_CASE(running_out_of_memory_is_said_and_survived) {
  device::device_properties p{};
  { const memory starts(memory_kind::device, 64); }
  CHECK_OK(subject().properties(0, p));
  if (subject_is_emulated()) check::expect_log("out of memory");  // a plug-in has its own log
  CHECK_EQ(error_of(subject().allocate(0, p.memory_bytes * 2)), status::out_of_memory);
  const memory after(memory_kind::device, 1000);
  CHECK_EQ(kind_of(after.data()), memory_kind::device);
}

TEST_CASE(memory_for_flags_is_device_memory) {
  const scoped_stream s;
  const auto flags = subject().allocate_flags(0, 4096);
  REQUIRE(flags.has_value());
  CHECK_EQ(kind_of(static_cast<char*>(*flags) + 4095), memory_kind::device);
  CHECK(reinterpret_cast<std::uintptr_t>(*flags) % 64 == 0);
  write(*flags, pattern(4096, 3), s);
  CHECK(read(*flags, 4096, s) == pattern(4096, 3));
  CHECK_OK(subject().release(0, *flags));
  CHECK_EQ(kind_of(*flags), memory_kind::host);
}

TEST_CASE(bad_devices_are_refused) {
  CHECK_EQ(error_of(subject().allocate(-1, 100)), status::invalid_argument);
  CHECK_EQ(error_of(subject().allocate(subject().device_count(), 100)), status::invalid_argument);
}

TEST_CASE(registered_memory_serves_at_its_own_address) {
  constexpr std::size_t size = 1 << 16;
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(address != MAP_FAILED);
  const scoped_stream s;
  const memory m(memory_kind::device, size);
  const status registered = subject().register_host(address, size);
  if (registered != status::not_supported) {
    CHECK_OK(registered);
    CHECK_EQ(kind_of(static_cast<char*>(address) + 5000), memory_kind::pinned);
    std::memcpy(address, pattern(size, 3).data(), size);
    CHECK_OK(subject().copy(m.data(), address, size, s));
    CHECK_OK(subject().synchronise(s));
    CHECK(read(m.data(), size, s) == pattern(size, 3));
    CHECK_OK(subject().unregister_host(address));
    CHECK_EQ(kind_of(address), memory_kind::host);
  }
  ::munmap(address, size);
}

TEST_CASE(the_cpu_window_shows_the_bytes) {
  constexpr std::size_t size = 5000;
  const scoped_stream s;
  const memory m(memory_kind::device, size);
  write(m.data(), pattern(size, 4), s);
  const pointer_info info = describe(m.data() + 100);
  const auto window = subject().map_for_cpu(info);
  if (window.error() == status::not_supported) return;
  REQUIRE(window.has_value());
  auto* seen = static_cast<std::uint8_t*>(*window);
  CHECK(std::memcmp(seen, pattern(size, 4).data(), size) == 0);
  seen[7] = 99;
  CHECK_EQ(read(m.data(), size, s)[7], 99);
  subject().unmap_for_cpu(info, *window);
}

}  // namespace
}  // namespace contract
