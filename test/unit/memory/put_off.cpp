// SPDX-License-Identifier: BSD-3-Clause
// Calls that wait for the device, and the mappings that they shall close, while streams hold
// operations (memory/held_streams.hpp, memory/imported.cpp).
#include <memory>
#include <thread>

#include "check_log.hpp"
#include "importer.hpp"
#include "memory/held_streams.hpp"
#include "memory/imported.hpp"

using namespace telpher;
using memory::allocations;
using memory::held_streams;

namespace {

constexpr std::size_t bytes = 65536;
constexpr std::uintptr_t first_base = 0x100000, second_base = 0x200000, third_base = 0x300000;

importer the_importer;

result<memory::mapping> open(std::uintptr_t base, std::uint64_t generation = 1) {
  return memory::import_memory({1, &the_importer, base, bytes, generation}, {&the_importer, 0}, {});
}

}  // namespace

TEST_CASE(calls_are_made_by_threads_of_the_program_while_no_stream_is_held) {
  auto& streams = held_streams::instance();
  int made = 0;
  streams.call_when_free([&] { ++made; });
  CHECK_EQ(made, 1);
  std::thread([&] {
    held_streams::make_none_here();
    streams.call_when_free([&] { ++made; });
    CHECK(!streams.has_calls());
    streams.make_calls();
  }).join();
  CHECK_EQ(made, 1);
  CHECK(streams.has_calls() && streams.any_put_off());
  streams.begin();
  streams.make_calls();
  streams.make_needed_calls();
  CHECK_EQ(made, 1);
  const std::uint64_t before = streams.changes();
  streams.end();
  CHECK_EQ(made, 1);
  const std::uint64_t ended = streams.changes();
  CHECK(ended > before);
  streams.make_calls();
  CHECK_EQ(made, 2);
  CHECK(streams.changes() > ended);
  CHECK(!streams.has_calls() && !streams.any_put_off());
}

// As the buffers of a call that is put off: freed into a full pool, they put off another call.
TEST_CASE(what_a_call_owns_may_put_off_another_call) {
  auto& streams = held_streams::instance();
  int made = 0;
  const auto free = [&](int*) { streams.call_when_free([&] { ++made; }); };
  streams.begin();
  streams.call_when_free([&made, owned = std::shared_ptr<int>(&made, free)] { ++made; });
  streams.end();
  streams.make_calls();
  CHECK_EQ(made, 2);
}

TEST_CASE(what_cannot_be_closed_now_is_closed_later) {
  auto& all = allocations::instance();
  auto& streams = held_streams::instance();
  const std::byte* const first = open(first_base)->base();
  CHECK(open(second_base).has_value());
  streams.begin();
  all.clear();
  CHECK_EQ(the_importer.open.size(), 2u);
  // What was made where a former one was is opened beside it, or refused. Other memory is opened.
  the_importer.full = 2;
  CHECK_EQ(error_of(open(first_base + bytes / 2, 99)), status::not_supported);
  the_importer.full = 1000;
  CHECK(open(first_base + bytes / 2, 99).has_value());
  CHECK(open(third_base).has_value());
  CHECK_EQ(open(first_base)->base(), first);
  all.clear();
  CHECK_EQ(the_importer.open.size(), 4u);
  streams.end();
  CHECK_EQ(the_importer.open.size(), 4u);
  CHECK(open(first_base + bytes / 2, 100).has_value());  // before that, the others are closed
  CHECK_EQ(the_importer.open.size(), 1u);
  all.clear();
  CHECK(the_importer.open.empty());
}

TEST_CASE(much_memory_that_waits_to_be_closed_is_said) {
  check::expect_log("MB of memory that other ranks gave up stay in use");
  auto& streams = held_streams::instance();
  constexpr std::size_t much = std::size_t{2} << 30;
  streams.begin();
  CHECK(memory::import_memory({1, &the_importer, first_base, much, 1}, {&the_importer, 0}, {})
            .has_value());
  allocations::instance().clear();
  CHECK_EQ(the_importer.open.size(), 1u);
  streams.end();
  streams.make_calls();
  CHECK(the_importer.open.empty());
}
