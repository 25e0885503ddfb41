// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/info_key.hpp"

#include "coll/between/sites.hpp"
#include "host_mpi/asserted.hpp"
#include "path/compression.hpp"
#include "stream/settle.hpp"

namespace telpher::mpi {

void take_keys(MPI_Info info, MPI_Comm comm) noexcept {
  if (comm == MPI_COMM_NULL) return;
  path::choose_by(info, comm);
  stream::name_by(info, comm);
  host_mpi::take_assertion(info, comm);
  coll::between::vote_again(comm);
}

}  // namespace telpher::mpi
