// SPDX-License-Identifier: BSD-3-Clause
// Ranges that receives write: which overlap, which are exposed, and that no range is left behind.
#include "ticket/written_ranges.hpp"

#include "check.hpp"

using telpher::ticket::written_ranges;
using range = written_ranges::range;

TEST_CASE(neighbours_do_not_overlap) {
  written_ranges all;
  CHECK(!all.enter({100, 200}));
  CHECK(!all.enter({200, 300}));
  CHECK(!all.enter({50, 100}));
  CHECK_EQ(all.size(), 3);
  for (const range r : {range{100, 200}, range{200, 300}, range{50, 100}}) all.leave(r);
  CHECK_EQ(all.size(), 0);
}

TEST_CASE(one_byte_in_common_is_enough) {
  for (const range other :
       {range{199, 300}, range{50, 101}, range{120, 130}, range{50, 300}, range{100, 200}}) {
    written_ranges all;
    CHECK(!all.enter({100, 200}));
    CHECK(all.enter(other));
    all.leave({100, 200});
    CHECK(all.enter({100, 200}));  // the other range is still entered
    all.leave({100, 200});
    all.leave(other);
    CHECK_EQ(all.size(), 0);
    CHECK(!all.enter({100, 200}));
  }
}

TEST_CASE(one_range_may_join_several) {
  written_ranges all;
  for (std::uintptr_t i = 0; i < 10; ++i) CHECK(!all.enter({100 * i, 100 * i + 50}));
  CHECK(all.enter({149, 401}));  // the second to the fifth
  CHECK_EQ(all.size(), 7);
  all.expose({300, 350});
  CHECK(all.exposed({100, 150}));
  CHECK(all.exposed({149, 401}));
  CHECK(!all.exposed({0, 50}));
  CHECK(!all.exposed({500, 550}));
  all.leave({149, 401});
  CHECK(all.exposed({100, 150}));  // a region stays exposed until all have left
  all.cover({300, 350});
  CHECK(!all.exposed({100, 150}));
  for (std::uintptr_t i = 10; i-- > 0;) all.leave({100 * i, 100 * i + 50});
  CHECK_EQ(all.size(), 0);
}

TEST_CASE(what_is_exposed_stays_so_in_a_larger_region) {
  written_ranges all;
  CHECK(!all.enter({100, 200}));
  all.expose({100, 200});
  CHECK(all.enter({150, 250}));
  CHECK(all.exposed({150, 250}));
  CHECK(all.enter({90, 160}));
  CHECK(all.exposed({90, 160}));
  all.cover({100, 200});
  all.leave({100, 200});
  CHECK(!all.exposed({150, 250}));
}

TEST_CASE(a_range_that_was_not_entered_may_be_asked_for) {
  written_ranges all;
  CHECK(!all.exposed({100, 200}));
  CHECK(!all.enter({100, 200}));
  CHECK(!all.exposed({150, 160}));
  CHECK(!all.enter({300, 400}));
  all.expose({300, 400});
  CHECK(all.exposed({399, 500}));
  CHECK(all.exposed({150, 301}));  // over one that is not exposed
  CHECK(all.exposed({0, 1000}));
  CHECK(!all.exposed({200, 300}));
  CHECK(!all.exposed({150, 250}));
  CHECK(!all.exposed({400, 500}));
  CHECK_EQ(all.size(), 2);
  all.cover({300, 400});
  CHECK(!all.exposed({0, 1000}));
}
