// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Point-to-point communication (chapter 3),
// in the sections of MPI 4.0.
#include "mpi/attached.hpp"
#include "mpi/entry.hpp"
#include "mpi/names.hpp"
#include "mpi/plain_receive.hpp"
#include "mpi/pt2pt.hpp"
#include "mpi/send.hpp"
#include "stream/settle.hpp"

using namespace telpher;
using pt2pt::send_mode;

extern "C" {

// 3.2 Blocking send and receive operations
[[gnu::noinline]] static int slow_Send(const void* buf, int count, MPI_Datatype datatype, int dest,
                                       int tag, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Send(buf, count, datatype, dest, tag, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle_send(comm, buf);
  return pt2pt::send({"MPI_Send", buf, count, datatype, dest, tag, comm});
}
TELPHER_MPI(Send,
            (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm),
            (buf, count, datatype, dest, tag, comm)) {
  if (mpi::may_stay_on_host(buf)) [[likely]]
    return pmpi::Send(buf, count, datatype, dest, tag, comm);
  return slow_Send(buf, count, datatype, dest, tag, comm);
}

// 3.2 Blocking send and receive operations
[[gnu::noinline]] static int slow_Recv(void* buf, int count, MPI_Datatype datatype, int source,
                                       int tag, MPI_Comm comm, MPI_Status* status) {
  if (!entry::active()) return pmpi::Recv(buf, count, datatype, source, tag, comm, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buf});
  return pt2pt::recv({"MPI_Recv", buf, count, datatype, source, tag, comm}, status);
}
TELPHER_MPI(Recv,
            (void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status* status), (buf, count, datatype, source, tag, comm, status)) {
  if (mpi::receives_plain(buf, count, tag)) [[likely]]
    return mpi::receive_at_once(buf, count, datatype, source, tag, comm, status);
  return slow_Recv(buf, count, datatype, source, tag, comm, status);
}

// 3.4 Communication modes
[[gnu::noinline]] static int slow_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest,
                                        int tag, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Bsend(buf, count, datatype, dest, tag, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buf});
  return pt2pt::send({"MPI_Bsend", buf, count, datatype, dest, tag, comm, send_mode::buffered});
}
TELPHER_MPI(Bsend,
            (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm),
            (buf, count, datatype, dest, tag, comm)) {
  if (mpi::may_stay_on_host(buf)) [[likely]]
    return pmpi::Bsend(buf, count, datatype, dest, tag, comm);
  return slow_Bsend(buf, count, datatype, dest, tag, comm);
}

// 3.4 Communication modes
[[gnu::noinline]] static int slow_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest,
                                        int tag, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Ssend(buf, count, datatype, dest, tag, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle_send(comm, buf);
  return pt2pt::send({"MPI_Ssend", buf, count, datatype, dest, tag, comm, send_mode::synchronous});
}
TELPHER_MPI(Ssend,
            (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm),
            (buf, count, datatype, dest, tag, comm)) {
  if (mpi::may_stay_on_host(buf)) [[likely]]
    return pmpi::Ssend(buf, count, datatype, dest, tag, comm);
  return slow_Ssend(buf, count, datatype, dest, tag, comm);
}

