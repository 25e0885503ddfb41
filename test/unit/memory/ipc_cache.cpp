// SPDX-License-Identifier: BSD-3-Clause
// The rules in ipc_cache.hpp, one case for each, with a device that counts what it has open.
#include "memory/ipc_cache.hpp"

#include <thread>

#include "base/settings.hpp"
#include "check_log.hpp"
#include "importer.hpp"

using namespace telpher;
using memory::ipc_cache;

namespace {

constexpr std::size_t bytes = 65536;

importer& the_importer() {
  static importer one;
  return one;
}

/// An allocation as its process describes it.
struct allocation {
  std::uintptr_t base;
  std::uint64_t generation = 1;
};
constexpr allocation a{0x100000}, b{0x200000}, c{0x300000};

result<ipc_cache::mapping> acquire(const allocation& m, int process,
                                   device::ipc_handle handle = {}) {
  return ipc_cache::instance().acquire({process, m.base, m.generation, {&the_importer(), 0}}, bytes,
                                       handle);
}

ipc_cache::mapping open(const allocation& m, int process = 1) {
  auto opened = acquire(m, process);
  CHECK(opened.has_value());
  return opened ? std::move(*opened) : ipc_cache::mapping();
}

/// Counts what has happened since it was constructed; the cache starts empty.
class since {
 public:
  since() {
    ipc_cache::instance().clear();
    before_ = ipc_cache::instance().count();
  }
  std::uint64_t hits() const { return ipc_cache::instance().count().hits - before_.hits; }
  std::uint64_t opens() const { return ipc_cache::instance().count().opens - before_.opens; }
  std::uint64_t closes() const { return ipc_cache::instance().count().closes - before_.closes; }
  std::uint64_t stale() const { return ipc_cache::instance().count().stale - before_.stale; }

 private:
  ipc_cache::counters before_;
};

}  // namespace

TEST_CASE(an_allocation_is_opened_once) {
  const since s;
  const std::byte* first = open(a).base();
  CHECK_EQ(open(a).base(), first);
  CHECK_EQ(s.opens(), 1);
  CHECK_EQ(s.hits(), 1);
  CHECK_EQ(s.closes(), 0);
  ipc_cache::instance().clear();
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
  ipc_cache::instance().clear();
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
  ipc_cache::instance().clear();
}

TEST_CASE(what_is_in_use_is_not_closed) {
  const scoped_settings one({"TELPHER_IPC_CACHE_ENTRIES=1"});
  const since s;
  {
    const auto used = open(a);
    open(b);
    ipc_cache::instance().clear();
    CHECK_EQ(s.closes(), 1);  // only b
    CHECK_EQ(open(a).base(), used.base());
  }
  ipc_cache::instance().clear();
  CHECK_EQ(s.closes(), 2);
}

TEST_CASE(what_rests_is_closed_when_it_is_idle_but_not_while_trimming_is_paused) {
  const scoped_settings soon({"TELPHER_IPC_CACHE_IDLE=0us"});
  ipc_cache& cache = ipc_cache::instance();
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
  ipc_cache::instance().clear();
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
    CHECK(the_importer().open.count(other.base()) == 1);
    open({a.base, 3});
    CHECK_EQ(s.closes(), 2);  // the first is closed once
    ipc_cache::instance().clear();
    CHECK_EQ(s.closes(), 3);
  }
  ipc_cache::instance().clear();
  CHECK_EQ(s.closes(), 4);  // closes b
  CHECK(the_importer().open.empty());
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
  CHECK(the_importer().open.empty());
}

TEST_CASE(processes_do_not_share_entries) {
  const since s;
  open(a, 1);
  open({a.base, 2}, 2);
  CHECK_EQ(s.opens(), 2);
  CHECK_EQ(s.stale(), 0);
  ipc_cache::instance().clear();
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
  the_importer().full = 2;
  open(c);
  CHECK_EQ(s.closes(), 2);
  {
    const auto used = open(c);
    the_importer().full = 1;
    CHECK_EQ(error_of(acquire(a, 1)), status::not_supported);
  }
  the_importer().full = 1000;
  ipc_cache::instance().clear();
  CHECK(the_importer().open.empty());
}

TEST_CASE(what_is_named_must_have_been_opened) {
  const since s;
  the_importer().known = bytes - 1;
  check::expect_log("names an allocation of 65536 bytes of which 65535 could be opened");
  CHECK_EQ(error_of(acquire(a, 1)), status::not_supported);
  CHECK(the_importer().open.empty());
  the_importer().known = bytes;
  open(a);
  CHECK_EQ(s.opens(), 1);
  CHECK_EQ(error_of(ipc_cache::instance().acquire({1, a.base, a.generation, {&the_importer(), 0}},
                                                  bytes + 1, {})),
           status::not_supported);
  ipc_cache::instance().clear();
  the_importer().known = 0;
}
