// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "mpi/order/order.hpp"

namespace telpher::mpi::order {
namespace {

constexpr int nowhere = -1;

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

/// Both directions of an edge are one edge of the sum of their weights.
graph undirected(const graph& g) {
  std::vector<std::map<int, std::int64_t>> sums(g.size());
  for (std::size_t v = 0; v < g.size(); ++v)
    for (const edge& e : g[v]) {
      if (e.to == static_cast<int>(v)) continue;
      sums[v][e.to] += e.weight;
      sums[index(e.to)][static_cast<int>(v)] += e.weight;
    }
  graph made(g.size());
  for (std::size_t v = 0; v < g.size(); ++v)
    for (const auto& [to, weight] : sums[v]) made[v].push_back({to, weight});
  return made;
}

std::vector<std::vector<int>> members_of(const nodes& of) {
  std::vector<std::vector<int>> members;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (index(of[i]) >= members.size()) members.resize(index(of[i]) + 1);
    members[index(of[i])].push_back(static_cast<int>(i));
  }
  return members;
}

class partition {
 public:
  partition(const graph& g, const nodes& of_rank)
      : g_(undirected(g)), node_(g.size(), nowhere), free_edges_(g.size()) {
    for (std::size_t v = 0; v < g_.size(); ++v)
      for (const edge& e : g_[v]) free_edges_[v] += e.weight;
    const auto ranks = members_of(of_rank);
    for (std::size_t n = 0; n < ranks.size(); ++n) grow(static_cast<int>(n), ranks[n].size());
  }

  void exchange() {
    members_ = members_of(node_);
    for (int round = 0; round < most_rounds; ++round) {
      bool any = false;
      for (std::size_t v = 0; v < g_.size(); ++v) any = exchange_one(static_cast<int>(v)) || any;
      if (!any) return;
    }
  }

  nodes take() { return std::move(node_); }

 private:
  static constexpr int most_rounds = 8;
  // Edges that exchanges may look at, so that dense graphs take a fraction of a second. A count and
  // not a time: ranks must stop at the same exchange.
  static constexpr std::int64_t most_looks = 50'000'000;

  /// What ties a vertex to the part that grows: how much weight, and since which of its vertices.
  struct tie {
    std::int64_t weight = 0;
    std::size_t since = 0;
  };

  /// The next vertex of a part: the one tied by most weight, of those the one tied first, so that
  /// the part is compact. The part's first vertex lies at the edge of what is left, so that the
  /// rest stays together.
  int next(const std::vector<tie>& ties) const {
    const auto rank_of = [&](std::size_t v) {
      return std::tuple(-ties[v].weight, ties[v].since, free_edges_[v]);
    };
    int best = nowhere;
    for (std::size_t v = 0; v < g_.size(); ++v)
      if (node_[v] == nowhere && (best == nowhere || rank_of(v) < rank_of(index(best))))
        best = static_cast<int>(v);
    return best;
  }

  void grow(int node, std::size_t size) {
    std::vector<tie> ties(g_.size());
    for (std::size_t i = 0; i < size; ++i) {
      const int v = next(ties);
      node_[index(v)] = node;
      for (const edge& e : g_[index(v)]) {
        tie& t = ties[index(e.to)];
        if (t.weight == 0) t.since = i;
        t.weight += e.weight;
        free_edges_[index(e.to)] -= e.weight;
      }
    }
  }

  /// How much less the vertex's edges cross if it moves there.
  std::int64_t gain(int v, int there) {
    const int here = node_[index(v)];
    std::int64_t sum = 0;
    looks_ += static_cast<std::int64_t>(g_[index(v)].size());
    for (const edge& e : g_[index(v)]) {
      if (node_[index(e.to)] == there) sum += e.weight;
      if (node_[index(e.to)] == here) sum -= e.weight;
    }
    return sum;
  }

  std::int64_t weight(int v, int w) const {
    const auto& edges = g_[index(v)];
    const auto at = std::lower_bound(edges.begin(), edges.end(), w,
                                     [](const edge& e, int to) { return e.to < to; });
    return at != edges.end() && at->to == w ? at->weight : 0;
  }

  /// The best exchange of a vertex with one of a node where it has a neighbour.
  bool exchange_one(int v) {
    std::vector<int> there;
    for (const edge& e : g_[index(v)]) there.push_back(node_[index(e.to)]);
    std::sort(there.begin(), there.end());
    there.erase(std::unique(there.begin(), there.end()), there.end());
    std::int64_t most = 0;
    int with = nowhere;
    for (const int node : there) {
      if (node == node_[index(v)]) continue;
      const std::int64_t own = gain(v, node);
      for (const int w : members_[index(node)]) {
        if (looks_ > most_looks) return false;
        const std::int64_t both = own + gain(w, node_[index(v)]) - 2 * weight(v, w);
        if (both > most) most = both, with = w;
      }
    }
    if (with != nowhere) swap(v, with);
    return with != nowhere;
  }

  void swap(int v, int w) {
    auto& from = members_[index(node_[index(v)])];
    auto& to = members_[index(node_[index(w)])];
    std::replace(from.begin(), from.end(), v, w);
    std::replace(to.begin(), to.end(), w, v);
    std::swap(node_[index(v)], node_[index(w)]);
  }

  graph g_;
  nodes node_;
  std::vector<std::int64_t> free_edges_;  // of each vertex: the weight to those without a node
  std::vector<std::vector<int>> members_;
  std::int64_t looks_ = 0;
};

}  // namespace

std::int64_t cut(const graph& g, const nodes& of_vertex) {
  std::int64_t sum = 0;
  for (std::size_t v = 0; v < g.size(); ++v)
    for (const edge& e : g[v])
      if (of_vertex[v] != of_vertex[index(e.to)]) sum += e.weight;
  return sum;
}

nodes parts(const graph& g, const nodes& of_rank) {
  partition p(g, of_rank);
  p.exchange();
  return p.take();
}

std::vector<int> places(const nodes& of_vertex, const nodes& of_rank) {
  std::vector<int> place(of_rank.size(), nowhere);
  std::vector<std::vector<int>> open(of_rank.size());  // vertices of each node without a rank
  for (std::size_t v = 0; v < of_vertex.size(); ++v) {
    if (of_vertex[v] == of_rank[v])
      place[v] = static_cast<int>(v);
    else
      open[index(of_vertex[v])].push_back(static_cast<int>(v));
  }
  std::vector<std::size_t> used(open.size());
  for (std::size_t r = 0; r < place.size(); ++r) {
    const std::size_t n = index(of_rank[r]);
    if (place[r] == nowhere) place[r] = open[n][used[n]++];
  }
  return place;
}

}  // namespace telpher::mpi::order
