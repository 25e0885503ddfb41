// SPDX-License-Identifier: BSD-3-Clause
// The pointer cache. While a reference is held, no driver is asked about the allocation; afterwards
// it is. References end at the allocation's last byte. More references than there is room for;
// threads.
#include "memory/pointer_cache.hpp"

#include <memory>
#include <thread>
#include <vector>

#include "emulated.hpp"

using namespace telpher;
using memory::cached_pointer;

namespace {

memory::place ask(const void* address, cached_pointer& held) {
  device::pointer_info info;
  return memory::classify(address, info, held);
}

}  // namespace

TEST_CASE(a_driver_is_asked_once_while_a_lease_is_held) {
  auto& d = emulated::device();
  auto* address = static_cast<std::byte*>(*d.allocate(0, 4096));
  cached_pointer first, second;
  device::pointer_info known, again;
  const memory::place p = memory::classify(address, known, first);
  CHECK(p.on_device() && first);
  CHECK_EQ(d.release(0, address), status::ok);  // no program may; the driver would say host now
  CHECK(memory::classify(address + 4095, again, second) == p);
  CHECK(second);
  CHECK_EQ(again.base, known.base);
  CHECK_EQ(again.generation, known.generation);
  first.release();
  CHECK(ask(address, second) ==
        memory::place{});  // its own reference is released before the look-up
  CHECK(!second);
}

TEST_CASE(another_allocation_at_the_address_is_seen_after_the_lease) {
  auto& d = emulated::device();
  std::uint64_t generation = 0;
  for (int i = 0; i < 3; ++i) {
    void* address = *d.allocate(0, 4096);
    cached_pointer held;
    device::pointer_info info;
    CHECK(memory::classify(address, info, held).on_device());
    CHECK(info.generation != generation);
    generation = info.generation;
    held.release();
    CHECK_EQ(d.release(0, address), status::ok);
  }
}

TEST_CASE(a_lease_ends_with_its_allocation) {
  const emulated::allocation a(4096);
  cached_pointer held, other;
  device::pointer_info info;
  CHECK(memory::classify(a.data(), info, held).on_device());
  const int on_stack = 0;
  CHECK(!ask(&on_stack, other).on_device());
  CHECK(!other);
  CHECK(ask(a.data() + info.bytes, other) == memory::classify(a.data() + info.bytes));
  CHECK(ask(a.data() - 1, other) == memory::classify(a.data() - 1));
}

TEST_CASE(without_room_a_driver_is_asked) {
  constexpr std::size_t count = 20;
  std::vector<std::unique_ptr<emulated::allocation>> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(std::make_unique<emulated::allocation>(64));
  std::size_t cached = 0;
  std::vector<cached_pointer> held(count);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(ask(all[i]->data(), held[i]).on_device());
    cached += static_cast<bool>(held[i]);
  }
  CHECK(cached > 0 && cached < count);
  held[0].release();
  CHECK(ask(all[count - 1]->data(), held[count - 1]).on_device());
  CHECK(held[count - 1]);
}

TEST_CASE(threads_hold_the_same_allocations) {
  const emulated::allocation a(4096), b(4096);
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < 3000; ++i) {
        cached_pointer one, two;
        const bool right = ask(a.data() + i, one).on_device() && ask(b.data(), two).on_device();
        if (!right || !one || !two) CHECK(!"device memory was not recognised or not cached");
      }
    });
  for (std::thread& t : all) t.join();
}
