// SPDX-License-Identifier: BSD-3-Clause
// Receives and requests that end with an error: truncation in every form, what it leaves in the
// buffer, the status and the messages round it, and errors of one request among several.
#include "forms.hpp"
#include "returned_errors.hpp"

using namespace mpi_test;

namespace {

/// Open MPI 5.0.11 writes the whole message into a buffer that is too small once it is larger than
/// its eager limit; what reaches it as bytes cannot be tested there.
bool overruns(const suite& s, kind from, std::size_t bytes) {
  if (s.mpich || bytes <= 4000) return false;
  const char* path = std::getenv("TELPHER_PATH");
  const bool raw = path != nullptr && std::strcmp(path, "raw") == 0;
  return from != kind::device || raw || bytes <= 8192;
}

/// Receives of host memory with this tag are the host MPI's own until a ticket wants to come, and
/// so are their errors. After this one has wanted to, in both directions.
void meet_a_ticket(int peer, int tag, MPI_Comm comm) {
  buffer out(kinds().back(), 70000), in(kinds().back(), 70000);
  MPI_Sendrecv(out.data(), 70000, MPI_BYTE, peer, tag, in.data(), 70000, MPI_BYTE, peer, tag, comm,
               MPI_STATUS_IGNORE);
}

/// A message larger than the receive: MPI_ERR_TRUNCATE, nothing behind the buffer touched, and the
/// messages round it as if nothing had happened.
void truncation(suite& s, receive_form f) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, s.rank / 2, s.rank, &comm);
  if ((s.rank ^ 1) >= s.ranks) return static_cast<void>(MPI_Comm_free(&comm));
  const returned_errors returned;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int other = 1 - s.rank % 2;
  meet_a_ticket(other, 1, comm);
  constexpr std::size_t sent_sizes[] = {2, 8, 479, 480, 481, 3000, 5000, 100000, 300000};
  for (kind from : kinds())
    for (kind to : kinds())
      for (std::size_t bytes : sent_sizes) {
        if (overruns(s, from, bytes)) continue;
        // 40: not even a ticket's short form.
        const std::size_t room = bytes == 480 ? 479 : bytes == 100000 ? 40 : bytes / 2;
        s.note("%s to %s, %zu bytes into %zu", name(from), name(to), bytes, room);
        buffer out(from, bytes), in(to, room), after(to, bytes);
        out.fill(s.opt.seed + bytes);
        in.clear();
        after.clear();
        MPI_Request sends[2];
        MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, other, 1, comm, &sends[0]);
        MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, other, 1, comm, &sends[1]);
        MPI_Status status{};
        int code = MPI_SUCCESS;
        if (f == receive_form::recv) {
          code = MPI_Recv(in.data(), as_int(room), MPI_BYTE, other, 1, comm, &status);
        } else if (f == receive_form::irecv) {
          MPI_Request request;
          MPI_Irecv(in.data(), as_int(room), MPI_BYTE, other, 1, comm, &request);
          code = MPI_Wait(&request, &status);
          s.expect(request == MPI_REQUEST_NULL, "the handle becomes null");
        } else {
          MPI_Message message;
          MPI_Mprobe(other, 1, comm, &message, &status);
          s.expect_status(status, other, 1, bytes);
          code = MPI_Mrecv(in.data(), as_int(room), MPI_BYTE, &message, &status);
        }
        s.expect_class(code, MPI_ERR_TRUNCATE, "error class");
        // Whatever arrived must be a prefix; the guards must be whole.
        const std::string problem = in.compare(s.opt.seed + bytes, room);
        if (problem.compare(0, 5, "guard") == 0) s.expect_none(problem);
        code = MPI_Recv(after.data(), as_int(bytes), MPI_BYTE, other, 1, comm, &status);
        s.expect_class(code, MPI_SUCCESS, "the message behind");
        s.expect_status(status, other, 1, bytes);
        s.expect_none(after.compare(s.opt.seed + bytes, bytes));
        code = MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
        if (!s.mpich) s.expect_class(code, MPI_SUCCESS, "the sends");
      }
  MPI_Comm_free(&comm);
}

