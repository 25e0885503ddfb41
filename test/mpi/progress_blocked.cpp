// SPDX-License-Identifier: BSD-3-Clause
// A rank that is blocked in another call while its peers wait for its messages.
#include "progress.hpp"

namespace progress_test {
namespace {

enum class blocker {
  recv,
  barrier,
  allreduce,
  comm_dup,
  comm_split,
  sendrecv,
  probe,
  buffer_detach,
  file_seek_shared,
  file_set_info
};
constexpr blocker blockers[] = {
    blocker::recv,         blocker::barrier,       blocker::allreduce,
    blocker::comm_dup,     blocker::comm_split,    blocker::sendrecv,
    blocker::probe,        blocker::buffer_detach, blocker::file_seek_shared,
    blocker::file_set_info};
const char* name(blocker b) {
  static constexpr const char* names[] = {
      "Recv",     "Barrier", "Allreduce",     "Comm_dup",         "Comm_split",
      "Sendrecv", "Probe",   "Buffer_detach", "File_seek_shared", "File_set_info"};
  return names[static_cast<int>(b)];
}
/// Of two ranks; the others are of all.
bool is_pairwise(blocker b) {
  return b == blocker::recv || b == blocker::probe || b == blocker::sendrecv ||
         b == blocker::buffer_detach;
}

MPI_File common_file = MPI_FILE_NULL;

void open_common_file(const suite& s) {
  char path[] = "/tmp/telpher-test-XXXXXX";
  if (s.rank == 0) close(mkstemp(path));
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, s.control);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &common_file);
}

/// Blocks in a call that ends only when `peer` calls it as well.
void block(blocker b, int peer, bool first) {
  MPI_Comm made = MPI_COMM_NULL;
  int in = 1, out = 0;
  switch (b) {
    case blocker::recv:
    case blocker::probe:
      if (first) {
        if (b == blocker::probe) MPI_Probe(peer, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&in, 1, MPI_INT, peer, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Send(&in, 1, MPI_INT, peer, 50, MPI_COMM_WORLD);
      }
      break;
    case blocker::barrier:
      MPI_Barrier(MPI_COMM_WORLD);
      break;
    case blocker::allreduce:
      MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      break;
    case blocker::comm_dup:
      MPI_Comm_dup(MPI_COMM_WORLD, &made);
      break;
    case blocker::comm_split:
      MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
      break;
    case blocker::sendrecv:
      MPI_Sendrecv(&in, 1, MPI_INT, peer, 51, &out, 1, MPI_INT, peer, 51, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      break;
    case blocker::buffer_detach: {
      std::vector<unsigned char> bytes(large);
      if (first) {  // the end of `attached` waits until the bytes have left it
        attached_buffer attached(large + MPI_BSEND_OVERHEAD);
        MPI_Bsend(bytes.data(), as_int(large), MPI_BYTE, peer, 52, MPI_COMM_WORLD);
      } else {
        MPI_Recv(bytes.data(), as_int(large), MPI_BYTE, peer, 52, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
      }
      break;
    }
    case blocker::file_seek_shared:
      MPI_File_seek_shared(common_file, 0, MPI_SEEK_SET);
      break;
    case blocker::file_set_info: {
      MPI_Info info;
      MPI_Info_create(&info);
      MPI_File_set_info(common_file, info);
      MPI_Info_free(&info);
      break;
    }
  }
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}

/// Rank 0 has posted a receive and blocks elsewhere; rank 1 is blocked in a synchronous send to it
/// and joins only afterwards. The last rank takes part in collective blockers with nothing of its
/// own.
void receiver_blocked(suite& s, blocker b) {
  for (kind from : kinds())
    for (kind to : kinds())
      for (std::size_t bytes : {std::size_t{100}, std::size_t{480}, large}) {
        s.note("%s to %s, %zu bytes", name(from), name(to), bytes);
        if (s.rank == 0) {
          buffer in(to, bytes);
          in.clear();
          MPI_Request request;
          MPI_Irecv(in.data(), as_int(bytes), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
          block(b, 1, true);
          MPI_Status status;
          MPI_Wait(&request, &status);
          s.expect_status(status, 1, 1, bytes);
          s.expect_none(in.compare(identity(s, 1, 1), bytes));
        } else if (s.rank == 1) {
          buffer out(from, bytes);
          out.fill(identity(s, 1, 1));
          MPI_Ssend(out.data(), as_int(bytes), MPI_BYTE, 0, 1, MPI_COMM_WORLD);
          out.fill(0);
          block(b, 0, false);
        } else if (!is_pairwise(b)) {
          block(b, 0, false);
        }
      }
}

/// Rank 0 has sends under way and blocks elsewhere; rank 1 receives them first and then joins.
void sender_blocked(suite& s, blocker b) {
  for (kind from : kinds())
    for (kind to : kinds())
      for (std::size_t bytes : {std::size_t{100}, std::size_t{480}, large}) {
        s.note("%s to %s, %zu bytes", name(from), name(to), bytes);
        if (s.rank == 0) {
          buffer out(from, bytes);
          out.fill(identity(s, 0, 2));
          MPI_Request request;
          MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
          block(b, 1, true);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (s.rank == 1) {
          buffer in(to, bytes);
          in.clear();
          MPI_Status status;
          MPI_Recv(in.data(), as_int(bytes), MPI_BYTE, 0, 2, MPI_COMM_WORLD, &status);
          s.expect_status(status, 0, 2, bytes);
          s.expect_none(in.compare(identity(s, 0, 2), bytes));
          block(b, 0, false);
        } else if (!is_pairwise(b)) {
          block(b, 0, false);
        }
      }
}

}  // namespace

void blocked_ranks(suite& s) {
  open_common_file(s);
  for (blocker b : blockers) {
    s.run(std::string("receiver blocked in ") + name(b), [&] { receiver_blocked(s, b); });
    s.run(std::string("sender blocked in ") + name(b), [&] { sender_blocked(s, b); });
  }
  MPI_File_close(&common_file);
}

}  // namespace progress_test