// 3.4 Communication modes
[[gnu::noinline]] static int slow_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest,
                                        int tag, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Rsend(buf, count, datatype, dest, tag, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle_send(comm, buf);
  return pt2pt::send({"MPI_Rsend", buf, count, datatype, dest, tag, comm, send_mode::ready});
}
TELPHER_MPI(Rsend,
            (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm),
            (buf, count, datatype, dest, tag, comm)) {
  if (mpi::may_stay_on_host(buf)) [[likely]]
    return pmpi::Rsend(buf, count, datatype, dest, tag, comm);
  return slow_Rsend(buf, count, datatype, dest, tag, comm);
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Buffer_attach, (void* buffer, int size), (buffer, size)) {
  if (!entry::active()) return pmpi::Buffer_attach(buffer, size);
  return mpi::attach_buffer(MPI_COMM_SELF, "MPI_Buffer_attach", buffer, size,
                            [&] { return pmpi::Buffer_attach(buffer, size); });
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Buffer_detach, (void* buffer_addr, int* size), (buffer_addr, size)) {
  if (!entry::active()) return pmpi::Buffer_detach(buffer_addr, size);
  return mpi::detach_buffer(buffer_addr, [&] { return pmpi::Buffer_detach(buffer_addr, size); });
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Isend(const void* buf, int count, MPI_Datatype datatype, int dest,
                                        int tag, MPI_Comm comm, MPI_Request* request) {
  if (!entry::active()) return pmpi::Isend(buf, count, datatype, dest, tag, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle_send(comm, buf);
  return pt2pt::isend({"MPI_Isend", buf, count, datatype, dest, tag, comm}, request);
}
TELPHER_MPI(Isend,
            (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
             MPI_Request* request), (buf, count, datatype, dest, tag, comm, request)) {
  if (mpi::stays_on_host(buf)) [[likely]]
    return pmpi::Isend(buf, count, datatype, dest, tag, comm, request);
  return slow_Isend(buf, count, datatype, dest, tag, comm, request);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Ibsend(const void* buf, int count, MPI_Datatype datatype,
                                         int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!entry::active()) return pmpi::Ibsend(buf, count, datatype, dest, tag, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buf});
  return pt2pt::isend({"MPI_Ibsend", buf, count, datatype, dest, tag, comm, send_mode::buffered},
                      request);
}
TELPHER_MPI(Ibsend,
            (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
             MPI_Request* request), (buf, count, datatype, dest, tag, comm, request)) {
  if (mpi::stays_on_host(buf)) [[likely]]
    return pmpi::Ibsend(buf, count, datatype, dest, tag, comm, request);
  return slow_Ibsend(buf, count, datatype, dest, tag, comm, request);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Issend(const void* buf, int count, MPI_Datatype datatype,
                                         int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!entry::active()) return pmpi::Issend(buf, count, datatype, dest, tag, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle_send(comm, buf);
  return pt2pt::isend({"MPI_Issend", buf, count, datatype, dest, tag, comm, send_mode::synchronous},
                      request);
}
TELPHER_MPI(Issend,
            (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
             MPI_Request* request), (buf, count, datatype, dest, tag, comm, request)) {
  if (mpi::stays_on_host(buf)) [[likely]]
    return pmpi::Issend(buf, count, datatype, dest, tag, comm, request);
  return slow_Issend(buf, count, datatype, dest, tag, comm, request);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Irsend(const void* buf, int count, MPI_Datatype datatype,
                                         int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!entry::active()) return pmpi::Irsend(buf, count, datatype, dest, tag, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle_send(comm, buf);
  return pt2pt::isend({"MPI_Irsend", buf, count, datatype, dest, tag, comm, send_mode::ready},
                      request);
}
TELPHER_MPI(Irsend,
            (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
             MPI_Request* request), (buf, count, datatype, dest, tag, comm, request)) {
  if (mpi::stays_on_host(buf)) [[likely]]
    return pmpi::Irsend(buf, count, datatype, dest, tag, comm, request);
  return slow_Irsend(buf, count, datatype, dest, tag, comm, request);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Irecv(void* buf, int count, MPI_Datatype datatype, int source,
                                        int tag, MPI_Comm comm, MPI_Request* request) {
  if (!entry::active()) return pmpi::Irecv(buf, count, datatype, source, tag, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buf});
  return pt2pt::irecv({"MPI_Irecv", buf, count, datatype, source, tag, comm}, request);
}
TELPHER_MPI(Irecv,
            (void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Request* request), (buf, count, datatype, source, tag, comm, request)) {
  if (mpi::posts_plain(buf, count, datatype, tag)) [[likely]]
    return mpi::post_at_once(buf, count, datatype, source, tag, comm, request);
  return slow_Irecv(buf, count, datatype, source, tag, comm, request);
}

// 3.8 Probe and cancel
TELPHER_MPI(Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status),
            (source, tag, comm, status)) {
  if (!entry::active()) return pmpi::Probe(source, tag, comm, status);
  return pt2pt::probe(source, tag, comm, status);
}

// 3.8 Probe and cancel
TELPHER_MPI(Iprobe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status),
            (source, tag, comm, flag, status)) {
  if (!entry::active()) return pmpi::Iprobe(source, tag, comm, flag, status);
  return pt2pt::iprobe(source, tag, comm, flag, status);
}

// 3.8 Probe and cancel
TELPHER_MPI(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),
            (source, tag, comm, message, status)) {
  if (!entry::active()) return pmpi::Mprobe(source, tag, comm, message, status);
  return pt2pt::mprobe(source, tag, comm, message, status);
}

