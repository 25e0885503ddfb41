// SPDX-License-Identifier: BSD-3-Clause
// MPICH's names for streams, served by the calls of telpher/stream.h over every MPI. A stream whose
// info names a device's stream is ours, and so is a communicator made with it; all others are the
// host MPI's, where it has such functions. Handles of ours are numbers that MPICH gives to no
// object.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <vector>

#include "base/lasting.hpp"
#include "device/registry.hpp"
#include "host_mpi/objects.hpp"
#include "mpi/enqueued.hpp"
#include "mpi/repeated.hpp"
#include "mpi/entry.hpp"
#include "mpi/own.hpp"
#include "mpi/stream_messages.hpp"
#include "stream/settle.hpp"
#pragma GCC visibility push(default)
#include "telpher/stream.h"
#pragma GCC visibility pop

using namespace telpher;
using stream::role;

namespace {

constexpr int first_handle = 0x7e000000;

struct stream_list {
  struct record {
    void* native;
    bool used;
  };
  std::mutex mutex;
  std::vector<record> all;  // by handle
};

lasting<stream_list> streams;

bool native_of(int handle, void*& native) noexcept {
  std::lock_guard lock(streams->mutex);
  const auto at = static_cast<std::size_t>(static_cast<unsigned>(handle) - first_handle);
  if (at >= streams->all.size() || !streams->all[at].used) return false;
  native = streams->all[at].native;
  return true;
}

int keep(void* native) noexcept {
  std::lock_guard lock(streams->mutex);
  auto& all = streams->all;
  std::size_t at = 0;
  while (at < all.size() && all[at].used) ++at;
  if (at == all.size()) all.emplace_back();
  all[at] = {native, true};
  return first_handle + static_cast<int>(at);
}

/// The host MPI's function of the name, or an error that says that there is none.
template <class... Arguments>
int call_host(const char* name, MPI_Comm comm, const char* why, Arguments... arguments) noexcept {
  auto* const host = host_mpi::find_function<int(Arguments...)>(name);
  if (host && !host_mpi::is_ours(reinterpret_cast<void*>(host))) return host(arguments...);
  return host_mpi::fail_with(comm, name, MPI_ERR_ARG, why);
}

constexpr const char* no_device_stream =
    "the communicator has no stream of a device: make it by MPIX_Stream_comm_create of a stream "
    "whose info names one (\"type\" and \"value\")";
constexpr const char* no_other_stream =
    "the info names no stream of a device (\"type\": cudaStream_t, hipStream_t or "
    "telpher_stream; \"value\" by MPIX_Info_set_hex), and the host MPI has no streams of its own";

int digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool info_text(MPI_Info info, const char* key, char (&text)[128]) noexcept {
  int there = 0;
  if (info == MPI_INFO_NULL) return false;
  pmpi::Info_get(info, const_cast<char*>(key), sizeof text - 1, text, &there);
  return there != 0;
}

enum class found { device, other, wrong };

// "type" says whose stream it is, "value" has the bytes of its handle in hexadecimal digits.
found read_info(MPI_Info info, void*& native) noexcept {
  char type[128] = "", value[128] = "";
  if (!info_text(info, "type", type)) return found::other;
  const char* const types[] = {"cudaStream_t", "hipStream_t", "telpher_stream"};
  bool known = false;
  for (const char* t : types) known |= std::strcmp(type, t) == 0;
  if (!known) return found::other;
  if (!info_text(info, "value", value) || std::strlen(value) != 2 * sizeof native)
    return found::wrong;
  unsigned char bytes[sizeof native];
  for (std::size_t i = 0; i < sizeof bytes; ++i) {
    const int high = digit(value[2 * i]), low = digit(value[2 * i + 1]);
    if (high < 0 || low < 0) return found::wrong;
    bytes[i] = static_cast<unsigned char>(high * 16 + low);
  }
  std::memcpy(&native, bytes, sizeof native);
  return found::device;
}

bool own_stream(MPI_Comm comm, void*& native) noexcept {
  stream::named found;
  if (!entry::active() || !stream::stream_of(comm, role::enqueues, found)) return false;
  native = found.native;
  return true;
}

// The stream that a request's call was enqueued in.
bool stream_of_request(MPI_Request request, void*& native) noexcept {
  if (!entry::active()) return false;
  auto held = ticket::progress().lock();
  const mpi::request_object* const op = mpi::find(request);
  return op && op->enqueued_in(native);
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

int MPIX_Info_set_hex(MPI_Info info, const char* key, const void* value, int value_size) {
  std::vector<char> text(static_cast<std::size_t>(value_size) * 2 + 1);
  for (int i = 0; i < value_size; ++i)
    std::snprintf(text.data() + 2 * i, 3, "%02x", static_cast<const unsigned char*>(value)[i]);
  return pmpi::Info_set(info, const_cast<char*>(key), text.data());
}

// --- streams and communicators ---

int MPIX_Stream_create(MPI_Info info, int* made) {
  void* native = nullptr;
  switch (entry::active() ? read_info(info, native) : found::other) {
    case found::device:
      *made = keep(native);
      return MPI_SUCCESS;
    case found::wrong:
      return host_mpi::fail_with(MPI_COMM_SELF, "MPIX_Stream_create", MPI_ERR_INFO_VALUE,
                                 "its \"value\" is not the hexadecimal handle of a stream, as "
                                 "MPIX_Info_set_hex writes it");
    case found::other:
      break;
  }
  return call_host("MPIX_Stream_create", MPI_COMM_SELF, no_other_stream, info, made);
}

int MPIX_Stream_free(int* gone) {
  void* native = nullptr;
  if (!native_of(*gone, native))
    return call_host("MPIX_Stream_free", MPI_COMM_SELF, "there is no such stream", gone);
  std::lock_guard lock(streams->mutex);
  streams->all[static_cast<std::size_t>(*gone - first_handle)].used = false;
  *gone = MPIX_STREAM_NULL;
  return MPI_SUCCESS;
}

int MPIX_Stream_comm_create(MPI_Comm comm, int of, MPI_Comm* newcomm) {
  stream::named name;
  name.handle = of;
  if (!native_of(of, name.native)) {
    if (host_mpi::find_function<void()>("MPIX_Stream_comm_create") || of != MPIX_STREAM_NULL)
      return call_host("MPIX_Stream_comm_create", comm, "there is no such stream", comm, of,
                       newcomm);
    return own_Comm_dup(comm, newcomm);
  }
  const int code = own_Comm_dup(comm, newcomm);
  return code != MPI_SUCCESS ? code : stream::name_stream(*newcomm, role::enqueues, name);
}

int MPIX_Comm_get_stream(MPI_Comm comm, int idx, int* found) {
  stream::named name;
  if (entry::active() && stream::stream_of(comm, role::enqueues, name)) {
    *found = idx == 0 ? name.handle : MPIX_STREAM_NULL;
    return MPI_SUCCESS;
  }
  *found = MPIX_STREAM_NULL;
  auto* const host = host_mpi::find_function<int(MPI_Comm, int, int*)>("MPIX_Comm_get_stream");
  return host && !host_mpi::is_ours(reinterpret_cast<void*>(host)) ? host(comm, idx, found)
                                                                   : MPI_SUCCESS;
}

// --- point to point; the large-count forms beside them ---

#define TELPHER_ENQUEUES(suffix, count_type)                                                     \
  int MPIX_Send_enqueue##suffix(const void* buf, count_type count, MPI_Datatype datatype,        \
                                int dest, int tag, MPI_Comm comm) {                              \
    constexpr const char* call = "MPIX_Send_enqueue" #suffix;                                    \
    void* native = nullptr;                                                                      \
    if (own_stream(comm, native))                                                                \
      return mpi::enqueue_send({call, buf, count, datatype, dest, tag, comm}, native);           \
    return call_host(call, comm, no_device_stream, buf, count, datatype, dest, tag, comm);       \
  }                                                                                              \
  int MPIX_Recv_enqueue##suffix(void* buf, count_type count, MPI_Datatype datatype, int source,  \
                                int tag, MPI_Comm comm, MPI_Status* status) {                    \
    constexpr const char* call = "MPIX_Recv_enqueue" #suffix;                                    \
    void* native = nullptr;                                                                      \
    if (own_stream(comm, native))                                                                \
      return mpi::enqueue_receive({call, buf, count, datatype, source, tag, comm}, status,       \
                                  native);                                                       \
    return call_host(call, comm, no_device_stream, buf, count, datatype, source, tag, comm,      \
                     status);                                                                    \
  }                                                                                              \
  int MPIX_Isend_enqueue##suffix(const void* buf, count_type count, MPI_Datatype datatype,       \
                                 int dest, int tag, MPI_Comm comm, MPI_Request* request) {       \
    constexpr const char* call = "MPIX_Isend_enqueue" #suffix;                                   \
    void* native = nullptr;                                                                      \
    if (own_stream(comm, native))                                                                \
      return mpi::enqueue_isend({call, buf, count, datatype, dest, tag, comm}, request, native); \
    return call_host(call, comm, no_device_stream, buf, count, datatype, dest, tag, comm,        \
                     request);                                                                   \
  }                                                                                              \
  int MPIX_Irecv_enqueue##suffix(void* buf, count_type count, MPI_Datatype datatype, int source, \
                                 int tag, MPI_Comm comm, MPI_Request* request) {                 \
    constexpr const char* call = "MPIX_Irecv_enqueue" #suffix;                                   \
    void* native = nullptr;                                                                      \
    if (own_stream(comm, native))                                                                \
      return mpi::enqueue_ireceive({call, buf, count, datatype, source, tag, comm}, request,     \
                                   native);                                                      \
    return call_host(call, comm, no_device_stream, buf, count, datatype, source, tag, comm,      \
                     request);                                                                   \
  }

