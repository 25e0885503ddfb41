// SPDX-License-Identifier: BSD-3-Clause
// Collectives in two levels, between nodes: that device memory goes that way whatever the calls
// before it had, ranks whose memory changes, odd counts with several chunks, in place, blocking and
// not, communicators whose nodes are uneven or whose ranks are shuffled, and equal bits at all
// ranks.
#include <algorithm>
#include <cmath>

#include "checked_calls.hpp"
#include "emulated.hpp"
#include "two_level_later.hpp"

namespace {

using namespace mpi_test;

/// Device memory at all ranks goes in two levels, in place as well (but for the in place of
/// alltoallv, which the checks do not know), and so does the non-blocking form.
void check_paths(suite& s) {
  each_operation([&](call_kind what, const char* name) {
    int call = 0;
    for (const int n : {1, 333, 5001})
      for (const bool in_place : {false, true})
        for (const bool later : {false, true}) {
          s.note("%s of %d%s%s", name, n, in_place ? " in place" : "", later ? " later" : "");
          const memory_kinds k{kind::device, kind::device, in_place, later};
          s.expect_none(checked_call(MPI_COMM_WORLD, what, n, call++, k).run());
          if (in_place && what == call_kind::alltoallv) continue;
          if (const std::string path = last_path(); path != "coll_levels")
            s.fail("%s of %d%s%s ran by %s", name, n, in_place ? " in place" : "",
                   later ? " later" : "", path.c_str());
        }
  });
}

/// Calls with device memory beside calls of the same size with host memory, as in a program that
/// compares the two.
void check_turns(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  each_operation([&](call_kind what, const char* name) {
    for (int call = 0; call < 9; ++call) {
      const bool host = call % 3 == 1;
      s.note("%s in turns, call %d", name, call);
      const kind k = host ? kind::host : kind::device;
      s.expect_none(checked_call(comm, what, 900, call, {k, k}).run());
      if (const std::string path = last_path(); !host && path != "coll_levels")
        s.fail("%s, call %d, ran by %s", name, call, path.c_str());
    }
  });
  MPI_Comm_free(&comm);
}

/// Calls with host memory at all ranks, then device memory everywhere, then of any kind.
void check_changes(suite& s) {
  random_numbers own(s.opt.seed * 1000 + static_cast<std::uint64_t>(s.rank));
  const auto any_kind = [&] { return kinds()[own.below(kinds().size())]; };
  each_operation([&](call_kind what, const char* name) {
    for (int call = 0; call < 14; ++call) {
      s.note("%s, call %d", name, call);
      memory_kinds k{any_kind(), any_kind(), call % 3 == 2, call > 8};
      if (call < 2) k.send = k.receive = kind::host;
      if (call == 3 || call == 7) k.send = k.receive = kind::device;
      if (what == call_kind::alltoall || what == call_kind::alltoallv) k.in_place = false;
      s.expect_none(checked_call(MPI_COMM_WORLD, what, 1200, call, k).run());
    }
  });
}

/// Calls in which some ranks have host memory, or one buffer of each kind.
void check_mixed(suite& s) {
  each_operation([&](call_kind what, const char* name) {
    int call = 0;
    for (const int n : {3, 2000})
      for (const bool later : {false, true})
        for (int turn = 0; turn < 2; ++turn, ++call) {
          s.note("%s of %d, mixed, call %d", name, n, call);
          const bool own = s.rank % 2 == turn;  // has a device
          const kind in = own ? kind::device : kind::host;
          const kind out = own == (call % 3 != 0) ? kind::device : kind::host;
          // Of a broadcast the test uses one buffer, of a reduction only the root has the second.
          const bool one = what == call_kind::bcast || what == call_kind::reduce;
          s.expect_none(
              checked_call(MPI_COMM_WORLD, what, n, call, {in, one ? in : out, false, later})
                  .run());
          if (const std::string path = last_path(); path != "coll_levels")
            s.fail("%s of %d, call %d, ran by %s", name, n, call, path.c_str());
        }
  });
}

/// Calls 3, 5, 6, 7 of a size do not ask the other ranks: whatever memory a rank has then, nobody
/// can know of it, and all go the way that the calls before them went.
void check_unasked(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  random_numbers own(s.opt.seed * 2000 + static_cast<std::uint64_t>(s.rank));
  each_operation([&](call_kind what, const char* name) {
    if (what == call_kind::allgatherv || what == call_kind::alltoallv) return;  // they always ask
    for (int call = 1; call < 8; ++call) {
      s.note("%s, call %d, does not ask", name, call);
      const bool asks = call == 1 || call == 2 || call == 4;
      const auto kind_now = [&] {
        return asks ? kind::device : kinds()[own.below(kinds().size())];
      };
      memory_kinds k{kind_now(), kind_now()};
      // Of a broadcast the test uses one buffer, of a reduction only the root has the second.
      if (what == call_kind::bcast || what == call_kind::reduce) k.receive = k.send;
      s.expect_none(checked_call(comm, what, 1100, call, k).run());
      if (const std::string path = last_path(); path != "coll_levels")
        s.fail("%s, call %d, ran by %s", name, call, path.c_str());
    }
  });
  MPI_Comm_free(&comm);
}

/// Communicators of some ranks, in another order; made and freed again.
void check_communicators(suite& s) {
  for (int round = 0; round < 3; ++round) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, round == 2 && s.rank == 0, round == 0 ? -s.rank : s.rank % 2,
                   &comm);
    each_operation([&](call_kind what, const char* name) {
      s.note("communicator %d, %s", round, name);
      for (const int n : {50, 3000}) s.expect_none(checked_call(comm, what, n, round, {}).run());
    });
    MPI_Comm_free(&comm);
  }
}

