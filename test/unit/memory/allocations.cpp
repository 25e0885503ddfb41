// SPDX-License-Identifier: BSD-3-Clause
// The rules in memory/allocations.hpp, one case for each, with a device that counts what is open.
#include "memory/allocations.hpp"

#include <thread>

#include "base/settings.hpp"
#include "check_log.hpp"
#include "importer.hpp"
#include "memory/imported.hpp"
#include "memory/windows.hpp"

using namespace telpher;
using memory::allocations;
using memory::facet;

namespace {

constexpr std::size_t bytes = 65536;

importer the_importer;

/// An allocation as its process describes it.
struct described {
  std::uintptr_t base;
  std::uint64_t generation = 1;
};
constexpr described a{0x100000}, b{0x200000}, c{0x300000};

memory::place here() {
  return {&the_importer, 0};
}

result<memory::mapping> acquire(const described& m, int process, device::ipc_handle handle = {},
                                std::size_t told = bytes) {
  return memory::import_memory({process, &the_importer, m.base, told, m.generation}, here(),
                               handle);
}

memory::mapping open(const described& m, int process = 1) {
  auto opened = acquire(m, process);
  CHECK(opened.has_value());
  return opened ? std::move(*opened) : memory::mapping();
}

allocations& all() {
  return allocations::instance();
}

/// Counts what has happened since it was constructed; the cache starts empty.
class since {
 public:
  since() {
    all().clear();
    before_ = all().count(facet::kind::imported);
  }
  std::uint64_t hits() const { return all().count(facet::kind::imported).hits - before_.hits; }
  std::uint64_t opens() const { return all().count(facet::kind::imported).opens - before_.opens; }
  std::uint64_t closes() const {
    return all().count(facet::kind::imported).closes - before_.closes;
  }
  std::uint64_t stale() const { return all().count(facet::kind::imported).ended - before_.ended; }

 private:
  allocations::counters before_;
};

}  // namespace

TEST_CASE(an_allocation_is_opened_once) {
  const since s;
  const std::byte* first = open(a).base();
  CHECK_EQ(open(a).base(), first);
  CHECK_EQ(s.opens(), 1);
  CHECK_EQ(s.hits(), 1);
  CHECK_EQ(s.closes(), 0);
  all().clear();
  CHECK_EQ(s.closes(), 1);
}

TEST_CASE(at_most_as_many_entries_as_set_the_oldest_goes_first) {
  const scoped_settings two({"TELPHER_IPC_CACHE_ENTRIES=2"});
  const since s;
  open(a);
  open(b);
  open(a);
  open(c);  // closes b
  CHECK_EQ(s.closes(), 1);
  open(a);
  CHECK_EQ(s.opens(), 3);
  open(b);
  CHECK_EQ(s.opens(), 4);
  all().clear();
}

TEST_CASE(without_entries_each_message_opens_and_closes) {
  const scoped_settings none({"TELPHER_IPC_CACHE_ENTRIES=0"});
  const since s;
  for (int i = 0; i < 3; ++i) open(a);
  CHECK_EQ(s.opens(), 3);
  CHECK_EQ(s.closes(), 3);
}

TEST_CASE(at_most_as_many_bytes_as_set) {
  const scoped_settings few({"TELPHER_IPC_CACHE_BYTES=100k"});
  const since s;
  open(a);
  open(b);
  CHECK_EQ(s.closes(), 1);
  all().clear();
}

TEST_CASE(what_is_in_use_is_not_closed) {
  const scoped_settings one({"TELPHER_IPC_CACHE_ENTRIES=1"});
  const since s;
  {
    const auto used = open(a);
    open(b);
    all().clear();
    CHECK_EQ(s.closes(), 1);  // only b
    CHECK_EQ(open(a).base(), used.base());
  }
  all().clear();
  CHECK_EQ(s.closes(), 2);
}

TEST_CASE(what_rests_is_closed_when_it_is_idle_but_not_while_trimming_is_paused) {
  const scoped_settings soon({"TELPHER_IPC_CACHE_IDLE=0us"});
  allocations& cache = all();
  const since s;
  const std::uint64_t revoked = cache.revoked();
  auto kept = open(a), again = open(a);
  kept.rest();
  cache.clear();
  CHECK(kept.base() != nullptr);  // somebody is using it
  again.rest();
  {
    const auto paused = cache.pause_trimming();
    cache.clear();
    CHECK(kept.base() != nullptr);
  }
  cache.clear();
  CHECK(kept.base() == nullptr && again.base() == nullptr);
  CHECK_EQ(s.closes(), 1);
  CHECK_EQ(cache.revoked(), revoked + 1);
  CHECK(open(a).base() != nullptr);
  cache.clear();
}

