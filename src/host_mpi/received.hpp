// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes the size of a message in an MPI_Status.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

/// The number of bytes of a message. The members that hold it are part of MPICH's and of Open MPI's
/// ABI; reading them takes a tenth of the time of a call. If an mpi.h hides them, the host MPI is
/// asked.
template <class Status>
std::size_t bytes_of(const Status& s) noexcept {
  if constexpr (requires { s.count_lo, s.count_hi_and_cancelled; }) {  // lowest bit: cancelled
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

/// Stores the number of bytes of a message in a status.
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

/// Copies a status to the program, which may pass MPI_STATUS_IGNORE. Its MPI_ERROR is preserved,
/// because only calls that complete several requests set it.
inline void copy_status(MPI_Status* to, const MPI_Status& from) noexcept {
  if (to == MPI_STATUS_IGNORE) return;
  const int error = to->MPI_ERROR;
  *to = from;
  to->MPI_ERROR = error;
}

}  // namespace telpher::host_mpi
