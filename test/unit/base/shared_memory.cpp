// SPDX-License-Identifier: BSD-3-Clause
// Shared memory: visible to another process, checked when opened, gone with its last user.
#include "base/shared_memory.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "check.hpp"

using telpher::shared_memory;
using telpher::status;

namespace {

long open_descriptors() {
  long count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

// Runs `body` in a child and returns the child's exit code.
template <class F>
int in_child(F body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int wait_status = 0;
  ::waitpid(pid, &wait_status, 0);
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
}

}  // namespace

TEST_CASE(a_segment_is_zero_but_for_its_cookie) {
  auto made = shared_memory::create(1 << 16, "telpher-test");
  REQUIRE(made.has_value());
  CHECK_EQ(made->size(), 1 << 16);
  CHECK(std::memcmp(made->data(), &made->name().cookie, 8) == 0);
  for (std::size_t i = 8; i < made->size(); ++i) REQUIRE(made->data()[i] == std::byte{0});
}

TEST_CASE(another_process_maps_the_same_bytes) {
  auto made = shared_memory::create(4096, "telpher-test");
  REQUIRE(made.has_value());
  const auto name = made->name();
  const int code = in_child([&] {
    auto opened = shared_memory::open(name);
    if (!opened || opened->data() == made->data()) return 1;
    opened->data()[100] = std::byte{42};
    return opened->size() == 4096 ? 0 : 2;
  });
  CHECK_EQ(code, 0);
  CHECK_EQ(static_cast<int>(made->data()[100]), 42);
}

TEST_CASE(a_wrong_cookie_size_or_owner_is_refused) {
  auto made = shared_memory::create(4096, "telpher-test");
  REQUIRE(made.has_value());
  auto name = made->name();
  CHECK(shared_memory::open(name).has_value());
  ++name.cookie;
  CHECK_EQ(shared_memory::open(name).error(), status::not_supported);
  name = made->name();
  name.bytes = 8192;
  CHECK_EQ(shared_memory::open(name).error(), status::not_supported);
  name = made->name();
  name.descriptor = 9999;
  CHECK_EQ(shared_memory::open(name).error(), status::not_supported);
  name = made->name();
  name.pid = 0x3fffffff;  // above the largest process number of Linux
  CHECK_EQ(shared_memory::open(name).error(), status::not_supported);
}

TEST_CASE(a_dead_owner_cannot_be_opened) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  CHECK_EQ(in_child([&] {
             auto made = shared_memory::create(4096, "telpher-test");
             const auto name = made ? made->name() : telpher::shared_memory_name{};
             return ::write(ends[1], &name, sizeof name) == sizeof name ? 0 : 1;
           }),
           0);
  telpher::shared_memory_name name{};
  REQUIRE(::read(ends[0], &name, sizeof name) == sizeof name);
  CHECK(!shared_memory::open(name).has_value());
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE(an_opened_segment_outlives_its_maker) {
  auto made = shared_memory::create(4096, "telpher-test");
  REQUIRE(made.has_value());
  made->data()[9] = std::byte{7};
  auto opened = shared_memory::open(made->name());
  REQUIRE(opened.has_value());
  *made = shared_memory();
  CHECK_EQ(static_cast<int>(opened->data()[9]), 7);
}

TEST_CASE(descriptors_are_closed) {
  const long before = open_descriptors();
  {
    auto made = shared_memory::create(4096, "telpher-test");
    REQUIRE(made.has_value());
    auto opened = shared_memory::open(made->name());
    auto name = made->name();
    ++name.cookie;
    auto refused = shared_memory::open(name);
    shared_memory moved = std::move(*made);
    CHECK(moved && !*made);
  }
  CHECK_EQ(open_descriptors(), before);
}

TEST_CASE(random_bits_differ) {
  CHECK(telpher::random_bits() != telpher::random_bits());
}
