// SPDX-License-Identifier: BSD-3-Clause
// Kernels of cg. A matrix has 27 places a row, place after place (the same place of neighbouring
// rows lies together); places without an entry have value 0 and point at the row itself.
#pragma once

#include "common/kernel.hpp"

namespace apps::cg {

constexpr int places = 27;
constexpr int centre = 13;  // the diagonal's place

struct matrix_view {
  const double* values;
  const int* columns;
  index rows;

  APPS_DEVICE double multiply_row(index row, const double* x) const {
    double sum = 0;
    for (int place = 0; place < places; ++place) {
      const std::uint64_t at = static_cast<std::uint64_t>(place) * rows + row;
      sum += values[at] * x[columns[at]];
    }
    return sum;
  }
};

/// y = A x, one item a row.
struct multiply {
  matrix_view a;
  const double* x;
  double* y;

  APPS_DEVICE void operator()(index i) const { y[i] = a.multiply_row(i, x); }
};

/// Gauss-Seidel for the rows of one colour, which do not touch each other: one item a row.
struct smooth {
  matrix_view a;
  const double* r;
  double* x;
  index first;

  APPS_DEVICE void operator()(index i) const {
    const index row = first + i;
    const double diagonal = a.values[static_cast<std::uint64_t>(centre) * a.rows + row];
    x[row] += (r[row] - a.multiply_row(row, x)) / diagonal;
  }
};

/// The residual at the fine rows that the coarse grid keeps.
struct restrict_residual {
  const double* r;
  const double* ax;
  const int* fine_row;
  double* coarse;

  APPS_DEVICE void operator()(index i) const {
    const int row = fine_row[i];
    coarse[i] = r[row] - ax[row];
  }
};

struct prolong {
  const double* coarse;
  const int* fine_row;
  double* x;

  APPS_DEVICE void operator()(index i) const { x[fine_row[i]] += coarse[i]; }
};

/// w = alpha x + beta y.
struct waxpby {
  double alpha;
  const double* x;
  double beta;
  const double* y;
  double* w;

  APPS_DEVICE void operator()(index i) const { w[i] = alpha * x[i] + beta * y[i]; }
};

/// w = x + sign * numerator / denominator * y, whose quotient is on the device.
struct add_scaled {
  const double* x;
  double sign;
  const double* numerator;
  const double* denominator;
  const double* y;
  double* w;

  APPS_DEVICE void operator()(index i) const {
    w[i] = x[i] + sign * (*numerator / *denominator) * y[i];
  }
};

struct fill {
  double* x;
  double value;

  APPS_DEVICE void operator()(index i) const { x[i] = value; }
};

/// What neighbours need, in the order of their messages.
struct gather {
  const double* x;
  const int* rows;
  double* packed;

  APPS_DEVICE void operator()(index i) const { packed[i] = x[rows[i]]; }
};

/// The first of the steps of a dot product: item i sums elements i, i + items, …; always in the
/// same order, so that the same vectors give the same bits.
struct dot_parts {
  const double* x;
  const double* y;
  std::uint64_t count;
  index items;
  double* parts;

  APPS_DEVICE void operator()(index i) const {
    double sum = 0;
    for (std::uint64_t at = i; at < count; at += items) sum += x[at] * y[at];
    parts[i] = sum;
  }
};

/// The other steps: item i sums parts i, i + items, …
struct sum_parts {
  const double* parts;
  index count, items;
  double* sums;

  APPS_DEVICE void operator()(index i) const {
    double sum = 0;
    for (index at = i; at < count; at += items) sum += parts[at];
    sums[i] = sum;
  }
};

}  // namespace apps::cg