TEST_CASE(what_rests_is_closed_when_there_are_too_many_bytes) {
  const scoped_settings few({"TELPHER_IPC_CACHE_BYTES=100k"});
  const since s;
  auto kept = open(a);
  kept.rest();
  const auto used = open(b);
  CHECK(kept.base() == nullptr && used.base() != nullptr);
  CHECK_EQ(s.closes(), 1);
}

TEST_CASE(another_generation_closes_the_stale_one) {
  const since s;
  open(a);
  open({a.base, 2});
  CHECK_EQ(s.opens(), 2);
  CHECK_EQ(s.stale(), 1);
  open({a.base + bytes / 2, 3});  // overlaps the one before
  CHECK_EQ(s.stale(), 2);
  open({a.base + bytes / 2 + bytes, 4});
  CHECK_EQ(s.stale(), 2);
  all().clear();
}

TEST_CASE(a_stale_one_that_is_held_closes_too) {
  const since s;
  {
    const auto kept = open(a), again = open(a), other = open(b);
    open({a.base, 2});
    CHECK_EQ(s.stale(), 1);
    CHECK_EQ(s.closes(), 1);
    CHECK(kept.base() == nullptr);
    CHECK(again.base() == nullptr);
    CHECK(the_importer.open.count(other.base()) == 1);
    open({a.base, 3});
    CHECK_EQ(s.closes(), 2);  // the first is closed once
    all().clear();
    CHECK_EQ(s.closes(), 3);
  }
  all().clear();
  CHECK_EQ(s.closes(), 4);  // closes b
  CHECK(the_importer.open.empty());
}

TEST_CASE(a_stale_one_lets_go_without_a_cache) {
  const scoped_settings none({"TELPHER_IPC_CACHE_ENTRIES=0"});
  const since s;
  {
    const auto kept = open(a);
    const auto next = open({a.base, 2});
    CHECK(kept.base() == nullptr);
    CHECK(next.base() != nullptr);
  }
  CHECK_EQ(s.closes(), 2);
  CHECK(the_importer.open.empty());
}

TEST_CASE(processes_do_not_share_entries) {
  const since s;
  open(a, 1);
  open({a.base, 2}, 2);
  CHECK_EQ(s.opens(), 2);
  CHECK_EQ(s.stale(), 0);
  all().clear();
}

TEST_CASE(idle_entries_close_at_the_next_use_of_the_cache) {
  const scoped_settings soon({"TELPHER_IPC_CACHE_IDLE=1ms"});
  const since s;
  const auto used = open(b);
  open(a);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  open(b);  // a hit
  CHECK_EQ(s.closes(), 1);
  CHECK_EQ(s.opens(), 2);
}

TEST_CASE(a_refusal_is_an_answer) {
  const since s;
  device::ipc_handle handle{};
  handle.bytes[0] = importer::refused;
  CHECK_EQ(error_of(acquire(c, 1, handle)), status::not_supported);
  CHECK_EQ(s.opens(), 0);
  open(c);
  CHECK_EQ(s.opens(), 1);
}

TEST_CASE(when_the_device_has_no_room_idle_entries_close) {
  const since s;
  open(a);
  open(b);
  the_importer.full = 2;
  open(c);
  CHECK_EQ(s.closes(), 2);
  {
    const auto used = open(c);
    the_importer.full = 1;
    CHECK_EQ(error_of(acquire(a, 1)), status::not_supported);
  }
  the_importer.full = 1000;
  all().clear();
  CHECK(the_importer.open.empty());
}

TEST_CASE(what_is_named_must_have_been_opened) {
  const since s;
  the_importer.known = bytes - 1;
  check::expect_log("names an allocation of 65536 bytes of which 65535 could be opened");
  CHECK_EQ(error_of(acquire(a, 1)), status::not_supported);
  CHECK(the_importer.open.empty());
  the_importer.known = bytes;
  open(a);
  CHECK_EQ(s.opens(), 1);
  CHECK_EQ(error_of(acquire(a, 1, {}, bytes + 1)), status::not_supported);
  all().clear();
  the_importer.known = 0;
}

TEST_CASE(an_ending_that_its_process_posts_closes_all_its_facets_at_once) {
  const since s;
  const auto used = open(a), other = open(b);
  auto kept = open(a);
  kept.rest();
  const std::uint64_t revoked = all().revoked();
  all().ended(1, a.base, a.generation + 1);  // another generation
  all().ended(2, a.base, a.generation);      // another process
  CHECK(used.base() != nullptr);
  all().ended(1, a.base, a.generation);
  CHECK(used.base() == nullptr && kept.base() == nullptr && other.base() != nullptr);
  CHECK_EQ(all().revoked(), revoked + 1);
  CHECK_EQ(s.stale(), 1);
  all().some_ended(1);
  CHECK(other.base() != nullptr);  // it is in use
}

