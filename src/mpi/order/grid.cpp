// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>

#include "mpi/order/order.hpp"

namespace telpher::mpi::order {
namespace {

std::vector<int> coordinates_of(int vertex, const std::vector<int>& dims) {
  std::vector<int> at(dims.size());
  for (std::size_t d = dims.size(); d-- > 0; vertex /= dims[d]) at[d] = vertex % dims[d];
  return at;
}

int vertex_at(const std::vector<int>& at, const std::vector<int>& dims) {
  int vertex = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) vertex = vertex * dims[d] + at[d];
  return vertex;
}

/// The edges between blocks of this shape, one in each direction.
std::int64_t surface(const std::vector<int>& dims, const std::vector<int>& periods,
                     const std::vector<int>& block) {
  std::int64_t all = 1, crossing = 0;
  for (const int n : dims) all *= n;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const int in_line = dims[d] / block[d];
    if (in_line > 1) crossing += all / dims[d] * (in_line - 1 + (periods[d] ? 1 : 0));
  }
  return crossing;
}

/// The shape of `size` vertices with the smallest surface. A size that divides the number of
/// vertices always has one: its prime factors are among those of the dimensions.
class best_block {
 public:
  best_block(const std::vector<int>& dims, const std::vector<int>& periods, int size)
      : dims_(dims), periods_(periods), block_(dims.size(), 1) {
    extend(0, size);
  }
  const std::vector<int>& found() const { return found_; }

 private:
  void extend(std::size_t d, int left) {
    if (d == dims_.size()) {
      if (left == 1) compare();
      return;
    }
    for (int n = 1; n <= std::min(left, dims_[d]); ++n) {
      if (left % n || dims_[d] % n) continue;
      block_[d] = n;
      extend(d + 1, left / n);
    }
  }
  void compare() {
    const std::int64_t s = surface(dims_, periods_, block_);
    if (s >= least_) return;
    least_ = s;
    found_ = block_;
  }

  const std::vector<int>& dims_;
  const std::vector<int>& periods_;
  std::vector<int> block_, found_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
};

/// How many ranks each node has, if all have the same number; else 0.
int size_of_each(const nodes& of_rank) {
  std::vector<int> sizes;
  for (const int n : of_rank) {
    if (static_cast<std::size_t>(n) >= sizes.size()) sizes.resize(static_cast<std::size_t>(n) + 1);
    ++sizes[static_cast<std::size_t>(n)];
  }
  const bool equal =
      std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end();
  return equal && !sizes.empty() ? sizes.front() : 0;
}

}  // namespace

graph grid(const std::vector<int>& dims, const std::vector<int>& periods) {
  const int all = std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<>());
  graph g(static_cast<std::size_t>(all));
  for (int v = 0; v < all; ++v) {
    std::vector<int> at = coordinates_of(v, dims);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const int here = at[d];
      for (const int there : {here - 1, here + 1}) {
        if (!periods[d] && (there < 0 || there >= dims[d])) continue;
        at[d] = (there + dims[d]) % dims[d];
        g[static_cast<std::size_t>(v)].push_back({vertex_at(at, dims), 1});
      }
      at[d] = here;
    }
  }
  return g;
}

nodes blocks(const std::vector<int>& dims, const std::vector<int>& periods, const nodes& of_rank) {
  const int size = size_of_each(of_rank);
  if (size == 0) return {};
  const best_block best(dims, periods, size);
  const std::vector<int>& block = best.found();
  std::vector<int> of_blocks(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) of_blocks[d] = dims[d] / block[d];
  nodes made(of_rank.size());
  for (std::size_t v = 0; v < made.size(); ++v) {
    std::vector<int> at = coordinates_of(static_cast<int>(v), dims);
    for (std::size_t d = 0; d < dims.size(); ++d) at[d] /= block[d];
    made[v] = vertex_at(at, of_blocks);
  }
  return made;
}

}  // namespace telpher::mpi::order
