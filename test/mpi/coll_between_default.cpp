// SPDX-License-Identifier: BSD-3-Clause
// Which collectives between nodes run by schedules without a setting, and that their results are
// right.
#include "checked_calls.hpp"
#include "ways.hpp"

namespace {

using namespace mpi_test;

/// Without a setting: from the size on that was measured to be faster (ways.def), and nothing else.
void check_default(suite& s) {
  constexpr int listed_nowhere = 40 << 20;
  const auto path_of = [&](call_kind what, const char* name, int n) {
    s.still_alive();
    s.note("%s of %d", name, n);
    s.expect_none(checked_call(MPI_COMM_WORLD, what, n, 1, {kind::device, kind::device}).run());
    return last_path();
  };
  each_operation([&](call_kind what, const char* name) {
    if (what >= call_kind::allgatherv) return;  // whose parts are of several lengths
    const std::size_t bytes = least_between(name);
    const int least = static_cast<int>((bytes ? bytes : listed_nowhere) / sizeof(int));
    const int parts =
        what == call_kind::allreduce || what == call_kind::reduce || what == call_kind::bcast
            ? 1
            : s.ranks;
    if (const std::string path = path_of(what, name, (least + parts - 1) / parts);
        (path == "coll_levels") != (bytes != 0))
      s.fail("%s of %d bytes ran by %s", name, 4 * least, path.c_str());
    if (const std::string path = path_of(what, name, least / parts - 1000); path == "coll_levels")
      s.fail("%s of less ran by %s", name, path.c_str());
  });
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  s.run("by default", [&] { check_default(s); });
  return s.finish();
}
