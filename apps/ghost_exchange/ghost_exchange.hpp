// SPDX-License-Identifier: BSD-3-Clause
// ghost_exchange: ranks in a two-dimensional grid, each with a rectangle of cells and a halo.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "common/gpu.hpp"
#include "common/program.hpp"

namespace apps::ghost_exchange {

struct problem {
  int px, py;    // ranks in a row of the grid, and rows
  int ni, nj;    // inner cells of a rank
  int halo;      // width
  bool corners;  // exchange the halo's corners as well
  int steps;
  bool staged;  // buffers in device memory go through pinned memory by hand

  int place_i() const { return world_rank() % px; }
  int place_j() const { return world_rank() / px; }
  int row() const { return ni + 2 * halo; }
  std::size_t cells() const {
    return static_cast<std::size_t>(row()) * static_cast<std::size_t>(nj + 2 * halo);
  }
};

/// Where one version keeps things and how it goes about a step.
struct version {
  const char* name;
  const char* what;
  telpher_memory field;  // HOST: the kernels run as plain loops of the CPU
  telpher_memory buffers;
  bool flat;           // one array instead of a table of rows
  bool allocate_once;  // the buffers: before the first step, else in each exchange
  bool overlap;        // inner cells are computed during the exchange
};

/// Seconds on the slowest rank.
struct timing {
  double advancement = 0, boundary = 0, ghost_update = 0, total = 0;
};

struct outcome {
  timing time;
  std::vector<double> field;  // of this rank, its halo up to date
};

/// `g` may be null for a version on the host only.
outcome run(const version& v, const problem& p, const gpu* g);

/// How many cells differ from a run of the whole domain on one CPU; corners only if exchanged.
int count_differences(const problem& p, const std::vector<double>& field);

}  // namespace apps::ghost_exchange
