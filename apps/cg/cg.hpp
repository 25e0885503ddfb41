// SPDX-License-Identifier: BSD-3-Clause
// cg: the parts of an HPCG-like solver. A rank holds a block of a three-dimensional grid; a row of
// the matrix has the value 26 on its diagonal and -1 for each of its neighbours in the 27-point
// stencil. Rows are numbered colour by colour: the eight colours are the parities of the three
// coordinates in the block, and rows of one colour do not touch each other.
// A vector is the rank's rows, followed by the neighbours' rows that its own rows touch.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "common/gpu.hpp"
#include "common/program.hpp"

namespace apps::cg {

constexpr int colours = 8;

/// Blocks of n rows in a grid of p ranks; x, y, z.
struct geometry {
  std::array<int, 3> n, p, place;

  int rows() const { return n[0] * n[1] * n[2]; }
  std::array<int, 3> whole() const { return {n[0] * p[0], n[1] * p[1], n[2] * p[2]}; }
  bool can_be_coarser() const { return n[0] % 2 == 0 && n[1] % 2 == 0 && n[2] % 2 == 0; }
  geometry coarser() const { return {{n[0] / 2, n[1] / 2, n[2] / 2}, p, place}; }
  /// The row's number in this rank's vectors.
  int number(int x, int y, int z) const;
  /// Where a colour's rows begin; behind the last colour: all rows.
  int first_row(int colour) const;
  /// The row's number in the whole grid, x fastest.
  std::int64_t global(int x, int y, int z) const;
};

struct neighbour {
  int rank;
  int sent_as, received_as;  // tags: the direction in which the sender sent
  int offset, count;         // in the list of rows to send, and in the vectors' tail
};

struct host_matrix {
  std::vector<double> values;
  std::vector<int> columns;
  std::vector<int> send_rows;
  std::vector<neighbour> neighbours;
  long nonzeros = 0;
};
host_matrix build_matrix(const geometry& g);

/// Seconds of the phases as HPCG names them, and of what they spend in MPI.
struct timing {
  double ddot = 0, waxpby = 0, spmv = 0, mg = 0;
  double exchange = 0, allreduce = 0, total = 0;
};

struct outcome {
  int iterations = 0;
  std::vector<double> residuals;  // relative to the first one; [0] is 1
};

struct limits {
  int iterations;
  double tolerance;  // 0: all iterations
  bool precondition;
};

/// How values get to other ranks: device pointers to MPI, copies through pinned memory by hand, or
/// requests that are matched once and run in the order of the device's queue.
enum class exchange_way { telpher, staged, matched };

/// The solver on a device. All vectors are the caller's, of size length().
class solver {
 public:
  solver(const gpu& g, const geometry& finest, int levels, exchange_way way);
  ~solver();

  std::size_t length() const;
  outcome solve(const array<double>& b, array<double>& x, const limits& l);
  /// y = A x and z = M r, and dot products over all ranks; for checks.
  void apply(array<double>& x, array<double>& y);
  void precondition(const array<double>& r, array<double>& z);
  double dot(const array<double>& x, const array<double>& y);
  /// Multiplies the finest matrix's diagonal by the entries of `factors`, or sets it back (null).
  void scale_diagonal(const std::vector<double>* factors);

  int levels() const;
  /// Nonzeros of a level on all ranks.
  long nonzeros(int number) const;
  timing& time();

 private:
  struct level;
  class implementation;
  std::unique_ptr<implementation> hidden_;
};

/// The order in which Gauss-Seidel takes the rows of a block.
enum class ordering { natural, by_colour };

/// The same solver for the whole grid on one CPU, without matrix or messages: each block's smoother
/// sees the other blocks as they were before the sweep.
outcome serial_solve(const geometry& g, int levels, ordering o, const limits& l);

}  // namespace apps::cg
