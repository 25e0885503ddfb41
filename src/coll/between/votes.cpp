// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/votes.hpp"

#include <algorithm>

#include "host_mpi/test.hpp"
#include "ticket/progress.hpp"

namespace telpher::coll::between {

bool least(MPI_Comm comm, std::int64_t* values, std::size_t count) noexcept {
  std::array<std::int64_t, most_voted> all{};
  MPI_Request r = MPI_REQUEST_NULL;
  if (pmpi::Iallreduce(values, all.data(), static_cast<int>(count), MPI_INT64_T, MPI_MIN, comm,
                       &r) != MPI_SUCCESS)
    return false;
  status s = status::ok;
  ticket::progress().wait_until("the vote of a collective between nodes",
                                [&] { return (s = host_mpi::test(r)) != status::would_block; });
  if (s != status::ok) return false;
  std::copy_n(all.begin(), count, values);
  return true;
}

bool all_say(MPI_Comm comm, bool mine) noexcept {
  std::array<std::int64_t, 1> good{mine};
  return least(comm, good) && good[0] == 1;
}

}  // namespace telpher::coll::between
