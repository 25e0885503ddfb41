// SPDX-License-Identifier: BSD-3-Clause
// Topologies whose ranks may be reordered, on pretended nodes: fewer edges go between nodes, and
// the host MPI's functions, messages and neighbourhood collectives are right in the new order.
// Where the program or the setting forbids it, ranks keep theirs.
#include <cstdlib>
#include <utility>

#include "neighbour_calls.hpp"

namespace {

using namespace mpi_test;
using lists = std::vector<std::vector<int>>;

int number(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

enum class maker { grid, graph, distributed, adjacent };

bool reorders(maker by) {
  const char* const text = std::getenv("TELPHER_REORDER");
  const std::string_view how = text ? text : "auto";
  return how == "on" || (how == "auto" && by != maker::adjacent);
}

/// The edges between nodes if vertex v is played by the rank `world[v]` of MPI_COMM_WORLD.
int cut(const suite& w, const lists& to, const std::vector<int>& world) {
  const int nodes = number("TELPHER_TEST_PRETENDED_NODES");
  const auto node = [&](int v) { return world[static_cast<std::size_t>(v)] * nodes / w.ranks; };
  int sum = 0;
  for (int v = 0; v < w.ranks; ++v)
    for (const int n : to[static_cast<std::size_t>(v)])
      sum += n != MPI_PROC_NULL && node(v) != node(n);
  return sum;
}

std::vector<int> identity(const suite& w) {
  std::vector<int> all;
  for (int r = 0; r < w.ranks; ++r) all.push_back(r);
  return all;
}

void check_order(suite& w, MPI_Comm comm, const lists& to, bool may) {
  std::vector<int> world(static_cast<std::size_t>(w.ranks));
  MPI_Allgather(&w.rank, 1, MPI_INT, world.data(), 1, MPI_INT, comm);
  if (may)
    w.expect(cut(w, to, world) < cut(w, to, identity(w)), "fewer edges go between nodes");
  else
    w.expect(world == identity(w), "ranks keep their order");
}

/// A message to the next rank, and a neighbourhood collective, both in device memory.
void check_traffic(suite& w, topology& t) {
  int rank = 0;
  MPI_Comm_rank(t.comm, &rank);
  constexpr std::size_t bytes = 40000;
  buffer out(kinds().back(), bytes), in(kinds().back(), bytes);
  const int right = (rank + 1) % w.ranks, left = (rank + w.ranks - 1) % w.ranks;
  std::vector<unsigned char> sent(bytes), wanted(bytes);
  write_pattern(static_cast<std::uint64_t>(rank), sent.data(), bytes);
  write_pattern(static_cast<std::uint64_t>(left), wanted.data(), bytes);
  out.clear();
  in.clear();
  out.write(sent.data(), bytes);
  MPI_Sendrecv(out.data(), as_int(bytes), MPI_BYTE, right, 3, in.data(), as_int(bytes), MPI_BYTE,
               left, 3, t.comm, MPI_STATUS_IGNORE);
  w.expect_none(in.compare(wanted.data()));
  const int in_world = std::exchange(w.rank, rank);  // whose lists and values the call has
  check_form(w, {t, what::neighbor_alltoall, {700, 1}}, form::blocking, all_memories().front());
  w.rank = in_world;
}

void check_cart(suite& w, std::vector<int> dims, std::vector<int> periods, bool may) {
  const int n = as_int(dims.size());
  topology t{"grid", MPI_COMM_NULL, nullptr, nullptr, true};
  MPI_Cart_create(MPI_COMM_WORLD, n, dims.data(), periods.data(), may, &t.comm);
  lists all;
  for (int r = 0; r < w.ranks; ++r) {
    std::vector<int> at(dims.size()), list;
    int back = -1;
    MPI_Cart_coords(t.comm, r, n, at.data());
    MPI_Cart_rank(t.comm, at.data(), &back);
    w.expect_equal(back, r, "the rank at a rank's coordinates");
    for (std::size_t d = 0; d < dims.size(); ++d)
      for (const int step : {-1, 1}) {
        std::vector<int> there = at;
        int neighbour = MPI_PROC_NULL;
        there[d] += step;
        if (periods[d] || (there[d] >= 0 && there[d] < dims[d]))
          MPI_Cart_rank(t.comm, there.data(), &neighbour);
        list.push_back(neighbour);
      }
    all.push_back(list);
  }
  int rank = 0;
  MPI_Comm_rank(t.comm, &rank);
  for (int d = 0; d < n; ++d) {
    int before = -1, after = -1;
    MPI_Cart_shift(t.comm, d, 1, &before, &after);
    const auto& own = all[static_cast<std::size_t>(rank)];
    w.expect_equal(before, own[static_cast<std::size_t>(2 * d)], "the source of a shift");
    w.expect_equal(after, own[static_cast<std::size_t>(2 * d + 1)], "the target of a shift");
  }
  t.from = t.to = [all](int r) { return all.at(static_cast<std::size_t>(r)); };
  check_order(w, t.comm, all, may && reorders(maker::grid));
  check_traffic(w, t);
  MPI_Comm_free(&t.comm);
}

/// Rank r and the rank half of them on talk much, and neighbours in a ring little.
struct pairs {
  explicit pairs(const suite& w) {
    const int n = w.ranks;
    for (int r = 0; r < n; ++r) {
      to.push_back({(r + n / 2) % n, (r + 1) % n});
      from.push_back({(r + n - 1) % n, (r + n / 2) % n});
    }
  }
  lists to, from;
  std::vector<int> to_weights{100, 1}, from_weights{1, 100};
};

MPI_Comm make_pairs(const suite& w, const pairs& p, maker by, bool may) {
  const auto own = static_cast<std::size_t>(w.rank);
  MPI_Comm made = MPI_COMM_NULL;
  const int two = 2;
  if (by == maker::adjacent)
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, two, p.from[own].data(), p.from_weights.data(),
                                   two, p.to[own].data(), p.to_weights.data(), MPI_INFO_NULL, may,
                                   &made);
  if (by == maker::distributed)
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &w.rank, &two, p.to[own].data(), p.to_weights.data(),
                          MPI_INFO_NULL, may, &made);
  std::vector<int> index, edges;
  for (int r = 0; r < w.ranks; ++r) {
    edges.push_back(p.to[static_cast<std::size_t>(r)][0]);
    index.push_back(r + 1);
  }
  if (by == maker::graph)
    MPI_Graph_create(MPI_COMM_WORLD, w.ranks, index.data(), edges.data(), may, &made);
  return made;
}

