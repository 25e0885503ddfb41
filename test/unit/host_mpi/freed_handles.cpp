// SPDX-License-Identifier: BSD-3-Clause
// What an operation remembers of its communicator: whom its errors go to once handles were freed
// and used again, and that thousands of handles leave the heap as it was.
#include <malloc.h>

#include <vector>

#include "check.hpp"
#include "host_mpi/error.hpp"
#include "one_rank.hpp"

namespace {

using namespace telpher;
using host_mpi::kept_comm;

int called = 0;
void count(MPI_Comm*, int*, ...) {
  ++called;
}

MPI_Errhandler counting() {
  static const MPI_Errhandler handler = [] {
    MPI_Errhandler made;
    one_rank::start();
    MPI_Comm_create_errhandler(count, &made);
    return made;
  }();
  return handler;
}

MPI_Comm counted_duplicate() {
  const MPI_Errhandler handler = counting();
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  return comm;
}

bool has_owner(const kept_comm& comm) {
  const int before = called;
  comm.owner().call_handler(MPI_ERR_OTHER);
  return called == before + 1;
}

TEST_CASE(only_the_freed_handle_has_no_owner) {
  MPI_Comm one = counted_duplicate(), other = counted_duplicate();
  const kept_comm of_one(one), of_other(other);
  host_mpi::note_freed(one);
  CHECK(!has_owner(of_one));
  CHECK(has_owner(of_other));
  const kept_comm used_again(one);
  CHECK(has_owner(used_again));
  host_mpi::note_freed(one);
  CHECK(!has_owner(used_again));
  CHECK(has_owner(of_other));
  MPI_Comm_free(&one);
  MPI_Comm_free(&other);
}

/// As handles of Open MPI are: addresses between which other memory lies.
TEST_CASE(thousands_of_handles_leave_the_heap_as_it_was) {
  MPI_Comm alive = counted_duplicate();
  const kept_comm of_alive(alive);
  std::vector<MPI_Comm> handles;
  for (int i = 0; i < 20000; ++i) {
    MPI_Comm handle{};
    const long value = 0x40000000 + 64L * i;
    std::memcpy(&handle, &value, sizeof handle);
    handles.push_back(handle);
  }
  const std::size_t before = ::mallinfo2().uordblks;
  for (const MPI_Comm handle : handles) host_mpi::note_freed(handle);
  const std::size_t after = ::mallinfo2().uordblks;
  CHECK(after < before + 4096);
  CHECK(has_owner(of_alive));
  MPI_Comm_free(&alive);
}

}  // namespace
