// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/topologies.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/between/votes.hpp"
#include "host_mpi/intracomm.hpp"
#include "mpi/order/order.hpp"
#include "ticket/peers.hpp"

namespace telpher::mpi::topologies {
namespace {

using coll::between::all_say;
using coll::between::has_memory_for;

// A graph is gathered at every rank: up to so many ranks, and so many edges.
constexpr int most_gathered_ranks = 4096;
constexpr std::int64_t most_gathered_edges = 1 << 18;

bool may_reorder(MPI_Comm made, int reorder) noexcept {
  return reorder && config().reorder != "off" && made != MPI_COMM_NULL &&
         host_mpi::is_our_intracomm(ticket::job(), made);
}

/// Collective: the node of each rank; empty, at all ranks, where no order can differ from another.
order::nodes nodes_of(MPI_Comm comm) noexcept {
  const auto [ranks, own] = host_mpi::place_in(comm);
  int first = 0;  // the first rank of the own node
  while (first < own &&
         !ticket::peers().shares_node(host_mpi::world_rank(ticket::job(), comm, first)))
    ++first;
  order::nodes of;
  const bool ready = has_memory_for([&] { of.resize(static_cast<std::size_t>(ranks)); });
  if (!all_say(comm, ready)) return {};
  if (pmpi::Allgather(&first, 1, MPI_INT, of.data(), 1, MPI_INT, comm) != MPI_SUCCESS) return {};
  int found = 0;
  for (std::size_t r = 0; r < of.size(); ++r) {
    const bool begins = of[r] == static_cast<int>(r);
    of[r] = begins ? found++ : of[static_cast<std::size_t>(of[r])];
  }
  return found > 1 && found < ranks ? of : order::nodes{};
}

/// A neighbour that is no rank (MPI_PROC_NULL, where a host MPI lets it pass) is no edge.
void add_edge(order::graph& g, std::size_t from, int to, int weight) {
  if (to >= 0 && static_cast<std::size_t>(to) < g.size())
    g[from].push_back({to, std::max(weight, 0)});
}

std::pair<order::graph, order::nodes> with_parts(order::graph g, const order::nodes& of_rank) {
  order::nodes of_vertex = order::parts(g, of_rank);
  return {std::move(g), std::move(of_vertex)};
}

/// Collective: the place that each rank takes so that fewer edges cross; empty: the one it has.
/// `describe` gives the graph and the nodes that its vertices should be on, if any.
template <class Describe>
std::vector<int> better_places(const char* call, MPI_Comm comm, const order::nodes& of_rank,
                               const Describe& describe) noexcept {
  std::vector<int> places;
  std::int64_t before = 0, after = 0;
  const bool ready = has_memory_for([&] {
    const auto [graph, of_vertex] = describe();
    if (of_vertex.empty()) return;
    before = order::cut(graph, of_rank);
    after = order::cut(graph, of_vertex);
    if (after < before) places = order::places(of_vertex, of_rank);
  });
  if (!all_say(comm, ready) || places.empty()) return {};
  if (host_mpi::place_in(comm).rank == 0)
    TELPHER_INFO("%s: ranks are reordered: the edges between nodes weigh %lld in place of %lld",
                 call, static_cast<long long>(after), static_cast<long long>(before));
  return places;
}

/// Collective: makes the topology over the ranks in that order, in place of `made`. If the host MPI
/// cannot, the first stays; no error handler of the program's hears of that.
template <class Create>
void replace(MPI_Comm* made, int place, const Create& create) noexcept {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  pmpi::Comm_get_errhandler(*made, &handler);
  pmpi::Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
  MPI_Comm ordered = MPI_COMM_NULL, fresh = MPI_COMM_NULL;
  bool good = pmpi::Comm_split(*made, 0, place, &ordered) == MPI_SUCCESS;
  if (good = all_say(*made, good); good) {
    good = create(ordered, &fresh) == MPI_SUCCESS;
    good = all_say(*made, good);
  }
  if (ordered != MPI_COMM_NULL) pmpi::Comm_free(&ordered);
  if (good) std::swap(*made, fresh);
  if (fresh != MPI_COMM_NULL) pmpi::Comm_free(&fresh);
  pmpi::Comm_set_errhandler(*made, handler);
  pmpi::Errhandler_free(&handler);
}

int own_place(MPI_Comm comm, const std::vector<int>& places) noexcept {
  return places[static_cast<std::size_t>(host_mpi::place_in(comm).rank)];
}

// --- graphs of which each rank knows its own part ---

/// What a rank says of its neighbours: ranks they come from and their weights, ranks they go to and
/// their weights, one list after another.
struct lists {
  int in = 0, out = 0, weighted = 0;
  std::vector<int> all;

  int* from() noexcept { return all.data(); }
  int* from_weights() noexcept { return from() + in; }
  int* to() noexcept { return from_weights() + in; }
  int* to_weights() noexcept { return to() + out; }
};

/// The value of a constant that MPICH has as a variable, which no library may name at load time.
int* unweighted() noexcept {
#ifdef MPI_UNWEIGHTED
  return MPI_UNWEIGHTED;
#else
  return *static_cast<int**>(host_mpi::variable<"MPI_UNWEIGHTED">());
#endif
}

struct gathered {
  std::vector<std::array<int, 3>> degrees;  // in, out, whether with weights
  std::vector<int> counts, begins, all;
  bool weighted = false;  // at some rank: all must do alike

