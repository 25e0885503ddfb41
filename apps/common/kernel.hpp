// SPDX-License-Identifier: BSD-3-Clause
// The language of the applications' kernels. A kernel is a struct of plain data whose call operator
// does one work item: `void operator()(index i) const` for i = 0 … items - 1, in any order, none
// waiting for another. The same text is compiled by g++ (the emulated device), nvcc, hipcc and
// SYCL's run-time compiler, so that it uses no library and no vendor's name.
// Results must not depend on the compiler: every module is built without fused multiply-adds.
#pragma once

#include <cstdint>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define APPS_DEVICE __host__ __device__
#else
#define APPS_DEVICE
#endif

namespace apps {

using index = std::uint32_t;

/// A block of cells in a three-dimensional array with `halo` more cells on every side; x runs
/// fastest. Coordinates of inner cells start at 0.
struct block3 {
  int nx, ny, nz, halo;

  APPS_DEVICE std::int64_t row() const { return nx + 2 * halo; }
  APPS_DEVICE std::int64_t plane() const { return row() * (ny + 2 * halo); }
  APPS_DEVICE std::int64_t cells() const { return plane() * (nz + 2 * halo); }
  APPS_DEVICE std::int64_t inner() const { return std::int64_t{nx} * ny * nz; }
  APPS_DEVICE std::int64_t at(int x, int y, int z) const {
    return (z + halo) * plane() + (y + halo) * row() + x + halo;
  }
};

}  // namespace apps
