// SPDX-License-Identifier: BSD-3-Clause
// What the message path asks and tells of MPI_Status objects.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

/// How many bytes a message had. The members that hold it are part of MPICH's and of Open MPI's
/// ABI, and reading them is a tenth of asking; an mpi.h that hides them is asked.
template <class Status>
std::size_t bytes_of(const Status& s) noexcept {
  if constexpr (requires { s.count_lo, s.count_hi_and_cancelled; }) {  // the lowest bit: cancelled
    return static_cast<std::size_t>(static_cast<std::uint32_t>(s.count_hi_and_cancelled) >> 1)
               << 32 |
           static_cast<std::uint32_t>(s.count_lo);
  } else if constexpr (requires { s._ucount; }) {
    return s._ucount;
  } else {
    MPI_Count n = 0;
    pmpi::Get_elements_x(&s, MPI_BYTE, &n);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }
}

/// Says of a status how many bytes its message had.
template <class Status>
void set_bytes(Status& s, std::size_t bytes) noexcept {
  if constexpr (requires { s.count_lo, s.count_hi_and_cancelled; }) {
    const auto cancelled = static_cast<std::uint32_t>(s.count_hi_and_cancelled) & 1;
    s.count_lo = static_cast<int>(static_cast<std::uint32_t>(bytes));
    s.count_hi_and_cancelled =
        static_cast<int>(static_cast<std::uint32_t>(bytes >> 32) << 1 | cancelled);
  } else if constexpr (requires { s._ucount; }) {
    s._ucount = bytes;
  } else if (pmpi::Status_set_elements_x.available()) {
    pmpi::Status_set_elements_x(&s, MPI_BYTE, static_cast<MPI_Count>(bytes));
  }
}

/// Gives the program a status, which may be MPI_STATUS_IGNORE. Its MPI_ERROR stays: only calls that
/// complete several requests set it.
inline void copy_status(MPI_Status* to, const MPI_Status& from) noexcept {
  if (to == MPI_STATUS_IGNORE) return;
  const int error = to->MPI_ERROR;
  *to = from;
  to->MPI_ERROR = error;
}

}  // namespace telpher::host_mpi
