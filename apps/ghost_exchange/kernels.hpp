// SPDX-License-Identifier: BSD-3-Clause
// Kernels of ghost_exchange, for two ways to hold a field: rows found through a table of pointers,
// as programs grown on hosts have it, and one flat array. Cell (j, i) is in row j; inner cells
// start at 0, the halo has negative coordinates or lies behind the last inner cell.
#pragma once

#include "common/kernel.hpp"

namespace apps::ghost_exchange {

struct row_field {
  double** rows;
  int halo;
  APPS_DEVICE double& at(int j, int i) const { return rows[j + halo][i + halo]; }
};

struct flat_field {
  double* cells;
  int halo;
  std::int64_t row;  // cells in a row, halo included
  APPS_DEVICE double& at(int j, int i) const { return cells[(j + halo) * row + i + halo]; }
};

/// A rectangle of cells; its kernels have one item a cell.
struct box {
  int j, i;    // its first cell
  int nj, ni;  // its size

  APPS_DEVICE int row_of(index item) const {
    return j + static_cast<int>(item / static_cast<index>(ni));
  }
  APPS_DEVICE int column_of(index item) const {
    return i + static_cast<int>(item % static_cast<index>(ni));
  }
  APPS_DEVICE std::int64_t cells() const { return std::int64_t{nj} * ni; }
};

/// What a cell holds at the beginning, by its place in the whole domain.
APPS_DEVICE inline double value_at_begin(int j, int i) {
  return 5.0 + static_cast<double>((i * 7 + j * 13 + i * j % 11) % 32);
}

template <class F>
APPS_DEVICE double blurred(const F& x, int j, int i) {
  return (x.at(j, i) + x.at(j, i - 1) + x.at(j, i + 1) + x.at(j - 1, i) + x.at(j + 1, i)) / 5.0;
}

/// The halo included, which begins as 0.
template <class F>
struct begin {
  F field;
  box cells;
  int nj, ni;  // inner cells of this rank
  int j0, i0;  // where they lie in the whole domain

  APPS_DEVICE void operator()(index item) const {
    const int j = cells.row_of(item), i = cells.column_of(item);
    const bool inner = j >= 0 && j < nj && i >= 0 && i < ni;
    field.at(j, i) = inner ? value_at_begin(j + j0, i + i0) : 0.0;
  }
};

template <class F>
struct blur {
  F from, to;
  box cells;

  APPS_DEVICE void operator()(index item) const {
    const int j = cells.row_of(item), i = cells.column_of(item);
    to.at(j, i) = blurred(from, j, i);
  }
};

/// Outflow: a halo cell takes the value of the nearest inner cell in its row, or in its column.
template <class F>
struct outflow {
  F field;
  box cells;
  bool in_row;
  int last;  // of the inner cells in that direction

  APPS_DEVICE void operator()(index item) const {
    const int j = cells.row_of(item), i = cells.column_of(item);
    const int moved = in_row ? i : j;
    const int nearest = moved < 0 ? 0 : moved > last ? last : moved;
    field.at(j, i) = in_row ? field.at(j, nearest) : field.at(nearest, i);
  }
};

template <class F>
struct pack {
  double* packed;
  F field;
  box cells;

  APPS_DEVICE void operator()(index item) const {
    packed[item] = field.at(cells.row_of(item), cells.column_of(item));
  }
};

template <class F>
struct unpack {
  const double* packed;
  F field;
  box cells;

  APPS_DEVICE void operator()(index item) const {
    field.at(cells.row_of(item), cells.column_of(item)) = packed[item];
  }
};

using begin_rows = begin<row_field>;
using begin_flat = begin<flat_field>;
using blur_rows = blur<row_field>;
using blur_flat = blur<flat_field>;
using outflow_rows = outflow<row_field>;
using outflow_flat = outflow<flat_field>;
using pack_rows = pack<row_field>;
using pack_flat = pack<flat_field>;
using unpack_rows = unpack<row_field>;
using unpack_flat = unpack<flat_field>;

}  // namespace apps::ghost_exchange
