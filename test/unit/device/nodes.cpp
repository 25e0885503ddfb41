// SPDX-License-Identifier: BSD-3-Clause
// What system files and the vendors' variables tell, without asking a runtime.
#include "device/gpurt/nodes.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "check.hpp"

using namespace telpher::device::gpurt;

TEST_CASE(lists_of_visible_devices_are_counted_as_the_runtimes_do) {
  constexpr const char* name = "SOME_VISIBLE_DEVICES";
  ::unsetenv(name);
  CHECK_EQ(visible_of(name, 4), 4);
  const struct {
    const char* text;
    int left;
  } rows[] = {{"", 0},
              {"0", 1},
              {"2,1", 2},
              {"0,-1,2", 1},
              {"-1", 0},
              {"0,1,2,3,4,5", 4},
              {"GPU-1234,GPU-5678", 2},
              {"1,,2", 1}};
  for (const auto& row : rows) {
    ::setenv(name, row.text, 1);
    CHECK_EQ(visible_of(name, 4), row.left);
  }
}

TEST_CASE(the_cpu_may_access_what_is_mapped_for_it) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* at = static_cast<char*>(
      ::mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(at != MAP_FAILED);
  CHECK(cpu_may_access(at, 4 * page));
  CHECK(cpu_may_access(at + 100, 2 * page));
  CHECK_EQ(::mprotect(at + 2 * page, page, PROT_READ), 0);  // the map now has three entries
  CHECK(cpu_may_access(at, 2 * page));
  CHECK(!cpu_may_access(at, 2 * page + 1));
  CHECK(!cpu_may_access(at + 2 * page, 1));
  CHECK(cpu_may_access(at + 3 * page, page));
  CHECK_EQ(::mprotect(at + 2 * page, page, PROT_NONE), 0);
  CHECK(!cpu_may_access(at, 4 * page));
  CHECK_EQ(::munmap(at, 4 * page), 0);
  CHECK(!cpu_may_access(at, 1));
}
