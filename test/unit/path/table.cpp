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

namespace {

bool all_can(path::kind, int, std::size_t) noexcept {
  return true;
}
bool not_direct(path::kind by, int, std::size_t) noexcept {
  return by != path::kind::direct;
}

path::kind chosen(std::size_t bytes, path::can_serve* can) {
  return path::choose_network(1, bytes, can)->name;
}

}  // namespace

TEST_CASE(between_nodes_the_first_path_is_chosen_that_can_and_whose_limits_hold) {
  const scoped_settings limit({"TELPHER_RDMA_THRESHOLD=64k"});
  CHECK_EQ(chosen(1000, all_can), path::kind::direct);
  CHECK_EQ(chosen(1000, not_direct), path::kind::pipelined);
  CHECK_EQ(chosen(65536, not_direct), path::kind::rdma);
}