void check_lists(suite& w, const topology& t, const pairs& p, int rank) {
  int in = 0, out = 0, weighted = 0;
  MPI_Dist_graph_neighbors_count(t.comm, &in, &out, &weighted);
  w.expect(in == 2 && out == 2 && weighted, "two neighbours with weights on either side");
  std::vector<int> from(2), from_weights(2), to(2), to_weights(2);
  MPI_Dist_graph_neighbors(t.comm, 2, from.data(), from_weights.data(), 2, to.data(),
                           to_weights.data());
  const auto v = static_cast<std::size_t>(rank);
  w.expect(std::is_permutation(from.begin(), from.end(), p.from[v].begin()), "its sources");
  w.expect(std::is_permutation(to.begin(), to.end(), p.to[v].begin()), "its targets");
  for (std::size_t i = 0; i < 2; ++i) {
    w.expect_equal(to_weights[i], to[i] == p.to[v][0] ? 100 : 1, "the weight of a target");
    w.expect_equal(from_weights[i], from[i] == p.from[v][1] ? 100 : 1, "the weight of a source");
  }
}

void check_pairs(suite& w, maker by, bool may) {
  const pairs p(w);
  topology t;
  t.name = "pairs";
  t.comm = make_pairs(w, p, by, may);
  int rank = 0;
  MPI_Comm_rank(t.comm, &rank);
  lists heavy;
  for (const auto& list : p.to) heavy.push_back({list[0]});
  check_order(w, t.comm, heavy, may && reorders(by));
  if (by != maker::graph) check_lists(w, t, p, rank);
  if (by == maker::graph)
    t.from = t.to = [heavy](int r) { return heavy.at(static_cast<std::size_t>(r)); };
  if (by == maker::adjacent) {
    t.to = [p](int r) { return p.to.at(static_cast<std::size_t>(r)); };
    t.from = [p](int r) { return p.from.at(static_cast<std::size_t>(r)); };
  }
  // The order of lists of MPI_Dist_graph_create is the host MPI's.
  if (by != maker::distributed) check_traffic(w, t);
  MPI_Comm_free(&t.comm);
}

/// Rank r and the rank half of them on exchange; all edges weigh the same.
void check_unweighted(suite& w) {
  topology t;
  t.name = "unweighted pairs";
  const auto other = [n = w.ranks](int r) { return (r + n / 2) % n; };
  const int peer = other(w.rank);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, MPI_UNWEIGHTED, 1, &peer, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 1, &t.comm);
  lists all;
  for (int r = 0; r < w.ranks; ++r) all.push_back({other(r)});
  t.from = t.to = [all](int r) { return all.at(static_cast<std::size_t>(r)); };
  int in = 0, out = 0, weighted = 1;
  MPI_Dist_graph_neighbors_count(t.comm, &in, &out, &weighted);
  w.expect(in == 1 && out == 1 && !weighted, "one neighbour without weight on either side");
  check_order(w, t.comm, all, reorders(maker::adjacent));
  check_traffic(w, t);
  MPI_Comm_free(&t.comm);
}

}  // namespace

int main(int argc, char** argv) {
  suite w(&argc, &argv, 4);
  for (const bool may : {true, false}) {
    const std::string how = may ? "may reorder/" : "may not/";
    w.run(how + "torus", [&] { check_cart(w, {2, w.ranks / 2}, {1, 0}, may); });
    w.run(how + "graph", [&] { check_pairs(w, maker::graph, may); });
    w.run(how + "distributed", [&] { check_pairs(w, maker::distributed, may); });
    w.run(how + "adjacent", [&] { check_pairs(w, maker::adjacent, may); });
  }
  w.run("may reorder/unweighted", [&] { check_unweighted(w); });
  w.run("nothing to gain", [&] {
    MPI_Comm ring = MPI_COMM_NULL;
    const int wraps = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &w.ranks, &wraps, 1, &ring);
    int same = 0;
    MPI_Comm_compare(MPI_COMM_WORLD, ring, &same);
    w.expect(same == MPI_CONGRUENT, "the order is the old one");
    MPI_Comm_free(&ring);
  });
  return w.finish();
}
