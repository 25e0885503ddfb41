// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <stdexcept>

#include "cg/cg.hpp"

namespace apps::cg {
namespace {

int half(int n, int parity) {
  return (n + 1 - parity) / 2;
}

/// The cells of a block that touch the neighbour in a direction (each -1, 0 or 1).
struct side {
  int first[3], size[3];
  int cells() const { return size[0] * size[1] * size[2]; }
};

side side_of(const geometry& g, const int* direction) {
  side s;
  for (std::size_t d = 0; d < 3; ++d) {
    s.first[d] = direction[d] > 0 ? g.n[d] - 1 : 0;
    s.size[d] = direction[d] != 0 ? 1 : g.n[d];
  }
  return s;
}

int code_of(const int* direction) {
  return (direction[2] + 1) * 9 + (direction[1] + 1) * 3 + direction[0] + 1;
}

int rank_in(const geometry& g, const int* direction) {
  int place[3];
  for (std::size_t d = 0; d < 3; ++d) {
    place[d] = g.place[d] + direction[d];
    if (place[d] < 0 || place[d] >= g.p[d]) return MPI_PROC_NULL;
  }
  return (place[2] * g.p[1] + place[1]) * g.p[0] + place[0];
}

/// Neighbours, what each is sent, and where each direction's rows lie in a vector's tail.
std::array<int, 27> list_neighbours(const geometry& g, host_matrix& m) {
  std::array<int, 27> tail;
  tail.fill(-1);
  for (int code = 0; code < 27; ++code) {
    const int direction[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
    const int rank = rank_in(g, direction);
    if (code == centre || rank == MPI_PROC_NULL) continue;
    const side s = side_of(g, direction);
    const int offset = static_cast<int>(m.send_rows.size());
    tail[static_cast<std::size_t>(code)] = offset;
    m.neighbours.push_back({rank, code, 26 - code, offset, s.cells()});
    for (int z = 0; z < s.size[2]; ++z)
      for (int y = 0; y < s.size[1]; ++y)
        for (int x = 0; x < s.size[0]; ++x)
          m.send_rows.push_back(g.number(s.first[0] + x, s.first[1] + y, s.first[2] + z));
  }
  return tail;
}

/// The column of a cell that may lie outside the block by one, or -1 outside the whole grid.
int column_of(const geometry& g, const std::array<int, 27>& tail, const int* cell) {
  int direction[3], inside[3];
  for (std::size_t d = 0; d < 3; ++d) {
    direction[d] = cell[d] < 0 ? -1 : cell[d] >= g.n[d] ? 1 : 0;
    inside[d] = direction[d] != 0 ? 0 : cell[d];  // in the neighbour's side, which is one thick
  }
  const int code = code_of(direction);
  if (code == centre) return g.number(cell[0], cell[1], cell[2]);
  const int offset = tail[static_cast<std::size_t>(code)];
  if (offset < 0) return -1;
  const side s = side_of(g, direction);
  return g.rows() + offset + (inside[2] * s.size[1] + inside[1]) * s.size[0] + inside[0];
}

}  // namespace

int geometry::first_row(int colour) const {
  int first = 0;
  for (int c = 0; c < colour; ++c)
    first += half(n[0], c & 1) * half(n[1], c >> 1 & 1) * half(n[2], c >> 2);
  return first;
}

int geometry::number(int x, int y, int z) const {
  const int colour = (x & 1) | (y & 1) << 1 | (z & 1) << 2;
  return first_row(colour) + ((z >> 1) * half(n[1], y & 1) + (y >> 1)) * half(n[0], x & 1) +
         (x >> 1);
}

std::int64_t geometry::global(int x, int y, int z) const {
  const auto all = whole();
  return (std::int64_t{place[2] * n[2] + z} * all[1] + place[1] * n[1] + y) * all[0] +
         place[0] * n[0] + x;
}

host_matrix build_matrix(const geometry& g) {
  host_matrix m;
  const auto tail = list_neighbours(g, m);
  const auto rows = static_cast<std::size_t>(g.rows());
  m.values.assign(places * rows, 0.0);
  m.columns.resize(places * rows);
  for (int z = 0; z < g.n[2]; ++z)
    for (int y = 0; y < g.n[1]; ++y)
      for (int x = 0; x < g.n[0]; ++x) {
        const int row = g.number(x, y, z);
        for (int place = 0; place < places; ++place) {
          const int cell[3] = {x + place % 3 - 1, y + place / 3 % 3 - 1, z + place / 9 - 1};
          const int column = column_of(g, tail, cell);
          const std::size_t at =
              static_cast<std::size_t>(place) * rows + static_cast<std::size_t>(row);
          m.columns[at] = column < 0 ? row : column;
          if (column < 0) continue;
          m.values[at] = place == centre ? 26.0 : -1.0;
          ++m.nonzeros;
        }
      }
  return m;
}

}  // namespace apps::cg