  lists of(int vertex) const {
    const auto v = static_cast<std::size_t>(vertex);
    const auto begin = all.begin() + begins[v];
    lists l{degrees[v][0], degrees[v][1], weighted, {begin, begin + counts[v]}};
    l.all.reserve(l.all.size() + 1);  // a null pointer of weights would be an error
    return l;
  }
  order::graph graph() const {
    order::graph g(degrees.size());
    for (std::size_t v = 0; v < g.size(); ++v) {
      lists l = of(static_cast<int>(v));
      for (int i = 0; i < l.out; ++i) add_edge(g, v, l.to()[i], weighted ? l.to_weights()[i] : 1);
    }
    return g;
  }
};

/// Collective; false, at all ranks, where the graph is too large or memory is short.
bool gather(MPI_Comm comm, gathered& g) noexcept {
  const int ranks = host_mpi::place_in(comm).ranks;
  if (ranks > most_gathered_ranks) return false;
  lists own;
  const auto n = static_cast<std::size_t>(ranks);
  bool ready =
      pmpi::Dist_graph_neighbors_count(comm, &own.in, &own.out, &own.weighted) == MPI_SUCCESS;
  ready = ready && own.in <= most_gathered_edges && own.out <= most_gathered_edges;
  ready = ready && has_memory_for([&] {
            own.all.reserve(1);
            own.all.resize(2 * static_cast<std::size_t>(own.in + own.out));
            g.degrees.resize(n);
            g.counts.resize(n);
            g.begins.resize(n);
          });
  ready = ready && pmpi::Dist_graph_neighbors(comm, own.in, own.from(), own.from_weights(), own.out,
                                              own.to(), own.to_weights()) == MPI_SUCCESS;
  if (!all_say(comm, ready)) return false;
  const std::array<int, 3> degrees{own.in, own.out, own.weighted};
  if (pmpi::Allgather(degrees.data(), 3, MPI_INT, g.degrees.data(), 3, MPI_INT, comm) !=
      MPI_SUCCESS)
    return false;
  std::int64_t words = 0;
  for (std::size_t r = 0; r < n; ++r) {
    g.counts[r] = 2 * (g.degrees[r][0] + g.degrees[r][1]);
    g.begins[r] = static_cast<int>(words);
    words += g.counts[r];
    g.weighted = g.weighted || g.degrees[r][2] != 0;
    if (words > 4 * most_gathered_edges) return false;
  }
  ready = has_memory_for([&] { g.all.resize(static_cast<std::size_t>(words)); });
  if (!all_say(comm, ready)) return false;
  return pmpi::Allgatherv(own.all.data(), static_cast<int>(own.all.size()), MPI_INT, g.all.data(),
                          g.counts.data(), g.begins.data(), MPI_INT, comm) == MPI_SUCCESS;
}

}  // namespace

void order_cart(int ndims, const int dims[], const int periods[], int reorder,
                MPI_Comm* made) noexcept {
  if (!may_reorder(*made, reorder)) return;
  const order::nodes of_rank = nodes_of(*made);
  if (of_rank.empty()) return;
  const auto places = better_places("MPI_Cart_create", *made, of_rank, [&] {
    const std::vector<int> n(dims, dims + ndims), wraps(periods, periods + ndims);
    return std::pair(order::grid(n, wraps), order::blocks(n, wraps, of_rank));
  });
  if (places.empty()) return;
  replace(made, own_place(*made, places), [&](MPI_Comm ordered, MPI_Comm* fresh) {
    return pmpi::Cart_create(ordered, ndims, dims, periods, 0, fresh);
  });
}

void order_graph(int nnodes, const int index[], const int edges[], int reorder,
                 MPI_Comm* made) noexcept {
  if (nnodes > most_gathered_ranks || !may_reorder(*made, reorder)) return;
  const order::nodes of_rank = nodes_of(*made);
  if (of_rank.empty()) return;
  const auto places = better_places("MPI_Graph_create", *made, of_rank, [&] {
    order::graph g(of_rank.size());
    int e = 0;
    for (std::size_t v = 0; v < g.size(); ++v)
      for (; e < index[v]; ++e) add_edge(g, v, edges[e], 1);
    return with_parts(std::move(g), of_rank);
  });
  if (places.empty()) return;
  replace(made, own_place(*made, places), [&](MPI_Comm ordered, MPI_Comm* fresh) {
    return pmpi::Graph_create(ordered, nnodes, index, edges, 0, fresh);
  });
}

namespace {

void order_gathered(const char* call, MPI_Info info, MPI_Comm* made) noexcept {
  gathered all;
  const order::nodes of_rank = nodes_of(*made);
  if (of_rank.empty() || !gather(*made, all)) return;
  const auto places =
      better_places(call, *made, of_rank, [&] { return with_parts(all.graph(), of_rank); });
  if (places.empty()) return;
  const int place = own_place(*made, places);
  lists own;
  if (!all_say(*made, has_memory_for([&] { own = all.of(place); }))) return;
  // The rank plays the vertex now, and gives the vertex's neighbours in the order that they had.
  replace(made, place, [&](MPI_Comm ordered, MPI_Comm* fresh) {
    const int* const in = own.weighted ? own.from_weights() : unweighted();
    const int* const out = own.weighted ? own.to_weights() : unweighted();
    return pmpi::Dist_graph_create_adjacent(ordered, own.in, own.from(), in, own.out, own.to(), out,
                                            info, 0, fresh);
  });
}

}  // namespace

void order_dist_graph(MPI_Info info, int reorder, MPI_Comm* made) noexcept {
  if (may_reorder(*made, reorder)) order_gathered("MPI_Dist_graph_create", info, made);
}

void order_adjacent_graph(MPI_Info info, int reorder, MPI_Comm* made) noexcept {
  if (config().reorder == "on" && may_reorder(*made, reorder))
    order_gathered("MPI_Dist_graph_create_adjacent", info, made);
}

}  // namespace telpher::mpi::topologies
