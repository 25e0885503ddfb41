// SPDX-License-Identifier: BSD-3-Clause
// For tests of MPI_Win_allocate_shared on device memory.
#pragma once

#include "window.hpp"

namespace mpi_test {

/// Asks for device memory; `apart`: each part on its rank's own device.
struct shared_info {
  explicit shared_info(bool apart) {
    MPI_Info_create(&handle);
    MPI_Info_set(handle, "mpi_memory_alloc_kinds", device_kind().c_str());
    if (apart) MPI_Info_set(handle, "alloc_shared_noncontig", "true");
  }
  shared_info(const shared_info&) = delete;
  shared_info& operator=(const shared_info&) = delete;
  ~shared_info() { MPI_Info_free(&handle); }
  MPI_Info handle = MPI_INFO_NULL;
};

/// Of elements of a type T, at this rank so many.
template <class T>
class shared_window {
 public:
  shared_window(bool apart, std::size_t count) {
    const shared_info info(apart);
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(count * sizeof(T)), sizeof(T), info.handle,
                            MPI_COMM_WORLD, &own, &handle);
    MPI_Win_set_errhandler(handle, MPI_ERRORS_RETURN);
  }
  shared_window(const shared_window&) = delete;
  shared_window& operator=(const shared_window&) = delete;
  ~shared_window() { MPI_Win_free(&handle); }

  /// A rank's part, which must have so many.
  T* part(suite& s, int rank, std::size_t count) const {
    MPI_Aint bytes = -1;
    int unit = -1;
    T* base = nullptr;
    s.expect_equal(MPI_Win_shared_query(handle, rank, &bytes, &unit, &base), MPI_SUCCESS,
                   "MPI_Win_shared_query");
    s.expect_equal(bytes, static_cast<MPI_Aint>(count * sizeof(T)), "bytes of a part");
    s.expect_equal(unit, sizeof(T), "its unit");
    return base;
  }

  T* own = nullptr;
  MPI_Win handle = MPI_WIN_NULL;
};

}  // namespace mpi_test
