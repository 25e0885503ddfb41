// SPDX-License-Identifier: BSD-3-Clause
// What the order of base/paths.def must keep to.
#include "path/table.hpp"

#include "check.hpp"

using namespace telpher;
using path::all_paths;

TEST_CASE(each_row_has_the_record_of_its_name) {
  int name = 0;
  for (const path::record* r : all_paths()) {
    CHECK_EQ(static_cast<int>(r->name), ++name);
    CHECK(*path::description(r->name) != 0);
  }
}

TEST_CASE(eager_paths_come_first) {
  bool eager = true;
  for (const path::record* r : all_paths()) {
    const bool is = r->between & path::eager;
    CHECK(eager || !is);
    CHECK(!is || (r->serves && r->start_send && r->start_receive));
    eager = is;
  }
}

TEST_CASE(the_last_path_of_a_node_takes_every_message) {
  const path::record* last = nullptr;
  for (const path::record* r : all_paths())
    if (r->between & path::node) last = r;
  REQUIRE(last);
  CHECK(last->when == path::use::always && !last->sizes.least && !last->sizes.most);
}
