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

/// MPI_Isend comes back while the stream of its communicator is still held, and the receiver gets
/// what the stream writes later.
void sends_do_not_wait(suite& s) {
  const char* const text = std::getenv("TELPHER_SYNC");
  if (text && std::strcmp(text, "auto") && std::strcmp(text, "stream")) return;
  const test_stream stream;
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  STREAM_CALL(telpher_stream_set)(comm, stream);
  constexpr int sizes[] = {8, size, 3000000};
  for (int round = 0; round < 3 && s.rank < 2; ++round)
    for (const int n : sizes) {
      bytes data(static_cast<std::size_t>(n), old_byte);
      if (s.rank == 1) {
        MPI_Recv(data.data(), n, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE);
        s.expect(data.all(new_byte + round), "what the stream wrote before the message");
        continue;
      }
      gate g;
      g.hold(stream);
      stream.set(data.data(), new_byte + round, static_cast<std::size_t>(n));
      MPI_Request r;
      MPI_Isend(data.data(), n, MPI_BYTE, 1, 1, comm, &r);
      int flag = 1;
      MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
      s.expect(!flag, "a message that its stream has not got to yet");
      g.open();
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      stream.wait();
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
  suite s(&argc, &argv, 2);
  s.run("forgotten", [&] { settled(s); });
  s.run("sends do not wait", [&] { sends_do_not_wait(s); });
  s.run("default stream", [&] { default_stream(s); });
  return s.finish();
}