/// A vector of which this rank has every third element only, in host or device memory.
void check_gaps(suite& s) {
  constexpr int n = 1500;
  MPI_Datatype gaps;
  MPI_Type_vector(n, 1, 3, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  for (int call = 0; call < 6; ++call) {
    s.note("broadcast with gaps, call %d", call);
    // Calls 1, 2 and 4: device memory without gaps.
    const bool spread = call != 0 && call != 1 && call != 3 && s.rank % 2 == call % 2;
    buffer data(spread && call == 2 ? kind::host : kind::device, 3 * n * sizeof(int));
    std::vector<int> v(3 * n, -1);
    for (int i = 0; i < n && s.rank == 0; ++i)
      v[static_cast<std::size_t>(spread ? 3 * i : i)] = value(0, i, call);
    data.clear();
    copy(data.memory(), data.data(), v.data(), v.size() * sizeof(int));
    MPI_Bcast(data.data(), spread ? 1 : n, spread ? gaps : MPI_INT, 0, MPI_COMM_WORLD);
    copy(data.memory(), v.data(), data.data(), v.size() * sizeof(int));
    for (int i = 0; i < 3 * n; ++i) {
      const bool set = spread ? i % 3 == 0 : i < n;
      const int wanted = set ? value(0, spread ? i / 3 : i, call) : -1;
      if (v[static_cast<std::size_t>(i)] == wanted) continue;
      s.fail("element %d is %d, not %d", i, v[static_cast<std::size_t>(i)], wanted);
      break;
    }
  }
  MPI_Type_free(&gaps);
}

/// Calls that do not ask, in which a rank's type begins behind its buffer, or its buffer is
/// MPI_BOTTOM.
void check_shifted(suite& s) {
  constexpr int n = 1300, first = 5;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int call = 1; call < 8; ++call) {
    s.note("broadcast behind the buffer's address, call %d", call);
    const bool asks = call == 1 || call == 2 || call == 4;
    const bool shifts = !asks && (s.rank + call) % 2 == 0;
    const kind where =
        asks ? kind::device : kinds()[static_cast<std::size_t>(call) % kinds().size()];
    buffer data(where, (n + first) * sizeof(int));
    std::vector<int> v(n + first, -1), wanted = v;
    const int at = shifts ? first : 0;
    for (int i = 0; i < n; ++i) wanted[static_cast<std::size_t>(at + i)] = value(0, i, call);
    copy(where, data.data(), s.rank == 0 ? wanted.data() : v.data(), v.size() * sizeof(int));
    MPI_Datatype type = MPI_INT;
    const bool bottom = shifts && call > 4;
    MPI_Aint behind = first * sizeof(int);
    if (bottom) behind += reinterpret_cast<MPI_Aint>(data.data());
    if (shifts) {
      MPI_Type_create_hindexed_block(1, n, &behind, MPI_INT, &type);
      MPI_Type_commit(&type);
    }
    MPI_Bcast(bottom ? MPI_BOTTOM : data.data(), shifts ? 1 : n, type, 0, comm);
    if (shifts) MPI_Type_free(&type);
    copy(where, v.data(), data.data(), v.size() * sizeof(int));
    s.expect(v == wanted, "the elements behind the buffer's address");
  }
  MPI_Comm_free(&comm);
}

/// Blocks of which this rank has every second element only, at some of the calls.
void check_v_gaps(suite& s) {
  MPI_Datatype wide;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &wide);
  MPI_Type_commit(&wide);
  const placed all(s.ranks, [](int r) { return count_of(700, r); });
  const auto mine = static_cast<std::size_t>(s.rank);
  for (int call = 0; call < 6; ++call) {
    s.note("allgatherv with gaps, call %d", call);
    const bool spread = call != 0 && call != 1 && call != 3 && s.rank % 2 == call % 2;
    const int step = spread ? 2 : 1;
    std::vector<int> before(static_cast<std::size_t>(2 * all.space), -1), wanted = before;
    for (int r = 0; r < s.ranks; ++r)
      for (int i = 0; i < all.counts[static_cast<std::size_t>(r)]; ++i) {
        const int at = (all.places[static_cast<std::size_t>(r)] + i) * step;
        wanted[static_cast<std::size_t>(at)] = value(r, i, call);
        if (r == s.rank) before[static_cast<std::size_t>(at)] = value(r, i, call);
      }
    buffer data(call == 2 && spread ? kind::host : kind::device, before.size() * sizeof(int));
    copy(data.memory(), data.data(), before.data(), before.size() * sizeof(int));
    MPI_Allgatherv(MPI_IN_PLACE, all.counts[mine], MPI_INT, data.data(), all.counts.data(),
                   all.places.data(), spread ? wide : MPI_INT, MPI_COMM_WORLD);
    copy(data.memory(), before.data(), data.data(), before.size() * sizeof(int));
    s.expect(before == wanted, "every block is in its place");
  }
  MPI_Type_free(&wide);
}

