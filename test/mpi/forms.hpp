// SPDX-License-Identifier: BSD-3-Clause
// Every form of sending and receiving as a table, so that the tests can run all pairs of them: a
// form is started, which gives a request or completes at once, and then finished.
#pragma once

#include "suite.hpp"

namespace mpi_test {

struct send_form {
  const char* name;
  int (*blocking)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
  int (*requesting)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  bool persistent;
  bool ready;     // the receive must be there first
  bool buffered;  // needs an attached buffer
};

inline constexpr send_form send_forms[] = {
    {"Send", MPI_Send, nullptr, false, false, false},
    {"Ssend", MPI_Ssend, nullptr, false, false, false},
    {"Bsend", MPI_Bsend, nullptr, false, false, true},
    {"Rsend", MPI_Rsend, nullptr, false, true, false},
    {"Isend", nullptr, MPI_Isend, false, false, false},
    {"Issend", nullptr, MPI_Issend, false, false, false},
    {"Ibsend", nullptr, MPI_Ibsend, false, false, true},
    {"Irsend", nullptr, MPI_Irsend, false, true, false},
    {"Send_init", nullptr, MPI_Send_init, true, false, false},
    {"Ssend_init", nullptr, MPI_Ssend_init, true, false, false},
    {"Bsend_init", nullptr, MPI_Bsend_init, true, false, true},
    {"Rsend_init", nullptr, MPI_Rsend_init, true, true, false},
};

enum class receive_form {
  recv,
  irecv,
  recv_init,
  mrecv,
  imrecv,
  probe_recv,
  iprobe_irecv,
  improbe
};

inline constexpr receive_form receive_forms[] = {
    receive_form::recv,         receive_form::irecv,  receive_form::recv_init,
    receive_form::mrecv,        receive_form::imrecv, receive_form::probe_recv,
    receive_form::iprobe_irecv, receive_form::improbe};

inline const char* name(receive_form f) {
  static constexpr const char* names[] = {"Recv",   "Irecv",      "Recv_init",    "Mrecv",
                                          "Imrecv", "Probe+Recv", "Iprobe+Irecv", "Improbe+Mrecv"};
  return names[static_cast<int>(f)];
}
/// The forms whose start returns before the message was sent, so that a ready send may follow.
inline bool posts(receive_form f) {
  return f == receive_form::irecv || f == receive_form::recv_init;
}

/// One end of a message: a request that is still open, or a completed status.
struct pending {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  bool persistent = false;
  bool open = false;
};

struct envelope {
  int peer;
  int tag;
  MPI_Comm comm;
};

inline pending start(const send_form& f, const void* data, std::size_t bytes, const envelope& to) {
  pending p;
  p.persistent = f.persistent;
  p.open = f.requesting != nullptr;
  if (f.blocking != nullptr)
    f.blocking(data, as_int(bytes), MPI_BYTE, to.peer, to.tag, to.comm);
  else
    f.requesting(data, as_int(bytes), MPI_BYTE, to.peer, to.tag, to.comm, &p.request);
  if (f.persistent) MPI_Start(&p.request);
  return p;
}

/// What a probe reported, and how much of it may be received.
struct probed_size {
  int got = -1;  // -1: the form does not probe
  int room = 0;
  void take(const MPI_Status& status, std::size_t capacity) {
    MPI_Get_count(&status, MPI_BYTE, &got);
    room = got < as_int(capacity) ? got : as_int(capacity);
  }
};

/// Receives in form `f`. Probing forms put the probed size into `probed` and receive with a count
/// of exactly that size.
inline pending start(receive_form f, void* data, std::size_t capacity, const envelope& from,
                     probed_size& probed) {
  pending p;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status{};
  int flag = 0;
  switch (f) {
    case receive_form::recv:
      MPI_Recv(data, as_int(capacity), MPI_BYTE, from.peer, from.tag, from.comm, &p.status);
      break;
    case receive_form::irecv:
      MPI_Irecv(data, as_int(capacity), MPI_BYTE, from.peer, from.tag, from.comm, &p.request);
      p.open = true;
      break;
    case receive_form::recv_init:
      MPI_Recv_init(data, as_int(capacity), MPI_BYTE, from.peer, from.tag, from.comm, &p.request);
      MPI_Start(&p.request);
      p.persistent = p.open = true;
      break;
    case receive_form::mrecv:
      MPI_Mprobe(from.peer, from.tag, from.comm, &message, &status);
      probed.take(status, capacity);
      MPI_Mrecv(data, probed.room, MPI_BYTE, &message, &p.status);
      break;
    case receive_form::imrecv:
      MPI_Mprobe(from.peer, from.tag, from.comm, &message, &status);
      probed.take(status, capacity);
      MPI_Imrecv(data, probed.room, MPI_BYTE, &message, &p.request);
      p.open = true;
      break;
    case receive_form::probe_recv:
      MPI_Probe(from.peer, from.tag, from.comm, &status);
      probed.take(status, capacity);
      MPI_Recv(data, probed.room, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, from.comm,
               &p.status);
      break;
    case receive_form::iprobe_irecv:
      while (flag == 0) MPI_Iprobe(from.peer, from.tag, from.comm, &flag, &status);
      probed.take(status, capacity);
      MPI_Irecv(data, probed.room, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, from.comm,
                &p.request);
      p.open = true;
      break;
    case receive_form::improbe:
      while (flag == 0) MPI_Improbe(from.peer, from.tag, from.comm, &flag, &message, &status);
      probed.take(status, capacity);
      MPI_Mrecv(data, probed.room, MPI_BYTE, &message, &p.status);
      break;
  }
  return p;
}

/// Completes what start() left open and frees a persistent request.
inline void finish(pending& p) {
  if (p.open) MPI_Wait(&p.request, &p.status);
  if (p.persistent && p.request != MPI_REQUEST_NULL) MPI_Request_free(&p.request);
  p.open = false;
}

/// One guarded buffer of each kind that exists, for reuse by many messages.
inline std::vector<buffer> one_of_each_kind(std::size_t capacity) {
  std::vector<buffer> list;
  for (kind k : kinds()) list.emplace_back(k, capacity);
  return list;
}

/// A buffer attached for the buffered sends of its lifetime.
class attached_buffer {
 public:
  explicit attached_buffer(std::size_t bytes) : memory_(bytes) {
    MPI_Buffer_attach(memory_.data(), as_int(bytes));
  }
  attached_buffer(const attached_buffer&) = delete;
  attached_buffer& operator=(const attached_buffer&) = delete;
  ~attached_buffer() {
    void* address = nullptr;
    int bytes = 0;
    MPI_Buffer_detach(&address, &bytes);
  }

 private:
  std::vector<unsigned char> memory_;
};

}  // namespace mpi_test
