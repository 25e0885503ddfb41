// SPDX-License-Identifier: BSD-3-Clause
// Collectives between nodes over a host MPI that takes device memory (as here, where the CPU can
// use the emulated devices' memory): those that move data go from device memory and from images of
// it in turn, then the faster way, and sums never from device memory. Every byte of the results.
// With `coll_staged` among the arguments nothing goes from device memory.
#include "checked_calls.hpp"
#include "path/measured_choice.hpp"
#include "ways.hpp"

namespace {

using namespace mpi_test;

constexpr int calls = 2 * telpher::path::measured_choice::trials, later_calls = 4;

std::string path_of(suite& s, call_kind what, int n, memory_kinds k = {}) {
  s.still_alive();
  s.note("%s of %d", names[static_cast<int>(what)], n);
  s.expect_none(checked_call(MPI_COMM_WORLD, what, n, 1, k).run());
  return last_path();
}

bool moves(call_kind what) {
  return what == call_kind::bcast || what == call_kind::allgather || what == call_kind::alltoall;
}

void wants(suite& s, const char* name, int i, const std::string& path, const std::string& wanted) {
  if (path != wanted)
    s.fail("call %d of %s ran by %s, not %s", i, name, path.c_str(), wanted.c_str());
}

/// Small ones, for which there are these two ways only. What a rank chooses is its own affair.
void check_small(suite& s, bool host_takes) {
  each_operation([&](call_kind what, const char* name) {
    if (!moves(what)) return;
    for (const int n : {1, 300, 5000}) {
      std::string chosen = "coll_staged";
      for (int i = 0; i < calls + later_calls; ++i) {
        const std::string path = path_of(s, what, n);
        if (i == calls) chosen = path;
        if (host_takes && i < calls)
          wants(s, name, i, path, i % 2 ? "coll_direct" : "coll_staged");
        else
          wants(s, name, i, path, chosen);
      }
      s.expect(
          host_takes ? chosen == "coll_direct" || chosen == "coll_staged" : chosen == "coll_staged",
          "one of the two ways");
      wants(s, name, -1, path_of(s, what, n, {kind::device, kind::device, false, true}), chosen);
    }
  });
}

/// By a schedule and by the host MPI in turn; of the latter each way in turn.
void check_three_ways(suite& s) {
  each_operation([&](call_kind what, const char* name) {
    const std::size_t from = sizes_between(name).tried_from;
    if (!moves(what) || from == 0) return;
    const int ints = static_cast<int>(from / sizeof(int));
    const int n = what == call_kind::bcast ? ints : (ints + s.ranks - 1) / s.ranks;
    std::string chosen;
    for (int i = 0; i < 2 * calls + later_calls; ++i) {
      const std::string path = path_of(s, what, n);
      if (i == 2 * calls) chosen = path;
      wants(s, name, i, path,
            i >= 2 * calls ? chosen
            : i % 2 == 0   ? "coll_levels"
            : i / 2 % 2    ? "coll_direct"
                           : "coll_staged");
    }
    int by_schedule = chosen == "coll_levels", at_all = 0;
    MPI_Allreduce(&by_schedule, &at_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (at_all != by_schedule * s.ranks) s.fail("ranks chose %s differently", name);
  });
}

void check_sums(suite& s) {
  each_operation([&](call_kind what, const char* name) {
    if (what != call_kind::allreduce && what != call_kind::reduce &&
        what != call_kind::reduce_scatter_block)
      return;
    for (int i = 0; i < 3; ++i)
      for (const bool later : {false, true})
        wants(s, name, i, path_of(s, what, 500, {kind::device, kind::device, false, later}),
              "coll_staged");
  });
}

/// One buffer in host memory, blocks of several lengths, and in place.
void check_mixed(suite& s) {
  constexpr kind kinds[] = {kind::device, kind::host};
  each_operation([&](call_kind what, const char*) {
    for (const kind send : kinds)
      for (const kind receive : kinds)
        for (const bool in_place : {false, true})
          for (int i = 0; i < 3; ++i) path_of(s, what, 700, {send, receive, in_place, i == 2});
  });
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  const bool host_takes = take_wanted_path(s) != "coll_staged";
  s.run("small", [&] { check_small(s, host_takes); });
  s.run("three ways", [&] { check_three_ways(s); });
  s.run("sums", [&] { check_sums(s); });
  s.run("mixed", [&] { check_mixed(s); });
  return s.finish();
}
