// SPDX-License-Identifier: BSD-3-Clause
// A communicator that was revoked (MPIX_Comm_revoke, which Open MPI 5 has): calls with device
// memory end with an error, as those with host memory do, and other communicators go on.
#include "suite.hpp"

using namespace mpi_test;

namespace {

int revoke(MPI_Comm comm) {
  static auto* const call =
      reinterpret_cast<int (*)(MPI_Comm)>(dlsym(RTLD_DEFAULT, "MPIX_Comm_revoke"));
  return call ? call(comm) : MPI_ERR_OTHER;
}

void messages(suite& s) {
  const int peer = s.rank ^ 1;
  for (const std::size_t n : {100, 3000, 1000000}) {
    s.note("%zu bytes", n);
    MPI_Comm comm;
    MPI_Comm_dup(s.control, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    buffer out(kind::device, n), in(kind::device, n);
    out.fill(static_cast<std::uint64_t>(s.rank));
    const int count = as_int(n);
    MPI_Request r = MPI_REQUEST_NULL, sent = MPI_REQUEST_NULL;
    if (s.rank == 0) MPI_Irecv(in.data(), count, MPI_BYTE, peer, 1, comm, &r);
    if (s.rank == 0) MPI_Isend(out.data(), count, MPI_BYTE, peer, 2, comm, &sent);
    MPI_Barrier(s.control);
    if (s.rank == 1) s.expect_equal(revoke(comm), MPI_SUCCESS, "the communicator is revoked");
    s.expect(s.rank != 0 || MPI_Wait(&r, MPI_STATUS_IGNORE) != MPI_SUCCESS,
             "a receive that was waiting ends with an error");
    MPI_Wait(&sent, MPI_STATUS_IGNORE);  // ends; without an error where the bytes have left
    MPI_Barrier(s.control);
    s.expect(MPI_Send(out.data(), count, MPI_BYTE, peer, 2, comm) != MPI_SUCCESS, "a send");
    s.expect(MPI_Recv(in.data(), count, MPI_BYTE, peer, 3, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS,
             "a receive");
    int code = MPI_Isend(out.data(), count, MPI_BYTE, peer, 4, comm, &r);
    if (code == MPI_SUCCESS) code = MPI_Wait(&r, MPI_STATUS_IGNORE);
    s.expect(code != MPI_SUCCESS, "a non-blocking send");
    s.expect(MPI_Send(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 5, comm) != MPI_SUCCESS,
             "a send to nobody");
    MPI_Comm_free(&comm);
    in.clear();
    MPI_Sendrecv(out.data(), count, MPI_BYTE, peer, 6, in.data(), count, MPI_BYTE, peer, 6,
                 s.control, MPI_STATUS_IGNORE);
    s.expect_none(in.compare(static_cast<std::uint64_t>(peer), n));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool threads = std::getenv("TEST_THREADS") != nullptr;
  suite s(&argc, &argv, 2, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
  if (dlsym(RTLD_DEFAULT, "MPIX_Comm_revoke")) s.run("messages", [&] { messages(s); });
  return s.finish();
}
