// SPDX-License-Identifier: BSD-3-Clause
// Which collectives between nodes run by schedules without a setting, which are tried both ways,
// and that their results are right.
#include "checked_calls.hpp"
#include "ways.hpp"

namespace {

using namespace mpi_test;

std::string path_of(suite& s, call_kind what, const char* name, int n, bool later = false) {
  s.still_alive();
  s.note("%s of %d", name, n);
  s.expect_none(
      checked_call(MPI_COMM_WORLD, what, n, 1, {kind::device, kind::device, false, later}).run());
  return last_path();
}

/// The count of a call whose longest vector has so many bytes.
int count_of(const suite& s, call_kind what, std::size_t bytes) {
  const bool whole =
      what == call_kind::allreduce || what == call_kind::reduce || what == call_kind::bcast;
  const int ints = static_cast<int>(bytes / sizeof(int)), parts = whole ? 1 : s.ranks;
  return (ints + parts - 1) / parts;
}

/// Without a setting: sums from the size on that was measured to be faster (ways.def), and nothing
/// else but what is tried.
void check_default(suite& s) {
  constexpr std::size_t listed_nowhere = std::size_t{40} << 20;
  each_operation([&](call_kind what, const char* name) {
    if (what >= call_kind::allgatherv) return;  // whose parts are of several lengths
    const auto [tried_from, least, later_from] = sizes_between(name);
    if (const std::size_t first = tried_from ? tried_from
                                  : least    ? least
                                             : listed_nowhere;
        path_of(s, what, name, count_of(s, what, first) - 1000) == "coll_levels")
      s.fail("%s of less than %zu bytes ran by a schedule", name, first);
    if (tried_from) return;
    if (const std::string path =
            path_of(s, what, name, count_of(s, what, least ? least : listed_nowhere));
        (path == "coll_levels") != (least != 0))
      s.fail("%s of %zu bytes ran by %s", name, least, path.c_str());
  });
}

/// What is tried goes both ways in turn, three times each, then one way. All ranks take the same,
/// and so do non-blocking calls of that size.
void check_tried(suite& s) {
  constexpr int trials = 6, later = 3;
  each_operation([&](call_kind what, const char* name) {
    const auto [tried_from, least, later_from] = sizes_between(name);
    if (!tried_from || what >= call_kind::allgatherv) return;
    const int n = count_of(s, what, tried_from);
    std::string chosen;
    for (int i = 0; i < trials + later; ++i) {
      const std::string path = path_of(s, what, name, n);
      if (i == trials) chosen = path;
      const char* const wanted = i >= trials ? chosen.c_str()
                                 : i % 2     ? "coll_staged"
                                             : "coll_levels";
      if (path != wanted)
        s.fail("call %d of %s of %d ran by %s, not %s", i, name, n, path.c_str(), wanted);
    }
    int by_schedule = chosen == "coll_levels", at_all = 0;
    MPI_Allreduce(&by_schedule, &at_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (at_all != by_schedule * s.ranks) s.fail("ranks chose %s differently", name);
    if (const std::string path = path_of(s, what, name, n, true);
        (path == "coll_levels") != by_schedule)
      s.fail("a non-blocking %s ran by %s, blocking ones by %s", name, path.c_str(),
             chosen.c_str());
  });
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  s.run("by default", [&] { check_default(s); });
  s.run("tried", [&] { check_tried(s); });
  return s.finish();
}
