// SPDX-License-Identifier: BSD-3-Clause
// telpher/stream.h without its collectives: streams of communicators, point to point, and requests.
#include "mpi/entry.hpp"
#include "mpi/enqueued.hpp"
#include "mpi/inbox_messages.hpp"
#include "mpi/matching.hpp"
#include "mpi/own.hpp"
#include "mpi/stream_messages.hpp"
#include "stream/settle.hpp"
#pragma GCC visibility push(default)
#include "telpher/stream.h"
#pragma GCC visibility pop

using namespace telpher;
using stream::role;

namespace {

int refuse_outside(MPI_Comm comm, const char* call) noexcept {
  return host_mpi::fail_with(
      comm, call, MPI_ERR_OTHER,
      "no rank of this job has a device, or it is called outside of MPI_Init "
      "and MPI_Finalize");
}

// A persistent or partitioned request is started in its turn.
template <class Start>
int enqueue_start(const char* call, void* native, Start start) noexcept {
  return mpi::enqueue(call, MPI_COMM_SELF, native,
                      std::make_unique<mpi::enqueued_start<Start>>(std::move(start)), false);
}

// Matched requests need no turn of the proxy's, nor do small messages.
int start_all(const char* call, int count, const MPI_Request all[], void* native) noexcept {
  if (count < 0)
    return host_mpi::fail_with(MPI_COMM_SELF, call, MPI_ERR_COUNT, "a negative number of requests");
  if (!entry::active()) return refuse_outside(MPI_COMM_SELF, call);
  std::vector<MPI_Request> others;
  int rc = partitioned::start_matched(call, count, all, native, others);
  if (rc == MPI_SUCCESS && !others.empty()) rc = mpi::start_through_inbox(call, others, native);
  if (rc != MPI_SUCCESS || others.empty()) return rc;
  return enqueue_start(call, native, [others, turn = mpi::matching_turn()]() mutable {
    const int code = requests::startall(static_cast<int>(others.size()), others.data());
    turn.end();
    return code;
  });
}

int init_matched(bool sends, const partitioned::init_args& a, MPI_Request* request) noexcept {
  if (!entry::active()) return refuse_outside(a.comm, a.call);
  const auto no_host = [&a] {
    return host_mpi::fail_with(a.comm, a.call, MPI_ERR_COMM,
                               "not all ranks of the communicator carry Telpher, or it was made by "
                               "a call that Telpher does not know");
  };
  return sends ? partitioned::send_init(a, request, no_host)
               : partitioned::recv_init(a, request, no_host);
}

}  // namespace

extern "C" {

// --- streams of communicators ---

int telpher_stream_set(MPI_Comm comm, void* native) {
  if (!entry::active()) return refuse_outside(comm, "telpher_stream_set");
  return stream::name_stream(comm, role::settles, {native, 0});
}

int telpher_stream_unset(MPI_Comm comm) {
  if (!entry::active()) return refuse_outside(comm, "telpher_stream_unset");
  return stream::forget_stream(comm, role::settles);
}

int telpher_stream_get(MPI_Comm comm, void** native, int* flag) {
  constexpr const char* call = "telpher_stream_get";
  if (!entry::active()) return refuse_outside(comm, call);
  if (!native || !flag)
    return host_mpi::fail_with(comm, call, MPI_ERR_ARG, "no place for the stream or for the flag");
  stream::named found;
  *flag = stream::stream_of(comm, role::settles, found);
  if (*flag) *native = found.native;
  return MPI_SUCCESS;
}

// The proxy knows no MPI: negative is work of the stream that failed before the operation.
int telpher_stream_status(void* native) {
  const int code = entry::active() ? stream::take_failure(native) : 0;
  return code < 0 ? MPI_ERR_OTHER : code;
}

// --- point to point ---

int telpher_send_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                         MPI_Comm comm, void* native) {
  return mpi::enqueue_send({"telpher_send_enqueue", buf, count, datatype, dest, tag, comm}, native);
}