// 3.8 Probe and cancel
TELPHER_MPI(Improbe,
            (int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
             MPI_Status* status), (source, tag, comm, flag, message, status)) {
  if (!entry::active()) return pmpi::Improbe(source, tag, comm, flag, message, status);
  return pt2pt::improbe(source, tag, comm, flag, message, status);
}

// 3.8 Probe and cancel
TELPHER_MPI(Mrecv,
            (void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status),
            (buf, count, datatype, message, status)) {
  if (!entry::active()) return pmpi::Mrecv(buf, count, datatype, message, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  return pt2pt::mrecv("MPI_Mrecv", buf, count, datatype, message, status);
}

// 3.8 Probe and cancel
TELPHER_MPI(Imrecv,
            (void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
             MPI_Request* request), (buf, count, datatype, message, request)) {
  if (!entry::active()) return pmpi::Imrecv(buf, count, datatype, message, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  return pt2pt::imrecv("MPI_Imrecv", buf, count, datatype, message, request);
}

// 3.9 Persistent communication requests
TELPHER_MPI(Send_init,
            (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
             MPI_Request* request), (buf, count, datatype, dest, tag, comm, request)) {
  if (!entry::active()) return pmpi::Send_init(buf, count, datatype, dest, tag, comm, request);
  return pt2pt::send_init({"MPI_Send_init", buf, count, datatype, dest, tag, comm}, request);
}

// 3.9 Persistent communication requests
TELPHER_MPI(Bsend_init,
            (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
             MPI_Request* request), (buf, count, datatype, dest, tag, comm, request)) {
  if (!entry::active()) return pmpi::Bsend_init(buf, count, datatype, dest, tag, comm, request);
  return pt2pt::send_init({"MPI_Bsend_init", buf, count, datatype, dest, tag, comm,
                           send_mode::buffered}, request);
}

// 3.9 Persistent communication requests
TELPHER_MPI(Ssend_init,
            (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
             MPI_Request* request), (buf, count, datatype, dest, tag, comm, request)) {
  if (!entry::active()) return pmpi::Ssend_init(buf, count, datatype, dest, tag, comm, request);
  return pt2pt::send_init({"MPI_Ssend_init", buf, count, datatype, dest, tag, comm,
                           send_mode::synchronous}, request);
}

// 3.9 Persistent communication requests
TELPHER_MPI(Rsend_init,
            (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
             MPI_Request* request), (buf, count, datatype, dest, tag, comm, request)) {
  if (!entry::active()) return pmpi::Rsend_init(buf, count, datatype, dest, tag, comm, request);
  return pt2pt::send_init({"MPI_Rsend_init", buf, count, datatype, dest, tag, comm,
                           send_mode::ready}, request);
}

// 3.9 Persistent communication requests
TELPHER_MPI(Recv_init,
            (void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Request* request), (buf, count, datatype, source, tag, comm, request)) {
  if (!entry::active()) return pmpi::Recv_init(buf, count, datatype, source, tag, comm, request);
  return pt2pt::recv_init({"MPI_Recv_init", buf, count, datatype, source, tag, comm}, request);
}

// 3.10 Send-receive
[[gnu::noinline]] static int slow_Sendrecv(const void* sendbuf, int sendcount,
                                           MPI_Datatype sendtype, int dest, int sendtag,
                                           void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                           int source, int recvtag, MPI_Comm comm,
                                           MPI_Status* status) {
  if (!entry::active())
    return pmpi::Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                          source, recvtag, comm, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  return pt2pt::sendrecv({"MPI_Sendrecv", sendbuf, sendcount, sendtype, dest, sendtag, comm},
                         {"MPI_Sendrecv", recvbuf, recvcount, recvtype, source, recvtag, comm},
                         status);
}
TELPHER_MPI(Sendrecv,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status),
            (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
             recvtag, comm, status)) {
  if (mpi::exchanges_plain(sendbuf, sendcount, recvbuf, recvcount, recvtag)) [[likely]]
    return mpi::exchange_at_once(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                                 recvtype, source, recvtag, comm, status);
  return slow_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                       source, recvtag, comm, status);
}

