// SPDX-License-Identifier: BSD-3-Clause
// Orders of ranks in topologies: blocks of grids, parts of graphs, and the cut, which is counted
// again by brute force.
#include "mpi/order/order.hpp"

#include <array>
#include <cstdlib>
#include <set>

#include "check.hpp"

using namespace telpher::mpi;

namespace {

using ints = std::vector<int>;

/// Ranks in the order of their nodes.
order::nodes equal_nodes(int nodes, int size) {
  order::nodes of;
  for (int r = 0; r < nodes * size; ++r) of.push_back(r / size);
  return of;
}

ints coordinates(int v, const ints& dims) {
  ints at(dims.size());
  for (std::size_t d = dims.size(); d-- > 0; v /= dims[d]) at[d] = v % dims[d];
  return at;
}

/// Looks at all pairs of vertices, and at how often they are neighbours.
long long counted_cut(const ints& dims, const ints& periods, const order::nodes& of) {
  long long sum = 0;
  const int n = static_cast<int>(of.size());
  for (int v = 0; v < n; ++v)
    for (int w = 0; w < n; ++w) {
      if (of[static_cast<std::size_t>(v)] == of[static_cast<std::size_t>(w)]) continue;
      const ints a = coordinates(v, dims), b = coordinates(w, dims);
      std::size_t differing = 0, where = 0;
      for (std::size_t d = 0; d < dims.size(); ++d)
        if (a[d] != b[d]) ++differing, where = d;
      if (differing != 1) continue;
      const int step = std::abs(a[where] - b[where]);
      sum += step == 1;
      sum += periods[where] && step == dims[where] - 1;
    }
  return sum;
}

struct outcome {
  long long before, after;
};

/// Every node gets as many vertices as it has ranks, and the places say the same as the nodes.
void check_places(const order::nodes& of_vertex, const order::nodes& of_rank) {
  const ints places = order::places(of_vertex, of_rank);
  CHECK_EQ(std::set<int>(places.begin(), places.end()).size(), of_rank.size());
  for (std::size_t r = 0; r < places.size(); ++r) {
    CHECK_EQ(of_vertex[static_cast<std::size_t>(places[r])], of_rank[r]);
    if (of_vertex[r] == of_rank[r]) CHECK_EQ(places[r], static_cast<int>(r));
  }
}

outcome blocks_of(const ints& dims, const ints& periods, const order::nodes& of_rank) {
  const order::nodes made = order::blocks(dims, periods, of_rank);
  const order::graph g = order::grid(dims, periods);
  CHECK_EQ(order::cut(g, of_rank), counted_cut(dims, periods, of_rank));
  if (made.empty()) return {order::cut(g, of_rank), -1};
  check_places(made, of_rank);
  CHECK_EQ(order::cut(g, made), counted_cut(dims, periods, made));
  return {order::cut(g, of_rank), order::cut(g, made)};
}

}  // namespace

TEST_CASE(grids_are_cut_into_blocks) {
  const outcome square = blocks_of({4, 4}, {0, 0}, equal_nodes(4, 4));
  CHECK_EQ(square.before, 24);
  CHECK_EQ(square.after, 16);
  const outcome torus = blocks_of({4, 4}, {1, 1}, equal_nodes(4, 4));
  CHECK_EQ(torus.before, 32);
  CHECK_EQ(torus.after, 32);  // a ring of four lines crosses as often as four blocks
  const outcome long_side = blocks_of({8, 2}, {0, 0}, equal_nodes(4, 4));
  CHECK_EQ(long_side.before, 12);
  CHECK_EQ(long_side.after, 12);  // the first order is the best
  const outcome short_side = blocks_of({2, 8}, {0, 0}, equal_nodes(4, 4));
  CHECK_EQ(short_side.before, 20);
  CHECK_EQ(short_side.after, 12);
  const outcome cube = blocks_of({4, 4, 4}, {0, 0, 0}, equal_nodes(8, 8));
  CHECK_EQ(cube.before, 128);
  CHECK_EQ(cube.after, 96);
}

TEST_CASE(blocks_of_other_sizes) {
  CHECK_EQ(blocks_of({5, 3}, {0, 0}, equal_nodes(3, 5)).after, 20);            // its lines of five
  CHECK_EQ(blocks_of({3, 7}, {0, 0}, equal_nodes(3, 7)).after, 28);            // prime: as it was
  CHECK_EQ(blocks_of({3, 3}, {0, 0}, {0, 0, 0, 0, 1, 1, 1, 1, 1}).after, -1);  // unequal
  CHECK_EQ(blocks_of({6, 6}, {0, 0}, equal_nodes(9, 4)).after, 48);
  CHECK_EQ(blocks_of({6, 6}, {0, 0}, equal_nodes(4, 9)).after, 24);
  CHECK_EQ(blocks_of({10, 2}, {0, 0}, equal_nodes(5, 4)).after, 16);
}

TEST_CASE(interleaved_cliques_are_separated) {
  order::graph g(12);
  for (int v = 0; v < 12; ++v)
    for (int w = 0; w < 12; ++w)
      if (v != w && v % 3 == w % 3) g[static_cast<std::size_t>(v)].push_back({w, 5});
  g[0].push_back({1, 1});
  const order::nodes of_rank = equal_nodes(3, 4);
  const order::nodes made = order::parts(g, of_rank);
  check_places(made, of_rank);
  CHECK(order::cut(g, of_rank) > 1);
  CHECK_EQ(order::cut(g, made), 1);
}

TEST_CASE(heavy_pairs_come_together_on_unequal_nodes) {
  order::graph g(6);
  for (const auto& [a, b, weight] :
       {std::array{0, 5, 100}, std::array{1, 4, 90}, std::array{2, 3, 80}, std::array{0, 1, 1},
        std::array{1, 2, 1}, std::array{3, 4, 1}})
    g[static_cast<std::size_t>(a)].push_back({b, weight});
  const order::nodes of_rank{0, 1, 0, 1, 1, 1};
  const order::nodes made = order::parts(g, of_rank);
  check_places(made, of_rank);
  CHECK(order::cut(g, made) <= 2);  // 182 before
}

TEST_CASE(parts_of_a_grid_are_as_good_as_blocks) {
  for (const int side : {4, 8}) {
    const ints dims(3, side), periods(3, 0);
    const order::nodes of_rank = equal_nodes(side * side * side / 8, 8);
    const order::graph g = order::grid(dims, periods);
    const order::nodes made = order::parts(g, of_rank);
    check_places(made, of_rank);
    CHECK_EQ(order::cut(g, made), order::cut(g, order::blocks(dims, periods, of_rank)));
  }
}

TEST_CASE(a_graph_without_edges_has_parts_too) {
  const order::nodes of_rank{1, 0, 1, 0, 2};
  check_places(order::parts(order::graph(5), of_rank), of_rank);
}
