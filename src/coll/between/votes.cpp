// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/votes.hpp"

#include <algorithm>

#include "host_mpi/test.hpp"
#include "ticket/progress.hpp"

namespace telpher::coll::between {

bool wait_for(MPI_Request r, const char* what) noexcept {
  auto& e = ticket::progress();
  auto held = e.lock();
  status s = status::ok;
  e.wait_until(held, what, [&] { return (s = host_mpi::test(r)) != status::would_block; });
  return s == status::ok;
}

bool least(MPI_Comm comm, std::int64_t* values, std::size_t count) noexcept {
  std::array<std::int64_t, most_voted> all{};
  MPI_Request r = MPI_REQUEST_NULL;
  if (pmpi::Iallreduce(values, all.data(), static_cast<int>(count), MPI_INT64_T, MPI_MIN, comm,
                       &r) != MPI_SUCCESS ||
      !wait_for(r, "the vote of a collective between nodes"))
    return false;
  std::copy_n(all.begin(), count, values);
  return true;
}

bool all_say(MPI_Comm comm, bool mine) noexcept {
  std::array<std::int64_t, 1> good{mine};
  return least(comm, good) && good[0] == 1;
}

}  // namespace telpher::coll::between