// 3.10 Send-receive
TELPHER_MPI(Sendrecv_replace,
            (void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
             int recvtag, MPI_Comm comm, MPI_Status* status),
            (buf, count, datatype, dest, sendtag, source, recvtag, comm, status)) {
  if (!entry::active())
    return pmpi::Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm,
                                  status);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buf});
  if (int code = 0; mpi::replace_plain({"MPI_Sendrecv_replace", buf, count, datatype, dest, sendtag,
                                        source, recvtag, comm}, status, &code))
    return code;
  return pt2pt::sendrecv_replace({"MPI_Sendrecv_replace", buf, count, datatype, dest, sendtag,
                                  source, recvtag, comm}, status);
}

#if TELPHER_HOST_HAS_Isendrecv  // MPI 4.0

// 3.10 Send-receive
TELPHER_MPI(Isendrecv,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
             recvtag, comm, request)) {
  if (!entry::active())
    return pmpi::Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                           recvtype, source, recvtag, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  return pt2pt::isendrecv({"MPI_Isendrecv", sendbuf, sendcount, sendtype, dest, sendtag, comm},
                          {"MPI_Isendrecv", recvbuf, recvcount, recvtype, source, recvtag, comm},
                          request);
}

// 3.10 Send-receive
TELPHER_MPI(Isendrecv_replace,
            (void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
             int recvtag, MPI_Comm comm, MPI_Request* request),
            (buf, count, datatype, dest, sendtag, source, recvtag, comm, request)) {
  if (!entry::active())
    return pmpi::Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm,
                                   request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buf});
  return pt2pt::isendrecv_replace({"MPI_Isendrecv_replace", buf, count, datatype, dest, sendtag,
                                   source, recvtag, comm}, request);
}

#endif  // TELPHER_HOST_HAS_Isendrecv

#if TELPHER_HOST_HAS_Buffer_flush  // MPI 4.1

// 3.6 Buffer allocation and usage
TELPHER_MPI(Buffer_flush, (), ()) {
  if (!entry::active()) return pmpi::Buffer_flush();
  entry::blocking_call guard;
  return pmpi::Buffer_flush();
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Comm_attach_buffer, (MPI_Comm comm, void* buffer, int size), (comm, buffer, size)) {
  if (!entry::active()) return pmpi::Comm_attach_buffer(comm, buffer, size);
  return mpi::attach_buffer(comm, "MPI_Comm_attach_buffer", buffer, size,
                            [&] { return pmpi::Comm_attach_buffer(comm, buffer, size); });
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Comm_detach_buffer, (MPI_Comm comm, void* buffer_addr, int* size),
            (comm, buffer_addr, size)) {
  if (!entry::active()) return pmpi::Comm_detach_buffer(comm, buffer_addr, size);
  return mpi::detach_buffer(buffer_addr,
                            [&] { return pmpi::Comm_detach_buffer(comm, buffer_addr, size); });
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Comm_flush_buffer, (MPI_Comm comm), (comm)) {
  if (!entry::active()) return pmpi::Comm_flush_buffer(comm);
  entry::blocking_call guard;
  return pmpi::Comm_flush_buffer(comm);
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Session_attach_buffer, (MPI_Session session, void* buffer, int size),
            (session, buffer, size)) {
  if (!entry::active()) return pmpi::Session_attach_buffer(session, buffer, size);
  return mpi::attach_buffer(MPI_COMM_SELF, "MPI_Session_attach_buffer", buffer, size,
                            [&] { return pmpi::Session_attach_buffer(session, buffer, size); });
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Session_detach_buffer, (MPI_Session session, void* buffer_addr, int* size),
            (session, buffer_addr, size)) {
  if (!entry::active()) return pmpi::Session_detach_buffer(session, buffer_addr, size);
  return mpi::detach_buffer(buffer_addr,
                            [&] { return pmpi::Session_detach_buffer(session, buffer_addr,
                                                                     size); });
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Session_flush_buffer, (MPI_Session session), (session)) {
  if (!entry::active()) return pmpi::Session_flush_buffer(session);
  entry::blocking_call guard;
  return pmpi::Session_flush_buffer(session);
}