/// Sums whose rounding depends on the order of the ranks.
void check_bits(suite& s) {
  constexpr int n = 4001;
  buffer send(kind::device, n * sizeof(double)), receive(kind::device, n * sizeof(double));
  std::vector<double> v(n), first(n);
  for (int i = 0; i < n; ++i)
    v[static_cast<std::size_t>(i)] = std::sin(i * 0.37 + s.rank * 1.7) * std::pow(10.0, s.rank);
  send.clear();
  receive.clear();
  copy(kind::device, send.data(), v.data(), n * sizeof(double));
  for (int call = 0; call < 2; ++call) {
    MPI_Allreduce(send.data(), receive.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    copy(kind::device, v.data(), receive.data(), n * sizeof(double));
    first = v;
    MPI_Bcast(first.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (std::memcmp(first.data(), v.data(), n * sizeof(double)) != 0)
      s.fail("call %d: other bits than rank 0", call);
  }
}

/// A call that is one kernel asks the device for no copy.
void check_one_kernel(suite& s) {
  constexpr int n = 20000, first = 3, calls = 8;
  buffer send(kind::device, n * sizeof(int)), receive(kind::device, n * sizeof(int));
  send.clear();
  long long copies = 0;
  for (int call = 0; call < calls; ++call) {
    if (call == first) copies = counted("copies");  // what is kept has been made
    MPI_Allreduce(send.data(), receive.data(), n, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
  }
  s.expect(counted("copies") == copies, "all of a call is in its kernel");
}

/// One rank's device fails once. Ranks that needed what is missing say so; who does not has the
/// right sums. The next calls do not fail.
void check_faults(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  constexpr int n = 2000;
  buffer send(kind::device, n * sizeof(int)), receive(kind::device, n * sizeof(int));
  std::vector<int> v(n, 1 << s.rank), got(n);
  copy(kind::device, send.data(), v.data(), n * sizeof(int));
  int calls_failed = 0;
  for (int call = 0; call < 12; ++call) {
    s.note("call %d", call);
    receive.clear();
    int mine = MPI_Allreduce(send.data(), receive.data(), n, MPI_INT, MPI_BOR, comm) != MPI_SUCCESS;
    copy(kind::device, got.data(), receive.data(), n * sizeof(int));
    const bool right = std::count(got.begin(), got.end(), (1 << s.ranks) - 1) == n;
    s.expect(mine != 0 || right, "a call that has not failed has the sums");
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, s.control);
    calls_failed += all != 0;
  }
  if (calls_failed != 1) s.fail("%d calls failed", calls_failed);
  MPI_Comm_free(&comm);
}

/// The fault that the settings name shall meet one rank only.
void spare_other_ranks() {
  const char* rank = std::getenv("PMI_RANK");
  if (rank == nullptr) rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank != nullptr && std::strcmp(rank, "1") != 0) ::unsetenv("TELPHER_TEST_EMU_FAULTS");
}

}  // namespace

int main(int argc, char** argv) {
  spare_other_ranks();
  suite s(&argc, &argv, 2);
  if (std::erase(s.opt.words, "faults") > 0) {
    s.run("faults", [&] { check_faults(s); });
    return s.finish();
  }
  if (std::erase(s.opt.words, "kernel") > 0) s.run("one kernel", [&] { check_one_kernel(s); });
  allreduce_only = std::erase(s.opt.words, "allreduce") > 0;
  s.run("paths", [&] { check_paths(s); });
  s.run("turns", [&] { check_turns(s); });
  s.run("changes", [&] { check_changes(s); });
  s.run("mixed", [&] { check_mixed(s); });
  s.run("unasked", [&] { check_unasked(s); });
#if MPI_TEST_HAS_MPI_4
  s.run("persistent", [&] { check_persistent(s); });
#endif
  s.run("non-blocking", [&] { check_non_blocking(s); });
  s.run("blocked", [&] { check_blocked(s); });
  s.run("communicators", [&] { check_communicators(s); });
  if (!allreduce_only)
    s.run("gaps", [&] {
      check_gaps(s);
      check_shifted(s);
      check_v_gaps(s);
    });
  s.run("bits", [&] { check_bits(s); });
  return s.finish();
}
