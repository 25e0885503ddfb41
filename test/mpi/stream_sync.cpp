// SPDX-License-Identifier: BSD-3-Clause
// A program that forgets to synchronise: its stream is held up while it calls MPI, so that without
// help a call certainly meets the old bytes, and with TELPHER_SYNC or a named stream certainly the
// new ones. Run for each value of the setting.
#include "stream_calls.hpp"

using namespace mpi_test;

namespace {

constexpr int old_byte = 1, new_byte = 7, size = 30000;

/// The device's default stream, as a test_stream.
class legacy_stream {
 public:
  operator void*() const { return nullptr; }
  void wait() const { STREAM_CALL(telpher_stream_synchronize)(nullptr); }
  void set(void* to, int byte, std::size_t bytes) const {
    STREAM_CALL(telpher_memset_async)(to, byte, bytes, nullptr);
  }
  void copy(void* to, const void* from, std::size_t bytes) const {
    STREAM_CALL(telpher_memcpy_async)(to, from, bytes, nullptr);
  }
};

/// One call, with work of the stream on its buffer still to come. `waits`: it is expected to wait;
/// then another thread lets the stream go on meanwhile.
template <class Stream, class Work, class Call>
void forget(const Stream& stream, bool waits, const Work& work, const Call& call) {
  gate g;
  g.hold(stream);
  work();
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

/// Calls of rank 0 that read what its stream has still to write, and rank 1 looks at what it got;
/// or that overwrite what the stream has still to read. Rank 0, because the emulated default stream
/// is one of device 0.
template <class Stream>
class forgetful {
 public:
  /// `what` says how the stream is known to the communicator.
  forgetful(suite& s, MPI_Comm comm, const Stream& stream, bool waits, const char* what)
      : s_(s), comm_(comm), stream_(stream), waits_(waits), what_(what) {}

  void sends() {
    message("MPI_Send", [&] { MPI_Send(data_.data(), size, MPI_BYTE, 1, 1, comm_); });
    message("MPI_Isend", [&] {
      MPI_Request r;
      MPI_Isend(data_.data(), size, MPI_BYTE, 1, 1, comm_, &r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    });
    MPI_Request r = MPI_REQUEST_NULL;
    if (s_.rank == 0) MPI_Send_init(data_.data(), size, MPI_BYTE, 1, 1, comm_, &r);
    message("MPI_Start", [&] {
      MPI_Start(&r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    });
    if (s_.rank == 0) MPI_Request_free(&r);
  }
  void collectives() {
    call(
        "MPI_Bcast", [&] { MPI_Bcast(data_.data(), size, MPI_BYTE, 0, comm_); },
        [&] { MPI_Bcast(in_.data(), size, MPI_BYTE, 0, comm_); });
    call(
        "MPI_Allreduce", [&] { combine(data_.data(), other_.data()); },
        [&] { combine(other_.data(), in_.data()); });
  }
  /// The stream has still to read what the call overwrites. Only where calls wait.
  void receives() {
    bytes kept(size, 0);
    for (const bool persistent : {false, true}) {
      in_.set(old_byte);
      data_.set(new_byte);
      MPI_Barrier(s_.control);
      if (s_.rank == 1) MPI_Send(data_.data(), size, MPI_BYTE, 0, 1, comm_);
      if (s_.rank != 0) continue;
      const auto read = [&] { stream_.copy(kept.data(), in_.data(), size); };
      forget(stream_, waits_, read, [&] { receive(1, persistent); });
      if (!kept.all(old_byte) || !in_.all(new_byte))
        s_.fail("%s, %s: not what was expected", what_,
                persistent ? "a started receive" : "MPI_Recv");
    }
    MPI_Barrier(s_.control);
  }

 private:
  template <class Here, class There>
  void call(const char* name, const Here& here, const There& there) {
    in_.set(0);
    data_.set(old_byte);
    if (s_.rank == 0)
      forget(
          stream_, waits_, [&] { stream_.set(data_.data(), new_byte, size); }, here);
    else
      there();
    if (s_.rank == 1 && !in_.all(waits_ ? new_byte : old_byte))
      s_.fail("%s, %s: not what was expected", what_, name);
    MPI_Barrier(s_.control);
  }
  template <class Send>
  void message(const char* name, const Send& send) {
    call(name, send, [&] { receive(0, false); });
  }
  void receive(int from, bool persistent) {
    if (!persistent) {
      MPI_Recv(in_.data(), size, MPI_BYTE, from, 1, comm_, MPI_STATUS_IGNORE);
      return;
    }
    MPI_Request r;
    MPI_Recv_init(in_.data(), size, MPI_BYTE, from, 1, comm_, &r);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
  }
  void combine(const void* from, void* to) {
    MPI_Allreduce(from, to, size, MPI_UNSIGNED_CHAR, MPI_BOR, comm_);
  }

  suite& s_;
  MPI_Comm comm_;
  const Stream& stream_;
  const bool waits_;
  const char* const what_;
  bytes data_{size, old_byte}, in_{size, 0}, other_{size, 0};
};

void forgotten(suite& s, MPI_Comm comm, const test_stream& stream, bool waits, const char* what) {
  forgetful calls(s, comm, stream, waits, what);
  calls.sends();
  if (!waits) return;  // the others may wait for the device, and the stream is held up
  calls.receives();
  calls.collectives();
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
  if (!s.has_threads() || !named_streams_alone()) return;
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
  if (!waits) return;
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  const legacy_stream stream;
  forgetful calls(s, comm, stream, waits, "the default stream");
  calls.sends();
  calls.receives();
  calls.collectives();
  MPI_Comm_free(&comm);
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
