// SPDX-License-Identifier: BSD-3-Clause
// The solver for the whole grid on one CPU, to compare with: written on its own, without matrix,
// numbering, messages or kernels. Vectors are in natural order, x fastest.
#include <algorithm>
#include <cmath>

#include "cg/cg.hpp"

namespace apps::cg {
namespace {

using values = std::vector<double>;

class serial_grid {
 public:
  serial_grid(const geometry& g, ordering o) : n_(g.whole()) {
    size_ = static_cast<std::size_t>(n_[0]) * static_cast<std::size_t>(n_[1]) *
            static_cast<std::size_t>(n_[2]);
    struct key {
      int block, colour;
      std::size_t at;
      auto operator<=>(const key&) const = default;
    };
    std::vector<key> keys;
    each([&](int x, int y, int z, std::size_t at) {
      const int lx = x % g.n[0], ly = y % g.n[1], lz = z % g.n[2];
      const int block = (z / g.n[2] * g.p[1] + y / g.n[1]) * g.p[0] + x / g.n[0];
      const int colour = o == ordering::natural ? 0 : (lx & 1) + 2 * (ly & 1) + 4 * (lz & 1);
      block_.push_back(block);
      keys.push_back({block, colour, at});
    });
    std::sort(keys.begin(), keys.end());
    for (const key& k : keys) order_.push_back(k.at);
  }

  std::size_t size() const { return size_; }
  const std::array<int, 3>& n() const { return n_; }

  /// The sum over the neighbours of a cell of what `value` gives for each.
  template <class Value>
  double neighbours(std::size_t at, Value value) const {
    const int x = static_cast<int>(at % static_cast<std::size_t>(n_[0]));
    const std::size_t xy = at / static_cast<std::size_t>(n_[0]);
    const int y = static_cast<int>(xy % static_cast<std::size_t>(n_[1]));
    const int z = static_cast<int>(xy / static_cast<std::size_t>(n_[1]));
    double sum = 0;
    for (int dz = z > 0 ? -1 : 0; dz <= (z + 1 < n_[2]); ++dz)
      for (int dy = y > 0 ? -1 : 0; dy <= (y + 1 < n_[1]); ++dy)
        for (int dx = x > 0 ? -1 : 0; dx <= (x + 1 < n_[0]); ++dx)
          if (dx != 0 || dy != 0 || dz != 0) sum += value(index_of(x + dx, y + dy, z + dz));
    return sum;
  }

  void multiply(const values& x, values& y) const {
    for (std::size_t i = 0; i < size_; ++i)
      y[i] = 26.0 * x[i] - neighbours(i, [&](std::size_t j) { return x[j]; });
  }

  /// Forward, then backward; other blocks stay as they were when it began.
  void smooth(const values& r, values& x) const {
    const values before = x;
    const auto update = [&](std::size_t i) {
      x[i] = (r[i] +
              neighbours(
                  i, [&](std::size_t j) { return block_[j] == block_[i] ? x[j] : before[j]; })) /
             26.0;
    };
    std::for_each(order_.begin(), order_.end(), update);
    std::for_each(order_.rbegin(), order_.rend(), update);
  }

  template <class F>
  void each(F f) const {
    for (int z = 0; z < n_[2]; ++z)
      for (int y = 0; y < n_[1]; ++y)
        for (int x = 0; x < n_[0]; ++x) f(x, y, z, index_of(x, y, z));
  }
  std::size_t index_of(int x, int y, int z) const {
    return (static_cast<std::size_t>(z) * static_cast<std::size_t>(n_[1]) +
            static_cast<std::size_t>(y)) *
               static_cast<std::size_t>(n_[0]) +
           static_cast<std::size_t>(x);
  }

 private:
  std::array<int, 3> n_;
  std::size_t size_ = 0;
  std::vector<int> block_;
  std::vector<std::size_t> order_;
};

values multigrid(const std::vector<serial_grid>& grids, std::size_t number, const values& r) {
  const serial_grid& fine = grids[number];
  values x(fine.size(), 0.0);
  fine.smooth(r, x);
  if (number + 1 == grids.size()) return x;
  const serial_grid& coarse = grids[number + 1];
  values ax(fine.size()), right(coarse.size());
  fine.multiply(x, ax);
  coarse.each([&](int cx, int cy, int cz, std::size_t at) {
    const std::size_t there = fine.index_of(2 * cx, 2 * cy, 2 * cz);
    right[at] = r[there] - ax[there];
  });
  const values answer = multigrid(grids, number + 1, right);
  coarse.each([&](int cx, int cy, int cz, std::size_t at) {
    x[fine.index_of(2 * cx, 2 * cy, 2 * cz)] += answer[at];
  });
  fine.smooth(r, x);
  return x;
}

double product(const values& a, const values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

outcome serial_solve(const geometry& g, int levels, ordering o, const limits& l) {
  std::vector<serial_grid> grids;
  geometry next = g;
  for (int i = 0; i < levels; ++i, next = next.coarser()) grids.emplace_back(next, o);
  const std::size_t size = grids[0].size();
  values x(size, 0.0), r(size), p(size), ap(size);
  const values ones(size, 1.0);
  grids[0].multiply(ones, r);  // the right side for the answer 1, less A times the first guess 0
  const double first = std::sqrt(product(r, r));
  outcome out{0, {1.0}};
  double rtz = 0;
  while (out.iterations < l.iterations && out.residuals.back() > l.tolerance) {
    const values z = l.precondition ? multigrid(grids, 0, r) : r;
    const double before = rtz;
    rtz = product(r, z);
    const double beta = out.iterations == 0 ? 0.0 : rtz / before;
    for (std::size_t i = 0; i < size; ++i) p[i] = z[i] + beta * p[i];
    grids[0].multiply(p, ap);
    const double alpha = rtz / product(p, ap);
    for (std::size_t i = 0; i < size; ++i) x[i] += alpha * p[i];
    for (std::size_t i = 0; i < size; ++i) r[i] -= alpha * ap[i];
    out.residuals.push_back(std::sqrt(product(r, r)) / first);
    ++out.iterations;
  }
  return out;
}

}  // namespace apps::cg
