// SPDX-License-Identifier: BSD-3-Clause
// A program that forgets to synchronise: its stream is held up while it calls MPI, so that without
// help a call certainly meets the old bytes, and with TELPHER_SYNC or a named stream certainly the
// new ones. Run for each value of the setting.
#include "stream_calls.hpp"

using namespace mpi_test;

namespace {

constexpr int old_byte = 1, new_byte = 7, size = 30000;

/// One call that reads `data`, with work of the stream on `data` still to come. `waits`: it is
/// expected to wait; then another thread lets the stream go on meanwhile.
template <class Call>
void forget(const test_stream& stream, bytes& data, bool waits, const Call& call) {
  data.set(old_byte);
  gate g;
  g.hold(stream);
  stream.set(data.data(), new_byte, size);
  std::thread opener;
  if (waits)
    opener = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      g.open();
    });
  call();
  if (waits) opener.join();
  g.open();
  stream.wait();
}

/// Rank 0 sends in several ways; `what` says how the stream is known to the communicator.
void forgotten(suite& s, MPI_Comm comm, const test_stream& stream, bool waits, const char* what) {
  bytes data(size, old_byte), in(size, 0);
  const int wanted = waits ? new_byte : old_byte;
  const auto check = [&](const char* call) {
    if (s.rank == 1 && !in.all(wanted)) s.fail("%s, %s: not what was expected", what, call);
    MPI_Barrier(s.control);
  };
  const auto receive = [&] { MPI_Recv(in.data(), size, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE); };
  if (s.rank == 0)
    forget(stream, data, waits, [&] { MPI_Send(data.data(), size, MPI_BYTE, 1, 1, comm); });
  if (s.rank == 1) receive();
  check("MPI_Send");
  if (s.rank == 0)
    forget(stream, data, waits, [&] {
      MPI_Request r;
      MPI_Isend(data.data(), size, MPI_BYTE, 1, 1, comm, &r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    });
  if (s.rank == 1) receive();
  check("MPI_Isend");
  if (s.rank == 0) {
    MPI_Request r;
    MPI_Send_init(data.data(), size, MPI_BYTE, 1, 1, comm, &r);
    forget(stream, data, waits, [&] {
      MPI_Start(&r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    });
    MPI_Request_free(&r);
  }
  if (s.rank == 1) receive();
  check("MPI_Start");
  if (!waits) return;  // a collective may wait for the device, and the stream is held up
  if (s.rank == 0)
    forget(stream, data, waits, [&] { MPI_Bcast(data.data(), size, MPI_BYTE, 0, comm); });
  else
    MPI_Bcast(in.data(), size, MPI_BYTE, 0, comm);
  check("MPI_Bcast");
}

void settled(suite& s) {
  const char* const text = std::getenv("TELPHER_SYNC");
  const std::string mode = text ? text : "auto";
  const test_stream stream;
  MPI_Comm plain, set, dup, keyed;
  MPI_Comm_dup(s.control, &plain);
  forgotten(s, plain, stream, mode == "device", "no stream is named");
  MPI_Comm_dup(s.control, &set);
  STREAM_CALL(telpher_stream_set)(set, stream);
  forgotten(s, set, stream, mode != "off", "telpher_stream_set");
  MPI_Comm_dup(set, &dup);
  forgotten(s, dup, stream, mode != "off", "its duplicate");
  STREAM_CALL(telpher_stream_unset)(set);
  int flag = 1;
  void* found = nullptr;
  STREAM_CALL(telpher_stream_get)(set, &found, &flag);
  s.expect(!flag, "the stream is named no more");
  STREAM_CALL(telpher_stream_get)(dup, &found, &flag);
  s.expect(flag && found == static_cast<void*>(stream), "the duplicate's stream");
  MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
  s.expect_class(STREAM_CALL(telpher_stream_get)(dup, nullptr, &flag), MPI_ERR_ARG, "no place");
  char handle[64];
  std::snprintf(handle, sizeof handle, "%p", static_cast<void*>(stream));
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "telpher_stream", handle);
  MPI_Comm_dup_with_info(s.control, info, &keyed);
  MPI_Info_free(&info);
  forgotten(s, keyed, stream, mode != "off", "the info key");
  for (MPI_Comm* c : {&plain, &set, &dup, &keyed}) MPI_Comm_free(c);
}

/// Whether this run's calls wait for a named stream, and for nothing else that a gate could hold.
bool named_streams_alone() {
  const char* const text = std::getenv("TELPHER_SYNC");
  return !text || !std::strcmp(text, "auto") || !std::strcmp(text, "stream");
}

/// Rank 0's send comes back while the stream of its communicator is still held, and the receiver
/// gets what the stream writes later. `make(data, bytes, comm, start)` makes the request; `start`
/// says whether it is persistent.
template <class Make, class Receive>
void held_sends(suite& s, int rounds, const Make& make, const Receive& receive) {
  const test_stream stream;
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  STREAM_CALL(telpher_stream_set)(comm, stream);
  for (const int n : {8, size, 3000000}) {
    bytes data(static_cast<std::size_t>(n), old_byte);
    if (s.rank == 1) receive(data, comm, rounds);
    if (s.rank != 0) continue;
    MPI_Request r = MPI_REQUEST_NULL;
    gate g;
    for (int round = 0; round < rounds; ++round) {
      g.hold(stream);
      stream.set(data.data(), new_byte + round, static_cast<std::size_t>(n));
      make(data, comm, &r);
      int flag = 1;
      MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
      s.expect(!flag, "a message that its stream has not got to yet");
      g.open();
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      stream.wait();
    }
    if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
  }
  MPI_Comm_free(&comm);
}

/// Receives the bytes without those between them.
template <int every>
void receive_held(suite& s, const bytes& data, MPI_Comm comm, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Recv(data.data(), data.count() / every, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE);
    s.expect(data.all(new_byte + round, 0, static_cast<std::size_t>(data.count() / every)),
             "what the stream wrote before the message");
  }
}

