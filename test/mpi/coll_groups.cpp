// SPDX-License-Identifier: BSD-3-Clause
// Collectives over other groups than all ranks of an intracommunicator: neighbours in a topology,
// of whom some may be missing, the two sides of an intercommunicator, and communicators that get
// the handle of another one.
#include "behind.hpp"
#include "collective.hpp"
#include "mpi_4.hpp"

namespace {

using namespace mpi_test;

void check_all(suite& w, const std::vector<collective>& list) {
  collective_test test(w);
  for (const collective& c : list) test.check(c);
}

// --- neighbourhoods ---

struct neighbourhood {
  const char* name;
  MPI_Comm comm;
  int in, out;
};

std::vector<collective> exchanges(const neighbourhood& g, int count) {
  const MPI_Comm comm = g.comm;
  const MPI_Datatype t = MPI_INT;
  const int n = count;
  const auto one = static_cast<std::size_t>(count) * sizeof(int);
  const std::size_t in = one * static_cast<std::size_t>(g.in),
                    out = one * static_cast<std::size_t>(g.out);
  const std::string suffix = std::string(" on a ") + g.name;
  return {
      {"Neighbor_allgather" + suffix,
       one,
       in,
       MPI_TEST_FORMS(Neighbor_allgather, Ineighbor_allgather, s, n, t, r, n, t, comm),
       {}},
      {"Neighbor_alltoall" + suffix,
       out,
       in,
       MPI_TEST_FORMS(Neighbor_alltoall, Ineighbor_alltoall, s, n, t, r, n, t, comm),
       {}},
  };
}

/// Counts are the same for all neighbours, places leave gaps.
struct lists {
  lists(int neighbours, int count)
      : counts(static_cast<std::size_t>(neighbours), count),
        places(counts.size()),
        bytes(counts.size()),
        types(counts.size(), MPI_INT) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      places[i] = static_cast<int>(i) * (count + 2);
      bytes[i] = static_cast<MPI_Aint>(sizeof(int)) * places[i];
    }
    span = sizeof(int) * counts.size() * static_cast<std::size_t>(count + 2);
  }
  std::vector<int> counts, places;
  std::vector<MPI_Aint> bytes;
  std::vector<MPI_Datatype> types;
  std::size_t span = 0;
};

std::vector<collective> ragged_exchanges(const neighbourhood& g, const lists& in, const lists& out,
                                         int count) {
  const MPI_Comm comm = g.comm;
  const MPI_Datatype t = MPI_INT;
  const int n = count;
  const int *from = in.counts.data(), *from_at = in.places.data();
  const int *to = out.counts.data(), *to_at = out.places.data();
  const MPI_Aint *from_bytes = in.bytes.data(), *to_bytes = out.bytes.data();
  const MPI_Datatype *from_types = in.types.data(), *to_types = out.types.data();
  const auto one = static_cast<std::size_t>(count) * sizeof(int);
  const std::string suffix = std::string(" on a ") + g.name;
  return {
      {"Neighbor_allgatherv" + suffix,
       one,
       in.span,
       MPI_TEST_FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, s, n, t, r, from, from_at, t,
                      comm),
       {}},
      {"Neighbor_alltoallv" + suffix,
       out.span,
       in.span,
       MPI_TEST_FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, s, to, to_at, t, r, from, from_at, t,
                      comm),
       {}},
      {"Neighbor_alltoallw" + suffix,
       out.span,
       in.span,
       MPI_TEST_FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, s, to, to_bytes, to_types, r, from,
                      from_bytes, from_types, comm),
       {}},
  };
}

/// Where both neighbours are one rank Open MPI's non-blocking forms swap that rank's two blocks.
void check_neighbourhood(suite& w, const neighbourhood& g, bool one_rank_twice = false) {
  for (const int count : {0, 3, 2000}) {
    const lists in(g.in, count), out(g.out, count);
    auto list = exchanges(g, count);
    for (collective& c : ragged_exchanges(g, in, out, count)) list.push_back(std::move(c));
    if (one_rank_twice)
      for (collective& c : list) c = blocking_only_on_open_mpi(std::move(c));
    check_all(w, list);
  }
}

