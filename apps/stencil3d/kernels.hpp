// SPDX-License-Identifier: BSD-3-Clause
// Kernels of stencil3d. The functions that a serial run needs as well stand outside the structs.
#pragma once

#include "common/kernel.hpp"

namespace apps::stencil3d {

// --- messages ---

/// Byte `offset` of what `sender` sends in direction `direction` in a round.
APPS_DEVICE inline unsigned char message_byte(int sender, int direction, unsigned round,
                                              std::uint64_t offset) {
  std::uint64_t h = offset + 0x9e3779b97f4a7c15u * static_cast<unsigned>(sender * 6 + direction) +
                    0xc2b2ae3d27d4eb4fu * round;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  return static_cast<unsigned char>(h >> 40);
}

/// One item a byte.
struct fill_messages {
  unsigned char* bytes;
  int sender, direction;
  unsigned round;

  APPS_DEVICE void operator()(index i) const {
    bytes[i] = message_byte(sender, direction, round, i);
  }
};

/// Item i looks at bytes i, i + items, … and writes how many of them are wrong.
struct check_messages {
  const unsigned char* bytes;
  std::uint64_t count;
  index items;
  int sender, direction;
  unsigned round;
  std::uint32_t* wrong;

  APPS_DEVICE void operator()(index i) const {
    std::uint32_t found = 0;
    for (std::uint64_t at = i; at < count; at += items)
      found += bytes[at] != message_byte(sender, direction, round, at);
    wrong[i] = found;
  }
};

// --- heat ---

/// The field at the beginning: from 0 to 63, different in neighbouring cells.
APPS_DEVICE inline double heat_at_begin(int x, int y, int z) {
  return static_cast<double>((x * 7 + y * 13 + z * 29 + x * y % 5) % 64);
}

/// One step of the heat equation in one cell; `up` and `far` are the distances to the neighbours in
/// y and in z.
APPS_DEVICE inline double heat_of(const double* cell, std::int64_t up, std::int64_t far,
                                  double rate) {
  const double sum = cell[-1] + cell[1] + cell[-up] + cell[up] + cell[-far] + cell[far];
  return *cell + rate * (sum - 6.0 * *cell);
}

/// One item a cell, halo included; outside the `whole` domain it is 0.
struct heat_begin {
  double* field;
  block3 block;
  int x0, y0, z0;  // global coordinates of the first inner cell
  int whole_x, whole_y, whole_z;

  APPS_DEVICE void operator()(index i) const {
    const int x = static_cast<int>(i % block.row()) - block.halo + x0;
    const int y = static_cast<int>(i % block.plane() / block.row()) - block.halo + y0;
    const int z = static_cast<int>(i / block.plane()) - block.halo + z0;
    const bool inside = x >= 0 && x < whole_x && y >= 0 && y < whole_y && z >= 0 && z < whole_z;
    field[i] = inside ? heat_at_begin(x, y, z) : 0.0;
  }
};

/// One item an inner cell.
struct heat_step {
  const double* from;
  double* to;
  block3 block;
  double rate;

  APPS_DEVICE void operator()(index i) const {
    const index nx = static_cast<index>(block.nx), ny = static_cast<index>(block.ny);
    const index xy = i / nx;
    const std::int64_t at = block.at(static_cast<int>(i - xy * nx), static_cast<int>(xy % ny),
                                     static_cast<int>(xy / ny));
    to[at] = heat_of(from + at, block.row(), block.plane(), rate);
  }
};

/// A box of cells in a field and the same cells without gaps: one item a cell.
struct face {
  block3 block;
  int x, y, z;     // its first cell
  int nx, ny, nz;  // its size

  APPS_DEVICE std::int64_t cell(index i) const {
    const int row = static_cast<int>(i) / nx;
    return block.at(x + static_cast<int>(i) % nx, y + row % ny, z + row / ny);
  }
  APPS_DEVICE int cells() const { return nx * ny * nz; }
};

struct pack_face {
  double* packed;
  const double* field;
  face cells;

  APPS_DEVICE void operator()(index i) const { packed[i] = field[cells.cell(i)]; }
};

struct unpack_face {
  const double* packed;
  double* field;
  face cells;

  APPS_DEVICE void operator()(index i) const { field[cells.cell(i)] = packed[i]; }
};

}  // namespace apps::stencil3d
