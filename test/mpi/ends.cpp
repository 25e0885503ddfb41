// SPDX-License-Identifier: BSD-3-Clause
// Messages that end otherwise than by a receive, and who hears of errors: cancelled sends, messages
// of communicators that are freed, error handlers that use messages themselves, and the handler of
// the object that a call was made on.
#include <unistd.h>

#include <utility>

#include "emulated.hpp"
#include "suite.hpp"

using namespace mpi_test;

namespace {

void set_faults(const char* text) {
  static auto* const set = emulated<void(const char*)>("telpher_emu_faults");
  if (set == nullptr) memory_failure("telpher_emu_faults", 0, TELPHER_ERR_MEMORY);
  set(text);
}

buffer message(std::size_t bytes, int id) {
  buffer b(kind::device, bytes);
  b.fill(static_cast<std::uint64_t>(id));
  return b;
}

void receive(suite& s, std::size_t bytes, int id, int source, int tag, MPI_Comm comm) {
  buffer in(kind::device, bytes);
  in.clear();
  MPI_Status status;
  MPI_Recv(in.data(), as_int(bytes), MPI_BYTE, source, tag, comm, &status);
  s.expect_status(status, source, tag, bytes);
  s.expect_none(in.compare(static_cast<std::uint64_t>(id), bytes));
}

/// Rank 0 waits for its cancelled send before rank 1 looks for the message.
void cancelled(suite& s, bool persistent) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{70000}, std::size_t{4000000}}) {
    s.note("%zu bytes", bytes);
    if (s.rank == 0) {
      const buffer out = message(bytes, 7);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Status status;
      if (persistent) {
        MPI_Send_init(out.data(), as_int(bytes), MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
      } else {
        MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
      }
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      int flag = -1;
      MPI_Test_cancelled(&status, &flag);
      s.expect_equal(flag, 0, "cancelled");
      if (persistent) MPI_Request_free(&request);
    }
    if (s.rank < 2) s.meet(1 - s.rank);
    if (s.rank == 1) receive(s, bytes, 7, 0, 3, MPI_COMM_WORLD);
  }
}

