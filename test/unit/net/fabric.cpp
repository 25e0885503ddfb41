// SPDX-License-Identifier: BSD-3-Clause
// One-sided transfers between two endpoints of this process over libfabric's tcp provider, device
// memory through its window, and the cache of registrations: one entry for each allocation and
// generation, no entry in use is removed, a freed allocation's entry is never used again.
#include "net/fabric.hpp"

#include <chrono>
#include <cstring>
#include <vector>

#include "../memory/emulated.hpp"
#include "net/registrations.hpp"

using namespace telpher;
using net::fabric;

namespace {

constexpr std::size_t size = 300000;

std::unique_ptr<fabric> open() {
  auto f = fabric::open("tcp");
  if (!f) std::puts("libfabric's tcp provider does not open here"), std::exit(1);
  return std::move(*f);
}

/// Two endpoints that know each other as 0 and 1.
struct pair {
  std::unique_ptr<fabric> ends[2] = {open(), open()};
  pair() {
    const std::vector<net::address> all{ends[0]->own(), ends[1]->own()};
    for (auto& e : ends) CHECK_EQ(e->connect(all), status::ok);
  }
  ~pair() { net::withdraw_registrations(); }
  /// Starts an operation, waits for its end while both endpoints make progress, and returns its
  /// outcome.
  template <class Start>
  status finish(net::transfer_mark& mark, Start&& start) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    status s = start();
    while (std::chrono::steady_clock::now() < end && (s == status::would_block || !mark.done)) {
      for (auto& e : ends) e->progress();
      if (s == status::would_block) s = start();
      if (failed(s) && s != status::would_block) return s;
    }
    return mark.done ? mark.outcome : status::would_block;
  }
};

std::vector<std::byte> pattern(int seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
  return bytes;
}

}  // namespace

TEST_CASE(read_and_write_move_every_byte) {
  pair p;
  auto there = pattern(1);
  std::vector<std::byte> here(size);
  auto lent = p.ends[1]->enrol(there.data(), size, device::vendor::none, -1);
  auto own = p.ends[0]->enrol(here.data(), size, device::vendor::none, -1);
  REQUIRE(lent && own);
  net::transfer_mark mark;
  CHECK_EQ(p.finish(mark,
                    [&] {
                      return p.ends[0]->read(1, (*lent)->name(there.data() + 100), here.data(),
                                             size - 100, **own, mark);
                    }),
           status::ok);
  CHECK(std::memcmp(here.data(), there.data() + 100, size - 100) == 0);
  here = pattern(2);
  auto again = p.ends[0]->enrol(here.data(), size, device::vendor::none, -1);
  REQUIRE(again);
  mark = {};
  CHECK_EQ(p.finish(mark,
                    [&] {
                      return p.ends[0]->write(1, (*lent)->name(there.data()), here.data(), size,
                                              **again, mark);
                    }),
           status::ok);
  CHECK(there == here);
}

TEST_CASE(a_withdrawn_registration_is_refused) {
  pair p;
  auto there = pattern(3);
  std::vector<std::byte> here(size);
  auto lent = p.ends[1]->enrol(there.data(), size, device::vendor::none, -1);
  auto own = p.ends[0]->enrol(here.data(), size, device::vendor::none, -1);
  REQUIRE(lent && own);
  const net::remote_memory name = (*lent)->name(there.data());
  lent->reset();
  net::transfer_mark mark;
  CHECK_EQ(p.finish(mark, [&] { return p.ends[0]->read(1, name, here.data(), size, **own, mark); }),
           status::peer_lost);
}

TEST_CASE(device_memory_is_reached_through_its_window) {
  pair p;
  emulated::allocation a(size), b(size);
  const memory::place where{&emulated::device(), 0};
  auto from = net::registered_use::acquire(*p.ends[1], where, a.info());
  auto to = net::registered_use::acquire(*p.ends[0], where, b.info());
  REQUIRE(from && to);
  const auto bytes = pattern(4);
  std::memcpy(from->reach(a.data()), bytes.data(), size);
  net::transfer_mark mark;
  CHECK_EQ(p.finish(mark,
                    [&] {
                      return p.ends[0]->read(1, from->held().name(from->reach(a.data())),
                                             to->reach(b.data()), size, to->held(), mark);
                    }),
           status::ok);
  CHECK(std::memcmp(to->reach(b.data()), bytes.data(), size) == 0);
}

TEST_CASE(an_allocation_is_registered_once_and_anew_in_its_next_life) {
  using memory::allocations;
  constexpr auto registered = memory::facet::kind::registered;
  auto f = open();
  const auto size_of_cache = [] { return allocations::instance().entries(registered); };
  const auto acquire = [&](const device::pointer_info& info) {
    return net::registered_use::acquire(*f, {&emulated::device(), 0}, info);
  };
  net::withdraw_registrations();
  emulated::allocation a(size), b(size), c(size), d(size);
  {
    auto first = acquire(a.info());
    auto second = acquire(a.info());
    REQUIRE(first && second);
    CHECK_EQ(size_of_cache(), std::size_t{1});
    for (const auto* other : {&b, &c, &d}) REQUIRE(acquire(other->info()));
    CHECK(first->reach(a.data()) == second->reach(a.data()));
  }
  REQUIRE(acquire(a.info()));
  CHECK(size_of_cache() <= 3);
  auto next_life = a.info();
  ++next_life.generation;  // as if it had been freed and made again at its address
  const std::size_t before = size_of_cache();
  REQUIRE(acquire(next_life));
  CHECK(size_of_cache() <= before);
  net::withdraw_registrations();
}