int telpher_recv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag,
                         MPI_Comm comm, MPI_Status* status, void* native) {
  return mpi::enqueue_receive({"telpher_recv_enqueue", buf, count, datatype, source, tag, comm},
                              status, native);
}

int telpher_sendrecv_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                             int sendtag, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                             int source, int recvtag, MPI_Comm comm, MPI_Status* status,
                             void* native) {
  constexpr const char* call = "telpher_sendrecv_enqueue";
  return mpi::enqueue_sendrecv({call, sendbuf, sendcount, sendtype, dest, sendtag, comm},
                               {call, recvbuf, recvcount, recvtype, source, recvtag, comm}, status,
                               native);
}

int telpher_isend_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                          MPI_Comm comm, MPI_Request* request, void* native) {
  return mpi::enqueue_isend({"telpher_isend_enqueue", buf, count, datatype, dest, tag, comm},
                            request, native);
}

int telpher_irecv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag,
                          MPI_Comm comm, MPI_Request* request, void* native) {
  return mpi::enqueue_ireceive({"telpher_irecv_enqueue", buf, count, datatype, source, tag, comm},
                               request, native);
}

// --- requests ---

int telpher_matched_send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                              MPI_Comm comm, MPI_Request* request) {
  return init_matched(true,
                      {"telpher_matched_send_init", const_cast<void*>(buf), 1, count, datatype,
                       dest, tag, comm, MPI_INFO_NULL, true},
                      request);
}

int telpher_matched_recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag,
                              MPI_Comm comm, MPI_Request* request) {
  return init_matched(false,
                      {"telpher_matched_recv_init", buf, 1, count, datatype, source, tag, comm,
                       MPI_INFO_NULL, true},
                      request);
}

int telpher_match(int count, const MPI_Request all[]) {
  if (!entry::active()) return refuse_outside(MPI_COMM_SELF, "telpher_match");
  return partitioned::match("telpher_match", count, all);
}

int telpher_wait_enqueue(MPI_Request* request, MPI_Status* status, void* native) {
  return mpi::enqueue_wait("telpher_wait_enqueue", 1, request, status, native);
}

int telpher_waitall_enqueue(int count, MPI_Request all[], MPI_Status statuses[], void* native) {
  return mpi::enqueue_wait("telpher_waitall_enqueue", count, all, statuses, native);
}

int telpher_start_enqueue(MPI_Request request, void* native) {
  return start_all("telpher_start_enqueue", 1, &request, native);
}

int telpher_startall_enqueue(int count, const MPI_Request all[], void* native) {
  return start_all("telpher_startall_enqueue", count, all, native);
}

int telpher_pready_enqueue(int partition, MPI_Request request, void* native) {
  constexpr const char* call = "telpher_pready_enqueue";
  if (!entry::active()) return refuse_outside(MPI_COMM_SELF, call);
  bool served = false;
  const int rc = partitioned::ready_in_stream(call, partition, request, native, served);
  if (served) return rc;
#if TELPHER_HOST_HAS_Pready
  return enqueue_start(call, native,
                       [partition, request] { return own_Pready(partition, request); });
#else
  return host_mpi::fail_with(MPI_COMM_SELF, call, MPI_ERR_UNSUPPORTED_OPERATION,
                             "the host MPI has no partitioned communication");
#endif
}

int telpher_partitions_device(MPI_Request request, const telpher_device_partitions** handle) {
  constexpr const char* call = "telpher_partitions_device";
  if (!entry::active()) return refuse_outside(MPI_COMM_SELF, call);
  if (!handle)
    return host_mpi::fail_with(MPI_COMM_SELF, call, MPI_ERR_ARG, "no place for the handle");
  const void* found = nullptr;
  const int rc = partitioned::handle_for_kernels(call, request, &found);
  *handle = static_cast<const telpher_device_partitions*>(found);
  return rc;
}

}  // extern "C"