/// A line whose ends have no neighbour on one side.
void check_line(suite& w, bool periodic) {
  const int periods = periodic;
  MPI_Comm line = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &w.ranks, &periods, 0, &line);
  check_neighbourhood(w, {periodic ? "ring" : "line", line, 2, 2}, periodic && w.ranks == 2);
  MPI_Comm_free(&line);
}

/// Everyone sends to rank 0 and to the next rank.
void check_graph(suite& w) {
  const int targets[] = {0, (w.rank + 1) % w.ranks};
  std::vector<int> sources{(w.rank + w.ranks - 1) % w.ranks};
  if (w.rank == 0)
    for (int i = 0; i < w.ranks; ++i) sources.push_back(i);
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                                 MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);
  check_neighbourhood(w, {"graph", graph, static_cast<int>(sources.size()), 2});
  MPI_Comm_free(&graph);
}

// --- intercommunicators ---

struct sides {
  MPI_Comm comm;
  std::size_t remote;  // ranks there
  int root;            // the root argument of calls whose root is rank 0 of the first group
};

std::vector<collective> across(const sides& g, int count) {
  const MPI_Comm comm = g.comm;
  const MPI_Datatype t = MPI_INT;
  const int n = count, root = g.root;
  const auto one = static_cast<std::size_t>(count) * sizeof(int);
  const std::size_t all = one * g.remote;
  return {
      {"Bcast across", 0, one, MPI_TEST_FORMS(Bcast, Ibcast, r, n, t, root, comm), {}},
      {"Gather across",
       one,
       all,
       MPI_TEST_FORMS(Gather, Igather, s, n, t, r, n, t, root, comm),
       {}},
      {"Scatter across",
       all,
       one,
       MPI_TEST_FORMS(Scatter, Iscatter, s, n, t, r, n, t, root, comm),
       {}},
      {"Allgather across",
       one,
       all,
       MPI_TEST_FORMS(Allgather, Iallgather, s, n, t, r, n, t, comm),
       {}},
      {"Alltoall across",
       all,
       all,
       MPI_TEST_FORMS(Alltoall, Ialltoall, s, n, t, r, n, t, comm),
       {}},
      {"Allreduce across",
       one,
       one,
       MPI_TEST_FORMS(Allreduce, Iallreduce, s, r, n, t, MPI_BXOR, comm),
       {}},
      {"Reduce across",
       one,
       one,
       MPI_TEST_FORMS(Reduce, Ireduce, s, r, n, t, MPI_BXOR, root, comm),
       {}},
  };
}

void check_intercommunicator(suite& w) {
  const bool second = w.rank >= (w.ranks + 1) / 2;
  const int first_of_second = (w.ranks + 1) / 2;
  MPI_Comm mine = MPI_COMM_NULL, both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, second, w.rank, &mine);
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, second ? 0 : first_of_second, 7, &both);
  int remote = 0;
  MPI_Comm_remote_size(both, &remote);
  const int root = second ? 0 : w.rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  for (const int count : {1, 1500})
    check_all(w, across({both, static_cast<std::size_t>(remote), root}, count));
  MPI_Comm_free(&both);
  MPI_Comm_free(&mine);
}

// --- handles that come again ---