/// MPI_Testall of a generalized request whose status cannot be had, and of a receive: both end, and
/// the error stands in the one's status.
void error_of_the_host(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const returned_errors returned;
  const auto failing_query = [](void*, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return static_cast<int>(MPI_ERR_OTHER);
  };
  const auto free = [](void*) { return static_cast<int>(MPI_SUCCESS); };
  const auto cancel = [](void*, int) { return static_cast<int>(MPI_SUCCESS); };
  meet_a_ticket(peer, 48, MPI_COMM_WORLD);
  for (kind k : kinds())
    for (bool statuses : {true, false}) {
      s.note("%s, statuses %d", name(k), statuses);
      buffer out(k, 3000), in(k, 3000);
      out.fill(s.opt.seed);
      in.clear();
      MPI_Request requests[2], sent;
      MPI_Status list[2];
      MPI_Grequest_start(failing_query, free, cancel, nullptr, &requests[0]);
      MPI_Grequest_complete(requests[0]);
      MPI_Irecv(in.data(), 3000, MPI_BYTE, peer, 48, MPI_COMM_WORLD, &requests[1]);
      MPI_Isend(out.data(), 3000, MPI_BYTE, peer, 48, MPI_COMM_WORLD, &sent);
      int flag = 0, code = MPI_SUCCESS;
      while (flag == 0 && code == MPI_SUCCESS)
        code = MPI_Testall(2, requests, &flag, statuses ? list : MPI_STATUSES_IGNORE);
      s.expect_equal(flag, 1, "flag");
      s.expect(code != MPI_SUCCESS, "the error is returned");
      for (const MPI_Request& r : requests) s.expect(r == MPI_REQUEST_NULL, "the handle is null");
      if (statuses) {
        s.expect_class(code, MPI_ERR_IN_STATUS, "Testall");
        s.expect_class(list[0].MPI_ERROR, MPI_ERR_OTHER, "the generalized request");
        s.expect_class(list[1].MPI_ERROR, MPI_SUCCESS, "the receive");
        s.expect_status(list[1], peer, 48, 3000);
      }
      s.expect_none(in.compare(s.opt.seed, 3000));
      MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
}

/// A matched message is truncated in a communicator that returns errors: those of the others, which
/// end the job, are not asked.
void truncated_message(suite& s, bool blocks) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int peer = s.rank ^ 1;
  for (kind from : kinds())
    for (kind to : kinds())
      for (std::size_t bytes : {40, 3000, 300000}) {
        if (peer >= s.ranks || overruns(s, from, bytes)) continue;
        s.note("%s to %s, %zu bytes", name(from), name(to), bytes);
        buffer out(from, bytes), in(to, bytes / 2);
        out.fill(s.opt.seed);
        in.clear();
        MPI_Request sent, received;
        MPI_Message message;
        MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, peer, 1, comm, &sent);
        MPI_Mprobe(peer, 1, comm, &message, MPI_STATUS_IGNORE);
        int code = MPI_SUCCESS;
        if (blocks) {
          code = MPI_Mrecv(in.data(), as_int(bytes / 2), MPI_BYTE, &message, MPI_STATUS_IGNORE);
        } else {
          code = MPI_Imrecv(in.data(), as_int(bytes / 2), MPI_BYTE, &message, &received);
          if (code == MPI_SUCCESS) code = MPI_Wait(&received, MPI_STATUS_IGNORE);
        }
        s.expect_class(code, MPI_ERR_TRUNCATE, "error class");
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
      }
  MPI_Comm_free(&comm);
}

/// One of several receives is truncated: MPI_ERR_IN_STATUS, and each status says which.
void error_in_status(suite& s, bool some) {
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, s.rank / 2, s.rank, &pair);
  if ((s.rank ^ 1) >= s.ranks) return static_cast<void>(MPI_Comm_free(&pair));
  MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
  const returned_errors returned;
  const int other = 1 - s.rank % 2;
  for (int tag = 0; tag < 3; ++tag) meet_a_ticket(other, tag, pair);
  for (kind from : kinds())
    for (kind to : kinds()) {
      s.note("%s to %s", name(from), name(to));
      constexpr std::size_t bytes[3] = {5000, 3000, 480};
      constexpr std::size_t room[3] = {5000, 2000, 480};
      std::vector<buffer> out, in;
      MPI_Request receives[3], sends[3];
      MPI_Status statuses[3];
      for (std::size_t i = 0; i < 3; ++i) {
        out.emplace_back(from, bytes[i]);
        in.emplace_back(to, room[i]);
        out[i].fill(s.opt.seed + i);
        in[i].clear();
        MPI_Irecv(in[i].data(), as_int(room[i]), MPI_BYTE, other, as_int(i), pair, &receives[i]);
      }
      for (std::size_t i = 0; i < 3; ++i)
        MPI_Isend(out[i].data(), as_int(bytes[i]), MPI_BYTE, other, as_int(i), pair, &sends[i]);
      int errors[3] = {-1, -1, -1};
      int code = MPI_SUCCESS;
      if (some) {
        for (int left = 3; left > 0;) {
          int count = 0, indices[3];
          code = MPI_Waitsome(3, receives, &count, indices, statuses);
          if (count == MPI_UNDEFINED) break;
          for (int i = 0; i < count; ++i)
            errors[indices[i]] = code == MPI_SUCCESS ? MPI_SUCCESS : statuses[i].MPI_ERROR;
          left -= count;
        }
      } else {
        code = MPI_Waitall(3, receives, statuses);
        s.expect_class(code, MPI_ERR_IN_STATUS, "Waitall");
        for (int i = 0; i < 3; ++i) errors[i] = statuses[i].MPI_ERROR;
        for (std::size_t i = 0; i < 3; ++i) {
          if (errors[i] != MPI_ERR_PENDING) continue;  // allowed: complete it on its own
          errors[i] = MPI_Wait(&receives[i], &statuses[i]);
        }
      }
      s.expect_class(errors[0], MPI_SUCCESS, "first receive");
      s.expect_class(errors[1], MPI_ERR_TRUNCATE, "truncated receive");
      s.expect_class(errors[2], MPI_SUCCESS, "third receive");
      s.expect_none(in[0].compare(s.opt.seed, bytes[0]));
      s.expect_none(in[2].compare(s.opt.seed + 2, bytes[2]));
      for (MPI_Request& r : sends) MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
  MPI_Comm_free(&pair);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  for (receive_form f : {receive_form::recv, receive_form::irecv, receive_form::mrecv})
    s.run(std::string("truncation ") + name(f), [&] { truncation(s, f); });
  for (bool blocks : {true, false})
    s.run(blocks ? "truncated message, Mrecv" : "truncated message, Imrecv",
          [&] { truncated_message(s, blocks); });
  s.run("error in status, Waitall", [&] { error_in_status(s, false); });
  s.run("error in status, Waitsome", [&] { error_in_status(s, true); });
  // Where no message is ever a ticket, receives of host memory and their errors are the host MPI's.
  const char* const path = std::getenv("TELPHER_PATH");
  if (!path || std::strcmp(path, "raw") != 0)
    s.run("error of the host, Testall", [&] { error_of_the_host(s); });
  return s.finish();
}