void sends_do_not_wait(suite& s) {
  if (!named_streams_alone()) return;
  held_sends(
      s, 3,
      [](const bytes& data, MPI_Comm comm, MPI_Request* r) {
        MPI_Isend(data.data(), data.count(), MPI_BYTE, 1, 1, comm, r);
      },
      [&](const bytes& d, MPI_Comm comm, int rounds) { receive_held<1>(s, d, comm, rounds); });
}

void starts_do_not_wait(suite& s) {
  if (!named_streams_alone()) return;
  for (const bool all : {false, true})
    held_sends(
        s, 3,
        [&](const bytes& data, MPI_Comm comm, MPI_Request* r) {
          if (*r == MPI_REQUEST_NULL)
            MPI_Send_init(data.data(), data.count(), MPI_BYTE, 1, 1, comm, r);
          all ? MPI_Startall(1, r) : MPI_Start(r);
        },
        [&](const bytes& d, MPI_Comm comm, int rounds) { receive_held<1>(s, d, comm, rounds); });
}

/// The kernel that packs has to wait as well.
void gaps_do_not_wait(suite& s) {
  if (!named_streams_alone()) return;
  const auto second_bytes = [](const bytes& data) {
    MPI_Datatype type;
    MPI_Type_vector(data.count() / 2, 1, 2, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
  };
  for (const bool persistent : {false, true})
    held_sends(
        s, 3,
        [&](const bytes& data, MPI_Comm comm, MPI_Request* r) {
          MPI_Datatype type = second_bytes(data);
          if (!persistent)
            MPI_Isend(data.data(), 1, type, 1, 1, comm, r);
          else if (*r == MPI_REQUEST_NULL)
            MPI_Send_init(data.data(), 1, type, 1, 1, comm, r);
          if (persistent) MPI_Start(r);
          MPI_Type_free(&type);
        },
        [&](const bytes& d, MPI_Comm comm, int rounds) { receive_held<2>(s, d, comm, rounds); });
}

#if MPI_TEST_HAS_MPI_4
constexpr int partitions = 4;

void receive_partitions(suite& s, const bytes& data, MPI_Comm comm, int rounds) {
  MPI_Request r;
  MPI_Precv_init(data.data(), 1, data.count(), MPI_BYTE, 0, 1, comm, MPI_INFO_NULL, &r);
  for (int round = 0; round < rounds; ++round) {
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    s.expect(data.all(new_byte + round), "what the stream wrote before the partitions");
  }
  MPI_Request_free(&r);
}

/// Neither the start nor the marks wait.
void marks_do_not_wait(suite& s) {
  if (!named_streams_alone()) return;
  held_sends(
      s, 3,
      [](const bytes& data, MPI_Comm comm, MPI_Request* r) {
        if (*r == MPI_REQUEST_NULL)
          MPI_Psend_init(data.data(), partitions, data.count() / partitions, MPI_BYTE, 1, 1, comm,
                         MPI_INFO_NULL, r);
        MPI_Start(r);
        MPI_Pready(0, *r);
        MPI_Pready_range(1, 2, *r);
        int last = 3;
        MPI_Pready_list(1, &last, *r);
      },
      [&](const bytes& d, MPI_Comm comm, int rounds) { receive_partitions(s, d, comm, rounds); });
}
#else
void marks_do_not_wait(suite&) {}
#endif

/// A send that waits in the call, for a stream that waits for a message: another thread moves it.
void behind_a_message(suite& s) {
  if (s.provided < MPI_THREAD_MULTIPLE || !named_streams_alone()) return;
  const test_stream stream;
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  STREAM_CALL(telpher_stream_set)(comm, stream);
  bytes data(8, old_byte);
  if (s.rank == 0) {
    STREAM_CALL(telpher_recv_enqueue)
    (data.data(), 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, stream);
    MPI_Send(data.data(), 8, MPI_BYTE, 1, 2, comm);
    stream.wait();
  } else if (s.rank == 1) {
    data.set(new_byte);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    MPI_Send(data.data(), 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    data.set(old_byte);
    MPI_Recv(data.data(), 8, MPI_BYTE, 0, 2, comm, MPI_STATUS_IGNORE);
    s.expect(data.all(new_byte), "what the stream got before it was sent on");
  }
  MPI_Comm_free(&comm);
}

/// The default stream, which is waited for from `stream` on.
void default_stream(suite& s) {
  const char* const text = std::getenv("TELPHER_SYNC");
  const bool waits = text && (!std::strcmp(text, "stream") || !std::strcmp(text, "device"));
  if (!waits || s.rank > 1) return;
  bytes data(size, old_byte);
  if (s.rank == 0) {
    gate g;
    g.hold(nullptr);
    STREAM_CALL(telpher_memset_async)(data.data(), new_byte, size, nullptr);
    std::thread opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      g.open();
    });
    MPI_Send(data.data(), size, MPI_BYTE, 1, 1, s.control);
    opener.join();
  } else {
    MPI_Recv(data.data(), size, MPI_BYTE, 0, 1, s.control, MPI_STATUS_IGNORE);
    s.expect(data.all(new_byte), "the default stream's work");
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  s.run("forgotten", [&] { settled(s); });
  s.run("sends do not wait", [&] { sends_do_not_wait(s); });
  s.run("starts do not wait", [&] { starts_do_not_wait(s); });
  s.run("gaps do not wait", [&] { gaps_do_not_wait(s); });
  s.run("marks do not wait", [&] { marks_do_not_wait(s); });
  s.run("behind a message", [&] { behind_a_message(s); });
  s.run("default stream", [&] { default_stream(s); });
  return s.finish();
}
