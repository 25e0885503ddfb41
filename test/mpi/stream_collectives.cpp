// SPDX-License-Identifier: BSD-3-Clause
// Every collective in the order of a stream: its input is written, and its output taken away, by
// the stream itself, for several rounds without a wait of the CPU, beside collectives of the CPU on
// another communicator.
#include <array>

#include "stream_calls.hpp"

using namespace mpi_test;

namespace {

constexpr int block = 3000, rounds = 4;

/// What a collective may use, for n ranks: n blocks each.
struct scene {
  explicit scene(const suite& s)
      : n(s.ranks),
        out(static_cast<std::size_t>(n) * block, 0),
        in(static_cast<std::size_t>(n) * block, 0),
        log(static_cast<std::size_t>(n) * block * rounds, 0),
        counts(static_cast<std::size_t>(n), block),
        displs(static_cast<std::size_t>(n)),
        places(static_cast<std::size_t>(n)),
        types(static_cast<std::size_t>(n), MPI_UNSIGNED_CHAR) {
    for (int i = 0; i < n; ++i)
      places[static_cast<std::size_t>(i)] = displs[static_cast<std::size_t>(i)] = i * block;
  }
  const int n;
  const test_stream stream;
  bytes out, in, log;
  std::vector<int> counts, displs;
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm ring = MPI_COMM_NULL;  // all ranks are neighbours; see make_ring
};

/// A call, and what it leaves in block i of rank r's output of a round; -1: not touched.
struct collective {
  collective_call which;
  int (*wanted)(int n, int rank, int i, int round);
};

int in_of(int rank, int round) {
  return (3 * rank + 5 * round + 1) & 0xff;
}
int sum_to(int ranks, int round) {
  int sum = 0;
  for (int r = 0; r < ranks; ++r) sum += in_of(r, round);
  return sum & 0xff;
}
int from_each(int, int, int i, int round) {
  return in_of(i, round);
}
int from_next_ranks(int n, int rank, int i, int round) {
  return i < n - 1 ? in_of((rank + 1 + i) % n, round) : -1;
}
int first_of_root(int n, int rank, int i, int round) {
  return rank == n - 1 && i == 0 ? sum_to(n, round) : -1;
}
int root_alone(int n, int rank, int i, int round) {
  return rank == n - 1 ? in_of(i, round) : -1;
}
int first_from_root(int n, int, int i, int round) {
  return i == 0 ? in_of(n - 1, round) : -1;
}
int first_sum(int n, int, int i, int round) {
  return i == 0 ? sum_to(n, round) : -1;
}
int scanned(int, int rank, int i, int round) {
  return i == 0 ? sum_to(rank + 1, round) : -1;
}
int scanned_before(int, int rank, int i, int round) {
  return i == 0 && rank > 0 ? sum_to(rank, round) : -1;
}

using enum collective_call;
const collective all[] = {
    {bcast, first_from_root},
    {gather, root_alone},
    {gatherv, root_alone},
    {scatter, first_from_root},
    {scatterv, first_from_root},
    {allgather, from_each},
    {allgatherv, from_each},
    {alltoall, from_each},
    {alltoallv, from_each},
    {alltoallw, from_each},
    {reduce, first_of_root},
    {allreduce, first_sum},
    {reduce_scatter_block, first_sum},
    {reduce_scatter, first_sum},
    {scan, scanned},
    {exscan, scanned_before},
    {neighbor_allgather, from_next_ranks},
    {neighbor_allgatherv, from_next_ranks},
    {neighbor_alltoall, from_next_ranks},
    {neighbor_alltoallv, from_next_ranks},
    {neighbor_alltoallw, from_next_ranks},
};

/// The last rank is the root, and sends what it has in a broadcast.
void call(scene& c, int rank, collective_call which) {
  const bool between_neighbours = which >= neighbor_allgather;
  if (which == bcast) c.stream.copy(c.in.data(), c.out.data(), rank == c.n - 1 ? block : 0);
  call_arguments x;
  x.comm = between_neighbours ? c.ring : c.comm;
  x.root = c.n - 1;
  x.out = c.out.data();
  x.in = c.in.data();
  x.sent = x.received = block;
  x.out_type = x.in_type = MPI_UNSIGNED_CHAR;
  x.out_counts = x.in_counts = c.counts.data();
  x.out_places = x.in_places = c.displs.data();
  x.out_bytes = x.in_bytes = c.places.data();
  x.out_types = x.in_types = c.types.data();
  enqueue_call(which, x, c.stream);
}

void check(suite& s, const scene& c, const collective& one) {
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < c.n; ++i) {
      const int wanted = one.wanted(c.n, s.rank, i, round);
      const std::size_t at = (static_cast<std::size_t>(round) * static_cast<std::size_t>(c.n) +
                              static_cast<std::size_t>(i)) *
                             block;
      if (!c.log.all(wanted < 0 ? 0 : wanted, at, block))
        s.fail("%s: block %d of round %d", name_of(one.which), i, round);
    }
}