TEST_CASE(endings_that_were_missed_close_what_is_unused) {
  const since s;
  open(a), open(b), open(c, 2);
  all().some_ended(1);
  CHECK_EQ(s.closes(), 2);
  all().clear();
}

// --- of this process's own allocations, on the device that `importer` pretends ---

namespace {

constexpr auto each = {facet::kind::exported, facet::kind::window, facet::kind::registered};

/// Counts what has been given back.
struct counted final : facet {
  int& given_back;
  explicit counted(int& n) : given_back(n) {}
  ~counted() override { ++given_back; }
};

memory::allocation own(std::uint64_t generation, std::uintptr_t base = 0x100000) {
  return {memory::allocation::own_process, &the_importer, base, bytes, generation};
}

allocations::held keep(facet::kind k, const memory::allocation& m, int& given_back) {
  auto held = all().acquire(k, m, {here()}, [&]() -> result<std::unique_ptr<facet>> {
    return std::unique_ptr<facet>(new counted(given_back));
  });
  CHECK(held.has_value());
  return held ? std::move(*held) : allocations::held();
}

std::vector<std::uintptr_t> posted;

/// What the driver says of an address.
void lives(std::uintptr_t base, std::uint64_t generation) {
  the_importer.own = {
      device::memory_kind::device, the_importer.owner(), 0, base, bytes, generation};
}

}  // namespace

TEST_CASE(the_next_generation_ends_every_kind_of_facet_and_peers_are_told_once) {
  all().clear();
  all().tell_peers_by([](const memory::allocation& m) { posted.push_back(m.base); });
  posted.clear();
  for (const facet::kind noticed_by : each) {
    int given_back = 0;
    for (const facet::kind k : each) keep(k, own(1), given_back);
    keep(facet::kind::window, own(1, 0x900000), given_back);  // lies elsewhere
    CHECK_EQ(given_back, 0);
    int next = 0;
    keep(noticed_by, own(2, 0x100000 + bytes / 2), next);
    CHECK_EQ(given_back, 3);
    all().clear();
    CHECK_EQ(given_back, 4);
    CHECK_EQ(next, 1);
  }
  CHECK_EQ(posted.size(), std::size_t{3});
  all().tell_peers_by(nullptr);
}

TEST_CASE(an_own_facet_in_use_is_given_back_with_its_last_user) {
  all().clear();
  int given_back = 0, next = 0;
  {
    const auto used = keep(facet::kind::registered, own(1), given_back);
    keep(facet::kind::registered, own(2), next);
    CHECK_EQ(given_back, 0);
    CHECK(used.what() != nullptr);
  }
  CHECK_EQ(given_back, 1);
  all().clear();
}

TEST_CASE(what_the_program_freed_is_noticed_when_a_look_is_due) {
  const scoped_settings long_idle({"TELPHER_IPC_CACHE_IDLE=1000s"});
  all().clear();
  all().tell_peers_by([](const memory::allocation& m) { posted.push_back(m.base); });
  posted.clear();
  int given_back = 0;
  for (const facet::kind k : each) keep(k, own(7), given_back);
  lives(0x100000, 7);
  all().tidy();
  CHECK_EQ(given_back, 0);
  CHECK(!all().due());
  the_importer.own = {};  // freed
  all().look_soon();
  CHECK(all().due());
  all().tidy();
  CHECK_EQ(given_back, 3);
  CHECK_EQ(posted.size(), std::size_t{1});
  for (const facet::kind k : each) keep(k, own(7), given_back);
  lives(0x100000, 8);  // and another one was made there
  all().tidy();
  CHECK_EQ(given_back, 6);
  all().tell_peers_by(nullptr);
}

TEST_CASE(every_kind_has_a_limit_of_bytes) {
  all().clear();
  for (const facet::kind k : {facet::kind::window, facet::kind::registered}) {
    int given_back = 0;
    for (std::uintptr_t i = 1; i <= 4; ++i) {
      memory::allocation m = own(1, i << 40);
      m.bytes = std::size_t{24} << 30;
      keep(k, m, given_back);
      CHECK(all().bytes(k) <= std::size_t{64} << 30);
    }
    CHECK_EQ(given_back, 2);
    all().clear();
    CHECK_EQ(all().bytes(k), std::size_t{0});
  }
}
