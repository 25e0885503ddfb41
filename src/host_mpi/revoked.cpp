// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/revoked.hpp"

namespace telpher::host_mpi {

bool is_revoked(MPI_Comm comm) noexcept {
  static auto* const ask = find_function<int(MPI_Comm, int*)>("PMPIX_Comm_is_revoked");
  int flag = 0;
  return ask && ask(comm, &flag) == MPI_SUCCESS && flag != 0;
}

int refuse_if_revoked(MPI_Comm comm) noexcept {
  return is_revoked(comm) ? pmpi::Send(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm) : MPI_SUCCESS;
}

}  // namespace telpher::host_mpi