#endif  // TELPHER_HOST_HAS_Buffer_flush

#if TELPHER_HOST_HAS_Send_c  // large counts, MPI 4.0

// 3.2 Blocking send and receive operations
[[gnu::noinline]] static int slow_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype,
                                         int dest, int tag, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Send_c(buf, count, datatype, dest, tag, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle_send(comm, buf);
  return pt2pt::send({"MPI_Send_c", buf, count, datatype, dest, tag, comm});
}
TELPHER_MPI(Send_c,
            (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm), (buf, count, datatype, dest, tag, comm)) {
  if (mpi::may_stay_on_host(buf)) [[likely]]
    return pmpi::Send_c(buf, count, datatype, dest, tag, comm);
  return slow_Send_c(buf, count, datatype, dest, tag, comm);
}

// 3.2 Blocking send and receive operations
[[gnu::noinline]] static int slow_Recv_c(void* buf, MPI_Count count, MPI_Datatype datatype,
                                         int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (!entry::active()) return pmpi::Recv_c(buf, count, datatype, source, tag, comm, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buf});
  return pt2pt::recv({"MPI_Recv_c", buf, count, datatype, source, tag, comm}, status);
}
TELPHER_MPI(Recv_c,
            (void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status* status), (buf, count, datatype, source, tag, comm, status)) {
  if (mpi::receives_plain(buf, count, tag)) [[likely]]
    return mpi::receive_at_once(buf, count, datatype, source, tag, comm, status);
  return slow_Recv_c(buf, count, datatype, source, tag, comm, status);
}

// 3.4 Communication modes
[[gnu::noinline]] static int slow_Bsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype,
                                          int dest, int tag, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Bsend_c(buf, count, datatype, dest, tag, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buf});
  return pt2pt::send({"MPI_Bsend_c", buf, count, datatype, dest, tag, comm, send_mode::buffered});
}
TELPHER_MPI(Bsend_c,
            (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm), (buf, count, datatype, dest, tag, comm)) {
  if (mpi::may_stay_on_host(buf)) [[likely]]
    return pmpi::Bsend_c(buf, count, datatype, dest, tag, comm);
  return slow_Bsend_c(buf, count, datatype, dest, tag, comm);
}

// 3.4 Communication modes
[[gnu::noinline]] static int slow_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype datatype,
                                          int dest, int tag, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Ssend_c(buf, count, datatype, dest, tag, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle_send(comm, buf);
  return pt2pt::send({"MPI_Ssend_c", buf, count, datatype, dest, tag, comm,
                      send_mode::synchronous});
}
TELPHER_MPI(Ssend_c,
            (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm), (buf, count, datatype, dest, tag, comm)) {
  if (mpi::may_stay_on_host(buf)) [[likely]]
    return pmpi::Ssend_c(buf, count, datatype, dest, tag, comm);
  return slow_Ssend_c(buf, count, datatype, dest, tag, comm);
}