/// Freed where Telpher does not see it. The handles come again at each rank in another order, and
/// for other groups.
void check_handles(suite& w) {
  constexpr int count = 20000;
  std::vector<MPI_Comm> freed;
  int again = 0;
  const auto note = [&](MPI_Comm made) {
    again += std::count(freed.begin(), freed.end(), made) > 0;
  };
  for (int round = 0; round < 10; ++round) {
    MPI_Comm all = MPI_COMM_NULL, own = MPI_COMM_NULL, part = MPI_COMM_NULL;
    if (w.rank % 2 == round % 2) MPI_Comm_dup(MPI_COMM_SELF, &own), note(own);
    MPI_Comm_dup(MPI_COMM_WORLD, &all), note(all);
    MPI_Comm_split(MPI_COMM_WORLD, w.rank == round % w.ranks, 0, &part), note(part);
    for (const MPI_Comm comm : {part, all}) {
      int ranks = 0;
      MPI_Comm_size(comm, &ranks);
      buffer sum(kinds().back(), count * sizeof(int));
      const std::vector<int> ones(count, 1);
      copy(kinds().back(), sum.data(), ones.data(), sum.bytes());
      MPI_Allreduce(MPI_IN_PLACE, sum.data(), count, MPI_INT, MPI_SUM, comm);
      std::vector<int> found(count);
      copy(kinds().back(), found.data(), sum.data(), sum.bytes());
      if (found != std::vector<int>(count, ranks))
        w.fail("round %d: a sum of %d ranks", round, ranks);
    }
    for (MPI_Comm* comm : {&part, &all, &own})
      if (*comm != MPI_COMM_NULL) freed.push_back(*comm), host_comm_free(comm);
  }
  if (w.rank == 0) std::printf("# handles of freed communicators came again %d times\n", again);
}

/// All but the first rank make it by themselves, so its ranks are others than the parent's of the
/// same numbers. What the first rank makes later has the same name at all ranks: partitioned
/// communication depends on it.
void check_subgroup(suite& w) {
  constexpr int count = 3000;
  for (int round = 0; round < 3; ++round) {
    w.note("round %d", round);
    MPI_Group all, others;
    const int first = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, &first, &others);
    if (w.rank != 0) {
      MPI_Comm part;
      MPI_Comm_create_group(MPI_COMM_WORLD, others, round, &part);
      const int ranks = w.ranks - 1, next = w.rank % ranks, before = (w.rank + ranks - 2) % ranks;
      buffer out(kinds().back(), count * sizeof(int)), in(kinds().back(), out.bytes());
      out.fill(static_cast<std::uint64_t>(w.rank));
      in.clear();
      for (int i = 0; i < 5; ++i)
        MPI_Allreduce(out.data(), in.data(), count, MPI_INT, MPI_BAND, part);
      MPI_Sendrecv(out.data(), count, MPI_INT, next, 1, in.data(), count, MPI_INT, before, 1, part,
                   MPI_STATUS_IGNORE);
      w.expect_none(in.compare(static_cast<std::uint64_t>(before + 1), in.bytes()));
      MPI_Comm_free(&part);
    }
    MPI_Group_free(&others);
    MPI_Group_free(&all);
#if MPI_TEST_HAS_MPI_4
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (w.rank < 2) {
      buffer part(kinds().back(), count * sizeof(int));
      w.rank == 0 ? part.fill(7) : part.clear();
      MPI_Request r;
      if (w.rank == 0)
        MPI_Psend_init(part.data(), 1, count, MPI_INT, 1, 2, copy, MPI_INFO_NULL, &r);
      else
        MPI_Precv_init(part.data(), 1, count, MPI_INT, 0, 2, copy, MPI_INFO_NULL, &r);
      MPI_Start(&r);
      if (w.rank == 0) MPI_Pready(0, r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      if (w.rank == 1) w.expect_none(part.compare(7, part.bytes()));
      MPI_Request_free(&r);
    }
    MPI_Comm_free(&copy);
#endif
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite w(&argc, &argv, 2);
  w.run("line", [&] { check_line(w, false); });
  w.run("ring", [&] { check_line(w, true); });
  w.run("graph", [&] { check_graph(w); });
  w.run("intercommunicator", [&] { check_intercommunicator(w); });
  w.run("handles", [&] { check_handles(w); });
  w.run("subgroup", [&] { check_subgroup(w); });
  return w.finish();
}