TELPHER_ENQUEUES(, int)
TELPHER_ENQUEUES(_c, MPI_Count)
#undef TELPHER_ENQUEUES

int MPIX_Wait_enqueue(MPI_Request* request, MPI_Status* status) {
  void* native = nullptr;
  if (*request == MPI_REQUEST_NULL) return pmpi::Wait(request, status);
  if (stream_of_request(*request, native))
    return mpi::enqueue_wait("MPIX_Wait_enqueue", 1, request, status, native);
  return call_host("MPIX_Wait_enqueue", MPI_COMM_SELF,
                   "it is no request of MPIX_Isend_enqueue or its kin", request, status);
}

int MPIX_Waitall_enqueue(int count, MPI_Request all[], MPI_Status* statuses) {
  const auto begin = all, end = all + std::max(count, 0);
  const auto first = std::find_if(begin, end, [](MPI_Request r) { return r != MPI_REQUEST_NULL; });
  if (count >= 0 && first == end) return pmpi::Waitall(count, all, statuses);
  void *native = nullptr, *other = nullptr;
  if (first == end || !stream_of_request(*first, native))
    return call_host("MPIX_Waitall_enqueue", MPI_COMM_SELF,
                     "they are no requests of MPIX_Isend_enqueue or its kin", count, all, statuses);
  if (std::any_of(first, end, [&](MPI_Request r) {
        return r != MPI_REQUEST_NULL && (!stream_of_request(r, other) || other != native);
      }))
    return host_mpi::fail_with(MPI_COMM_SELF, "MPIX_Waitall_enqueue", MPI_ERR_REQUEST,
                               "its requests must all be of enqueuing calls in one stream");
  return mpi::enqueue_wait("MPIX_Waitall_enqueue", count, all, statuses, native);
}

// --- collectives ---

#define TELPHER_ALLREDUCES(suffix, count_type)                                                   \
  int MPIX_Allreduce_enqueue##suffix(const void* sendbuf, void* recvbuf, count_type count,       \
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {          \
    constexpr const char* call = "MPIX_Allreduce_enqueue" #suffix;                               \
    void* native = nullptr;                                                                      \
    if (own_stream(comm, native))                                                                \
      return mpi::enqueue_collective(                                                            \
          call, comm, native, coll::exchange::allreduce(sendbuf, recvbuf, count, datatype, op),  \
          std::bind_front(own_Iallreduce##suffix, sendbuf, recvbuf, count, datatype, op, comm)); \
    return call_host(call, comm, no_device_stream, sendbuf, recvbuf, count, datatype, op, comm); \
  }

TELPHER_ALLREDUCES(, int)
#if TELPHER_HOST_HAS_Iallreduce_c
TELPHER_ALLREDUCES(_c, MPI_Count)
#endif
#undef TELPHER_ALLREDUCES

#pragma GCC visibility pop

}  // extern "C"