void in_order(suite& s, const collective& one, MPI_Comm comm, MPI_Comm ring) {
  scene c(s);
  c.comm = comm;
  c.ring = ring;
  const std::size_t whole = static_cast<std::size_t>(c.n) * block;
  for (int round = 0; round < rounds; ++round) {
    s.note("%s, round %d", name_of(one.which), round);
    c.stream.set(c.out.data(), in_of(s.rank, round), whole);
    c.stream.set(c.in.data(), 0, whole);
    call(c, s.rank, one.which);
    // The arrays are the program's again.
    std::vector<int>(c.counts).swap(c.counts);
    std::vector<MPI_Aint>(c.places).swap(c.places);
    c.stream.copy(c.log.data() + static_cast<std::size_t>(round) * whole, c.in.data(), whole);
    int mine = 1, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, s.control);
  }
  STREAM_CALL(telpher_barrier_enqueue)(comm, c.stream);
  c.stream.wait();
  check(s, c, one);
  s.expect_equal(STREAM_CALL(telpher_stream_status)(c.stream), MPI_SUCCESS, "the stream's status");
}

/// Two streams with a communicator each, whose collectives the ranks call in unlike orders.
void crossing(suite& s) {
  scene a(s), b(s);
  MPI_Comm_dup(s.control, &a.comm);
  MPI_Comm_dup(s.control, &b.comm);
  const collective& one = all[11];
  for (int round = 0; round < rounds; ++round)
    for (scene* c : s.rank % 2 ? std::array{&b, &a} : std::array{&a, &b}) {
      c->stream.set(c->out.data(), in_of(s.rank, round), block);
      call(*c, s.rank, one.which);
      c->stream.copy(
          c->log.data() + static_cast<std::size_t>(round) * static_cast<std::size_t>(c->n) * block,
          c->in.data(), block);
    }
  for (scene* c : {&a, &b}) c->stream.wait();
  for (scene* c : {&a, &b}) {
    check(s, *c, one);
    MPI_Comm_free(&c->comm);
  }
}

/// The neighbours that a rank receives from are the ranks that follow it, in their order.
MPI_Comm make_ring(const suite& s) {
  std::vector<int> from, to;
  for (int i = 1; i < s.ranks; ++i) {
    from.push_back((s.rank + i) % s.ranks);
    to.push_back((s.rank + s.ranks - i) % s.ranks);
  }
  MPI_Comm made;
  MPI_Dist_graph_create_adjacent(s.control, s.ranks - 1, from.data(), MPI_UNWEIGHTED, s.ranks - 1,
                                 to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  MPI_Comm comm, ring = make_ring(s);
  MPI_Comm_dup(s.control, &comm);
  for (const collective& one : all)
    s.run(name_of(one.which), [&] { in_order(s, one, comm, ring); });
  MPI_Comm_free(&comm);
  MPI_Comm_free(&ring);
  s.run("crossing", [&] { crossing(s); });
  return s.finish();
}
