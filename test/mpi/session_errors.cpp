// SPDX-License-Identifier: BSD-3-Clause
// A communicator made of a session's group, beside MPI_Init: messages and collectives of device
// memory are right on it, and its errors go to its own handler, once, with Telpher's text.
#include "suite.hpp"

#if MPI_TEST_HAS_MPI_4

namespace {

using namespace mpi_test;

int handled = 0;
MPI_Comm told = MPI_COMM_NULL;
char text[MPI_MAX_ERROR_STRING];
void note_error(MPI_Comm* comm, int* code, ...) {
  int length = 0;
  ++handled;
  told = *comm;
  MPI_Error_string(*code, text, &length);
}

struct of_session {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  of_session() {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group group;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(note_error, &handler);
    MPI_Comm_create_from_group(group, "telpher-test", MPI_INFO_NULL, handler, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    MPI_Group_free(&group);
  }
  ~of_session() {
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
  of_session(const of_session&) = delete;
  of_session& operator=(const of_session&) = delete;
};

void messages(suite& s, MPI_Comm comm) {
  for (const std::size_t bytes : {100, 100000}) {
    buffer out(kind::device, bytes), in(kind::device, bytes);
    const std::vector<unsigned char> mine(bytes, static_cast<unsigned char>(s.rank + 1));
    const std::vector<unsigned char> theirs(bytes, static_cast<unsigned char>(2 - s.rank));
    out.write(mine.data(), bytes);
    in.clear();
    const int n = as_int(bytes);
    MPI_Sendrecv(out.data(), n, MPI_BYTE, 1 - s.rank, 3, in.data(), n, MPI_BYTE, 1 - s.rank, 3,
                 comm, MPI_STATUS_IGNORE);
    s.expect_none(in.compare(theirs.data()));
    in.clear();
    MPI_Allreduce(out.data(), in.data(), n, MPI_BYTE, MPI_BOR, comm);
    s.expect_none(in.compare(std::vector<unsigned char>(bytes, 3).data()));
  }
}

void expect_handled(suite& s, MPI_Comm comm, const char* what, const char* words) {
  s.expect_equal(handled, 1, what);
  s.expect(told == comm, "the communicator that the handler is told");
  s.expect(std::string_view(text).find(words) != std::string_view::npos, text);
  handled = 0;
}

void errors(suite& s, MPI_Comm comm) {
  buffer b(kind::device, 100000);
  if (s.rank == 0) {
    MPI_Send(b.data(), 100000, MPI_BYTE, 1, 4, comm);
  } else {
    MPI_Recv(b.data(), 50000, MPI_BYTE, 0, 4, comm, MPI_STATUS_IGNORE);
    expect_handled(s, comm, "errors of a message that is too long", "MPI_Recv");
  }
  s.expect_equal(handled, 0, "errors of the sender");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  {
    const of_session one;
    s.run("messages", [&] { messages(s, one.comm); });
    s.run("errors", [&] { errors(s, one.comm); });
  }
  return s.finish();
}

#else

int main(int argc, char** argv) {
  mpi_test::suite s(&argc, &argv, 1);
  return s.finish();
}

#endif