// 3.4 Communication modes
[[gnu::noinline]] static int slow_Rsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype,
                                          int dest, int tag, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Rsend_c(buf, count, datatype, dest, tag, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle_send(comm, buf);
  return pt2pt::send({"MPI_Rsend_c", buf, count, datatype, dest, tag, comm, send_mode::ready});
}
TELPHER_MPI(Rsend_c,
            (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm), (buf, count, datatype, dest, tag, comm)) {
  if (mpi::may_stay_on_host(buf)) [[likely]]
    return pmpi::Rsend_c(buf, count, datatype, dest, tag, comm);
  return slow_Rsend_c(buf, count, datatype, dest, tag, comm);
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Buffer_attach_c, (void* buffer, MPI_Count size), (buffer, size)) {
  if (!entry::active()) return pmpi::Buffer_attach_c(buffer, size);
  return mpi::attach_buffer(MPI_COMM_SELF, "MPI_Buffer_attach_c", buffer, size,
                            [&] { return pmpi::Buffer_attach_c(buffer, size); });
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Buffer_detach_c, (void* buffer_addr, MPI_Count* size), (buffer_addr, size)) {
  if (!entry::active()) return pmpi::Buffer_detach_c(buffer_addr, size);
  return mpi::detach_buffer(buffer_addr, [&] { return pmpi::Buffer_detach_c(buffer_addr, size); });
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Comm_attach_buffer_c, (MPI_Comm comm, void* buffer, MPI_Count size),
            (comm, buffer, size)) {
  if (!entry::active()) return pmpi::Comm_attach_buffer_c(comm, buffer, size);
  return mpi::attach_buffer(comm, "MPI_Comm_attach_buffer_c", buffer, size,
                            [&] { return pmpi::Comm_attach_buffer_c(comm, buffer, size); });
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Comm_detach_buffer_c, (MPI_Comm comm, void* buffer_addr, MPI_Count* size),
            (comm, buffer_addr, size)) {
  if (!entry::active()) return pmpi::Comm_detach_buffer_c(comm, buffer_addr, size);
  return mpi::detach_buffer(buffer_addr,
                            [&] { return pmpi::Comm_detach_buffer_c(comm, buffer_addr, size); });
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Session_attach_buffer_c, (MPI_Session session, void* buffer, MPI_Count size),
            (session, buffer, size)) {
  if (!entry::active()) return pmpi::Session_attach_buffer_c(session, buffer, size);
  return mpi::attach_buffer(MPI_COMM_SELF, "MPI_Session_attach_buffer_c", buffer, size,
                            [&] { return pmpi::Session_attach_buffer_c(session, buffer, size); });
}

