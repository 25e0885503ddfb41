// SPDX-License-Identifier: BSD-3-Clause
// stencil3d: ranks in a three-dimensional grid. Directions are numbered -x, +x, -y, +y, -z, +z, and
// a message's tag says in which direction its sender sent it.
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "common/gpu.hpp"
#include "common/program.hpp"

namespace apps::stencil3d {

constexpr int directions = 6;
constexpr int opposite(int direction) {
  return direction ^ 1;
}

struct rank_grid {
  explicit rank_grid(bool periodic);
  ~rank_grid();
  rank_grid(const rank_grid&) = delete;
  rank_grid& operator=(const rank_grid&) = delete;

  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size[3] = {0, 0, 0};  // x, y, z
  int place[3] = {0, 0, 0};
  std::array<int, directions> neighbour{};  // MPI_PROC_NULL where there is none
};

/// k messages a neighbour, of every size; answers how many bytes were wrong.
int run_messages(options& o);
/// The heat equation; answers how many cells differ from the serial run.
int run_heat(options& o);

}  // namespace apps::stencil3d