/// Messages that rank 1 has probed and not received when the communicator is freed. Another one
/// that gets its handle must not deliver them, and their sender is done.
void freed_communicator(suite& s, kind k, std::size_t bytes) {
  MPI_Comm before, after;
  MPI_Comm_dup(MPI_COMM_WORLD, &before);
  const int n = as_int(bytes);
  buffer old(k, bytes), fresh(k, bytes), in(k, bytes);
  old.fill(1);
  fresh.fill(2);
  in.clear();
  unsigned char older[100] = {};
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (s.rank == 0) {  // the older one is taken out of the host MPI as well
    MPI_Isend(older, sizeof older, MPI_BYTE, 1, 4, before, &requests[0]);
    MPI_Isend(old.data(), n, MPI_BYTE, 1, 5, before, &requests[1]);
  }
  for (int flag = s.rank != 1; flag == 0;) {
    MPI_Status status;
    MPI_Iprobe(0, 5, before, &flag, &status);
    if (flag != 0) s.expect_status(status, 0, 5, bytes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&before);
  MPI_Comm_dup(MPI_COMM_WORLD, &after);
  if (s.rank == 0) {
    MPI_Send(fresh.data(), n, MPI_BYTE, 1, 5, after);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  if (s.rank == 1) {
    MPI_Recv(in.data(), n, MPI_BYTE, 0, 5, after, MPI_STATUS_IGNORE);
    s.expect_none(in.compare(2, bytes));
  }
  MPI_Comm_free(&after);
}

// --- handlers ---

suite* running = nullptr;
int calls = 0;
int last_code = MPI_SUCCESS;
bool waits = false;

void heard(int code) {
  ++calls;
  last_code = code;
  if (!std::exchange(waits, false)) return;
  set_faults("");
  receive(*running, 70000, 9, 1, 8, MPI_COMM_WORLD);
}
void on_communicator(MPI_Comm*, int* code, ...) {
  heard(*code);
}
void on_window(MPI_Win*, int* code, ...) {
  heard(*code);
}
void on_file(MPI_File*, int* code, ...) {
  heard(*code);
}

MPI_Comm with_handler() {
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(on_communicator, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  calls = 0;
  last_code = MPI_SUCCESS;
  return comm;
}

void expect_raised(suite& s, int times, int error_class, const char* call) {
  s.expect_equal(calls, times, "calls of the handler");
  if (error_class != MPI_SUCCESS) s.expect_class(last_code, error_class, "the handler's code");
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(last_code, text, &length);
  if (call != nullptr && std::strstr(text, call) == nullptr)
    s.fail("the text \"%s\" does not name %s", text, call);
}

/// A host message that is too long is found while rank 0 waits for another: the error is raised
/// once, by the call that completes it, on its own communicator; the handler waits for a device
/// message.
void too_long(suite& s) {
  MPI_Comm comm = with_handler();
  unsigned char small[2000] = {};
  if (s.rank == 0) {
    MPI_Request request;
    MPI_Irecv(small, 1000, MPI_BYTE, 1, 6, comm, &request);
    s.meet(1);
    for (int i = 0; i < 20; ++i) receive(s, 70000, i, 1, 7, MPI_COMM_WORLD);
    s.expect_equal(calls, 0, "errors of calls that had none");
    waits = true;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_raised(s, 1, MPI_ERR_TRUNCATE, nullptr);
  } else if (s.rank == 1) {
    s.meet(0);
    MPI_Request request;
    MPI_Isend(small, sizeof small, MPI_BYTE, 0, 6, comm, &request);
    for (int i = 0; i < 20; ++i) {
      const buffer out = message(70000, i);
      MPI_Send(out.data(), 70000, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
    }
    const buffer last = message(70000, 9);
    MPI_Send(last.data(), 70000, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&comm);
}

/// A collective that turns out to be the host MPI's cannot be staged: the error is raised while
/// messages are moved, and its handler waits for one.
void in_progress(suite& s) {
  MPI_Comm comm = with_handler();
  constexpr int n = 5000;
  const kind k = s.rank == 0 ? kind::device : kind::host;
  buffer in(k, n * sizeof(int)), out(k, n * sizeof(int));
  MPI_Request request;
  if (s.rank == 0) {
    MPI_Iallreduce(in.data(), out.data(), n, MPI_INT, MPI_SUM, comm, &request);
    waits = true;
    set_faults("memcpy:1+");  // until the handler is called
    s.meet(1);
    const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    set_faults("");
    s.expect(code != MPI_SUCCESS, "an error");
    expect_raised(s, 1, MPI_SUCCESS, "MPI_Iallreduce");
    std::vector<int> a(n), b(n);  // the others are in it
    PMPI_Iallreduce(a.data(), b.data(), n, MPI_INT, MPI_SUM, comm, &request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    const buffer for_handler = message(70000, 9);
    s.meet(0);
    MPI_Iallreduce(in.data(), out.data(), n, MPI_INT, MPI_SUM, comm, &request);
    MPI_Send(for_handler.data(), 70000, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&comm);
}

/// A device that fails in the middle of a send.
void failing_send(suite& s, bool persistent) {
  MPI_Comm comm = with_handler();
  constexpr int bytes = 4000000;
  buffer data(kind::device, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  if (s.rank == 0 && persistent) {
    MPI_Send_init(data.data(), bytes, MPI_BYTE, 1, 2, comm, &request);
    MPI_Start(&request);
  } else if (s.rank == 0) {
    MPI_Isend(data.data(), bytes, MPI_BYTE, 1, 2, comm, &request);
  }
  if (s.rank == 0) {
    set_faults("memcpy:1+");
    MPI_Cancel(&request);  // so that it is this rank which copies
    last_code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    set_faults("");
    expect_raised(s, 1, MPI_ERR_OTHER, persistent ? "MPI_Send_init" : "MPI_Isend");
    if (persistent) MPI_Request_free(&request);
  }
  s.meet(1 - s.rank);
  if (s.rank == 1) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const int code = MPI_Recv(data.data(), bytes, MPI_BYTE, 0, 2, comm, MPI_STATUS_IGNORE);
    s.expect(code != MPI_SUCCESS, "the receiver's error");
  }
  MPI_Comm_free(&comm);
}

/// The same at both ends of a message whose communicator's handle is no more; a sender whose part
/// was done knows of nothing. MPICH does not let a communicator go that has messages which nobody
/// has asked for.
void failing_after_free(suite& s) {
  MPI_Comm comm = with_handler();
  constexpr int bytes = 4000000;
  const buffer data(kind::device, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  if (s.rank == 1) MPI_Irecv(data.data(), bytes, MPI_BYTE, 0, 2, comm, &request);
  set_faults("memcpy:1+,launch:1+");
  if (s.rank == 0) MPI_Isend(data.data(), bytes, MPI_BYTE, 1, 2, comm, &request);
  MPI_Comm_free(&comm);
  last_code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  set_faults("");
  s.expect_equal(calls, 0, "calls of the handler");
  if (s.rank == 1) expect_raised(s, 0, MPI_ERR_OTHER, "MPI_Irecv");
}

void window_and_file(suite& s) {
  const buffer data = message(64, 1);
  MPI_Win window;
  MPI_Errhandler handler;
  MPI_Win_create(data.data(), 64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
  MPI_Win_create_errhandler(on_window, &handler);
  MPI_Win_set_errhandler(window, handler);
  MPI_Errhandler_free(&handler);
  calls = 0;
  s.expect(MPI_Put(data.data(), 4, MPI_INT, 0, 0, 4, MPI_INT, window) != MPI_SUCCESS, "an error");
  expect_raised(s, 1, MPI_ERR_RMA_SYNC, "MPI_Put");
  MPI_Win_free(&window);

  MPI_File file;
  const std::string path = "/tmp/telpher-ends-" + std::to_string(getpid());
  MPI_File_open(MPI_COMM_SELF, path.c_str(),
                MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_create_errhandler(on_file, &handler);
  MPI_File_set_errhandler(file, handler);
  MPI_Errhandler_free(&handler);
  calls = 0;
  set_faults("memcpy:1+");
  const int code = MPI_File_write(file, data.data(), 4, MPI_INT, MPI_STATUS_IGNORE);
  set_faults("");
  s.expect(code != MPI_SUCCESS, "an error");
  expect_raised(s, 1, MPI_ERR_OTHER, "MPI_File_write");
  MPI_File_close(&file);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  running = &s;
  s.run("cancelled sends", [&] { cancelled(s, false); });
  s.run("cancelled persistent sends", [&] { cancelled(s, true); });
  for (const std::size_t bytes : {std::size_t{48}, std::size_t{480}, std::size_t{70000}})
    for (const kind k : {kind::host, kind::device})
      if (k == kind::device || bytes < 500)  // a host MPI need not buffer more
        s.run("freed communicator, " + std::to_string(bytes) + " bytes, " + name(k),
              [&] { freed_communicator(s, k, bytes); });
  s.run("too long", [&] { too_long(s); });
  s.run("handler in progress", [&] { in_progress(s); });
  s.run("failing send", [&] { failing_send(s, false); });
  s.run("failing send, persistent", [&] { failing_send(s, true); });
  s.run("failing message, freed communicator", [&] { failing_after_free(s); });
  s.run("window and file", [&] { window_and_file(s); });
  return s.finish();
}