// 3.6 Buffer allocation and usage
TELPHER_MPI(Session_detach_buffer_c, (MPI_Session session, void* buffer_addr, MPI_Count* size),
            (session, buffer_addr, size)) {
  if (!entry::active()) return pmpi::Session_detach_buffer_c(session, buffer_addr, size);
  return mpi::detach_buffer(buffer_addr,
                            [&] { return pmpi::Session_detach_buffer_c(session, buffer_addr,
                                                                       size); });
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Isend_c(const void* buf, MPI_Count count, MPI_Datatype datatype,
                                          int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!entry::active()) return pmpi::Isend_c(buf, count, datatype, dest, tag, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle_send(comm, buf);
  return pt2pt::isend({"MPI_Isend_c", buf, count, datatype, dest, tag, comm}, request);
}
TELPHER_MPI(Isend_c,
            (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm, MPI_Request* request),
            (buf, count, datatype, dest, tag, comm, request)) {
  if (mpi::stays_on_host(buf)) [[likely]]
    return pmpi::Isend_c(buf, count, datatype, dest, tag, comm, request);
  return slow_Isend_c(buf, count, datatype, dest, tag, comm, request);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Ibsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype,
                                           int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!entry::active()) return pmpi::Ibsend_c(buf, count, datatype, dest, tag, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buf});
  return pt2pt::isend({"MPI_Ibsend_c", buf, count, datatype, dest, tag, comm, send_mode::buffered},
                      request);
}
TELPHER_MPI(Ibsend_c,
            (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm, MPI_Request* request),
            (buf, count, datatype, dest, tag, comm, request)) {
  if (mpi::stays_on_host(buf)) [[likely]]
    return pmpi::Ibsend_c(buf, count, datatype, dest, tag, comm, request);
  return slow_Ibsend_c(buf, count, datatype, dest, tag, comm, request);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Issend_c(const void* buf, MPI_Count count, MPI_Datatype datatype,
                                           int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!entry::active()) return pmpi::Issend_c(buf, count, datatype, dest, tag, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle_send(comm, buf);
  return pt2pt::isend({"MPI_Issend_c", buf, count, datatype, dest, tag, comm,
                       send_mode::synchronous}, request);
}
TELPHER_MPI(Issend_c,
            (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm, MPI_Request* request),
            (buf, count, datatype, dest, tag, comm, request)) {
  if (mpi::stays_on_host(buf)) [[likely]]
    return pmpi::Issend_c(buf, count, datatype, dest, tag, comm, request);
  return slow_Issend_c(buf, count, datatype, dest, tag, comm, request);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Irsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype,
                                           int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!entry::active()) return pmpi::Irsend_c(buf, count, datatype, dest, tag, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle_send(comm, buf);
  return pt2pt::isend({"MPI_Irsend_c", buf, count, datatype, dest, tag, comm, send_mode::ready},
                      request);
}
TELPHER_MPI(Irsend_c,
            (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm, MPI_Request* request),
            (buf, count, datatype, dest, tag, comm, request)) {
  if (mpi::stays_on_host(buf)) [[likely]]
    return pmpi::Irsend_c(buf, count, datatype, dest, tag, comm, request);
  return slow_Irsend_c(buf, count, datatype, dest, tag, comm, request);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Irecv_c(void* buf, MPI_Count count, MPI_Datatype datatype,
                                          int source, int tag, MPI_Comm comm,
                                          MPI_Request* request) {
  if (!entry::active()) return pmpi::Irecv_c(buf, count, datatype, source, tag, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buf});
  return pt2pt::irecv({"MPI_Irecv_c", buf, count, datatype, source, tag, comm}, request);
}
TELPHER_MPI(Irecv_c,
            (void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Request* request), (buf, count, datatype, source, tag, comm, request)) {
  if (mpi::posts_plain(buf, count, datatype, tag)) [[likely]]
    return mpi::post_at_once(buf, count, datatype, source, tag, comm, request);
  return slow_Irecv_c(buf, count, datatype, source, tag, comm, request);
}

// 3.8 Probe and cancel
TELPHER_MPI(Mrecv_c,
            (void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
             MPI_Status* status), (buf, count, datatype, message, status)) {
  if (!entry::active()) return pmpi::Mrecv_c(buf, count, datatype, message, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  return pt2pt::mrecv("MPI_Mrecv_c", buf, count, datatype, message, status);
}

// 3.8 Probe and cancel
TELPHER_MPI(Imrecv_c,
            (void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
             MPI_Request* request), (buf, count, datatype, message, request)) {
  if (!entry::active()) return pmpi::Imrecv_c(buf, count, datatype, message, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  return pt2pt::imrecv("MPI_Imrecv_c", buf, count, datatype, message, request);
}

// 3.9 Persistent communication requests
TELPHER_MPI(Send_init_c,
            (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm, MPI_Request* request),
            (buf, count, datatype, dest, tag, comm, request)) {
  if (!entry::active()) return pmpi::Send_init_c(buf, count, datatype, dest, tag, comm, request);
  return pt2pt::send_init({"MPI_Send_init_c", buf, count, datatype, dest, tag, comm}, request);
}

// 3.9 Persistent communication requests
TELPHER_MPI(Bsend_init_c,
            (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm, MPI_Request* request),
            (buf, count, datatype, dest, tag, comm, request)) {
  if (!entry::active()) return pmpi::Bsend_init_c(buf, count, datatype, dest, tag, comm, request);
  return pt2pt::send_init({"MPI_Bsend_init_c", buf, count, datatype, dest, tag, comm,
                           send_mode::buffered}, request);
}

// 3.9 Persistent communication requests
TELPHER_MPI(Ssend_init_c,
            (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm, MPI_Request* request),
            (buf, count, datatype, dest, tag, comm, request)) {
  if (!entry::active()) return pmpi::Ssend_init_c(buf, count, datatype, dest, tag, comm, request);
  return pt2pt::send_init({"MPI_Ssend_init_c", buf, count, datatype, dest, tag, comm,
                           send_mode::synchronous}, request);
}

// 3.9 Persistent communication requests
TELPHER_MPI(Rsend_init_c,
            (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             MPI_Comm comm, MPI_Request* request),
            (buf, count, datatype, dest, tag, comm, request)) {
  if (!entry::active()) return pmpi::Rsend_init_c(buf, count, datatype, dest, tag, comm, request);
  return pt2pt::send_init({"MPI_Rsend_init_c", buf, count, datatype, dest, tag, comm,
                           send_mode::ready}, request);
}

// 3.9 Persistent communication requests
TELPHER_MPI(Recv_init_c,
            (void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Request* request), (buf, count, datatype, source, tag, comm, request)) {
  if (!entry::active()) return pmpi::Recv_init_c(buf, count, datatype, source, tag, comm, request);
  return pt2pt::recv_init({"MPI_Recv_init_c", buf, count, datatype, source, tag, comm}, request);
}

// 3.10 Send-receive
[[gnu::noinline]] static int slow_Sendrecv_c(const void* sendbuf, MPI_Count sendcount,
                                             MPI_Datatype sendtype, int dest, int sendtag,
                                             void* recvbuf, MPI_Count recvcount,
                                             MPI_Datatype recvtype, int source, int recvtag,
                                             MPI_Comm comm, MPI_Status* status) {
  if (!entry::active())
    return pmpi::Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                            recvtype, source, recvtag, comm, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  return pt2pt::sendrecv({"MPI_Sendrecv_c", sendbuf, sendcount, sendtype, dest, sendtag, comm},
                         {"MPI_Sendrecv_c", recvbuf, recvcount, recvtype, source, recvtag, comm},
                         status);
}
TELPHER_MPI(Sendrecv_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status),
            (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
             recvtag, comm, status)) {
  if (mpi::exchanges_plain(sendbuf, sendcount, recvbuf, recvcount, recvtag)) [[likely]]
    return mpi::exchange_at_once(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                                 recvtype, source, recvtag, comm, status);
  return slow_Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                         source, recvtag, comm, status);
}

// 3.10 Send-receive
TELPHER_MPI(Sendrecv_replace_c,
            (void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
             int recvtag, MPI_Comm comm, MPI_Status* status),
            (buf, count, datatype, dest, sendtag, source, recvtag, comm, status)) {
  if (!entry::active())
    return pmpi::Sendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm,
                                    status);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buf});
  if (int code = 0; mpi::replace_plain({"MPI_Sendrecv_replace_c", buf, count, datatype, dest,
                                        sendtag, source, recvtag, comm}, status, &code))
    return code;
  return pt2pt::sendrecv_replace({"MPI_Sendrecv_replace_c", buf, count, datatype, dest, sendtag,
                                  source, recvtag, comm}, status);
}

// 3.10 Send-receive
TELPHER_MPI(Isendrecv_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
             recvtag, comm, request)) {
  if (!entry::active())
    return pmpi::Isendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                             recvtype, source, recvtag, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  return pt2pt::isendrecv({"MPI_Isendrecv_c", sendbuf, sendcount, sendtype, dest, sendtag, comm},
                          {"MPI_Isendrecv_c", recvbuf, recvcount, recvtype, source, recvtag, comm},
                          request);
}

// 3.10 Send-receive
TELPHER_MPI(Isendrecv_replace_c,
            (void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
             int recvtag, MPI_Comm comm, MPI_Request* request),
            (buf, count, datatype, dest, sendtag, source, recvtag, comm, request)) {
  if (!entry::active())
    return pmpi::Isendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm,
                                     request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buf});
  return pt2pt::isendrecv_replace({"MPI_Isendrecv_replace_c", buf, count, datatype, dest, sendtag,
                                   source, recvtag, comm}, request);
}

#endif  // TELPHER_HOST_HAS_Send_c

}  // extern "C"
