// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/info_key.hpp"

#include "host_mpi/asserted.hpp"
#include "mpi/entry.hpp"
#include "mpi/message_channel.hpp"
#include "path/compression.hpp"
#include "stream/settle.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::mpi {

void take_keys(MPI_Info info, MPI_Comm comm) noexcept {
  if (comm == MPI_COMM_NULL) return;
  path::choose_by(info, comm);
  stream::name_by(info, comm);
  host_mpi::take_assertion(info, comm);
}

int comm_set_info(MPI_Comm comm, MPI_Info info) noexcept {
  ticket::blocking_call blocked;  // collective
  const int code = pmpi::Comm_set_info(comm, info);
  if (code == MPI_SUCCESS) take_keys(info, comm);
  return code;
}

int comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* fresh) noexcept {
  ticket::blocking_call blocked;
  const int code = pmpi::Comm_dup_with_info(comm, info, fresh);
  if (code != MPI_SUCCESS) return code;
  take_keys(info, *fresh);
  by_messages::topology_made(*fresh);
  entry::comm_made(*fresh);
  return code;
}

}  // namespace telpher::mpi
