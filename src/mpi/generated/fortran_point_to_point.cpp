// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Point-to-point communication (chapter 3):
// PMPI's names, for the host MPI's Fortran bindings (mpi/fortran.hpp).
#include "host_mpi/host_mpi.hpp"
#include "mpi/fortran.hpp"

using namespace telpher;

#if !defined(MPI_ABI)  // the MPI beneath it may have other PMPI functions

extern "C" {

int PMPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Send(buf, count, datatype, dest, tag, comm)
      : pmpi::Send(buf, count, datatype, dest, tag, comm);
}

int PMPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Recv(buf, count, datatype, source, tag, comm, status)
      : pmpi::Recv(buf, count, datatype, source, tag, comm, status);
}

int PMPI_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Bsend(buf, count, datatype, dest, tag, comm)
      : pmpi::Bsend(buf, count, datatype, dest, tag, comm);
}

int PMPI_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Ssend(buf, count, datatype, dest, tag, comm)
      : pmpi::Ssend(buf, count, datatype, dest, tag, comm);
}

int PMPI_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Rsend(buf, count, datatype, dest, tag, comm)
      : pmpi::Rsend(buf, count, datatype, dest, tag, comm);
}

int PMPI_Buffer_attach(void* buffer, int size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Buffer_attach(buffer, size) : pmpi::Buffer_attach(buffer, size);
}

int PMPI_Buffer_detach(void* buffer_addr, int* size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Buffer_detach(buffer_addr, size) : pmpi::Buffer_detach(buffer_addr, size);
}

int PMPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Isend(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Isend(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Ibsend(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Ibsend(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Issend(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Issend(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Irsend(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Irsend(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Irecv(buf, count, datatype, source, tag, comm, request)
      : pmpi::Irecv(buf, count, datatype, source, tag, comm, request);
}

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Probe(source, tag, comm, status) : pmpi::Probe(source, tag, comm, status);
}

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Iprobe(source, tag, comm, flag, status)
      : pmpi::Iprobe(source, tag, comm, flag, status);
}

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Mprobe(source, tag, comm, message, status)
      : pmpi::Mprobe(source, tag, comm, message, status);
}

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                 MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Improbe(source, tag, comm, flag, message, status)
      : pmpi::Improbe(source, tag, comm, flag, message, status);
}

int PMPI_Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
               MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Mrecv(buf, count, datatype, message, status)
      : pmpi::Mrecv(buf, count, datatype, message, status);
}

int PMPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
                MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Imrecv(buf, count, datatype, message, request)
      : pmpi::Imrecv(buf, count, datatype, message, request);
}

int PMPI_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Send_init(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Send_init(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Bsend_init(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Bsend_init(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Ssend_init(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Ssend_init(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Rsend_init(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Rsend_init(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Recv_init(buf, count, datatype, source, tag, comm, request)
      : pmpi::Recv_init(buf, count, datatype, source, tag, comm, request);
}

int PMPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                     source, recvtag, comm, status)
                         : pmpi::Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,
                                          recvcount, recvtype, source, recvtag, comm, status);
}

int PMPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                          int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, status)
          : pmpi::Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm,
                                   status);
}

#if TELPHER_HOST_HAS_Isendrecv  // MPI 4.0

int PMPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                   void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                   MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                      source, recvtag, comm, request)
                          : pmpi::Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,
                                            recvcount, recvtype, source, recvtag, comm, request);
}

int PMPI_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                           int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request)
          : pmpi::Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm,
                                    request);
}

int PMPI_Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
                    int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request)
      : pmpi::Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
}

int PMPI_Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source,
                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Precv_init(buf, partitions, count, datatype, source, tag, comm, info, request)
          : pmpi::Precv_init(buf, partitions, count, datatype, source, tag, comm, info, request);
}

#endif  // TELPHER_HOST_HAS_Isendrecv

#if TELPHER_HOST_HAS_Buffer_flush  // MPI 4.1

int PMPI_Buffer_flush() {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Buffer_flush() : pmpi::Buffer_flush();
}

int PMPI_Comm_attach_buffer(MPI_Comm comm, void* buffer, int size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_attach_buffer(comm, buffer, size)
      : pmpi::Comm_attach_buffer(comm, buffer, size);
}

int PMPI_Comm_detach_buffer(MPI_Comm comm, void* buffer_addr, int* size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_detach_buffer(comm, buffer_addr, size)
      : pmpi::Comm_detach_buffer(comm, buffer_addr, size);
}

int PMPI_Comm_flush_buffer(MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_flush_buffer(comm) : pmpi::Comm_flush_buffer(comm);
}

int PMPI_Session_attach_buffer(MPI_Session session, void* buffer, int size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Session_attach_buffer(session, buffer, size)
      : pmpi::Session_attach_buffer(session, buffer, size);
}

int PMPI_Session_detach_buffer(MPI_Session session, void* buffer_addr, int* size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Session_detach_buffer(session, buffer_addr, size)
      : pmpi::Session_detach_buffer(session, buffer_addr, size);
}

int PMPI_Session_flush_buffer(MPI_Session session) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Session_flush_buffer(session) : pmpi::Session_flush_buffer(session);
}

#endif  // TELPHER_HOST_HAS_Buffer_flush

#if TELPHER_HOST_HAS_Send_c  // large counts, MPI 4.0

int PMPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Send_c(buf, count, datatype, dest, tag, comm)
      : pmpi::Send_c(buf, count, datatype, dest, tag, comm);
}

int PMPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Recv_c(buf, count, datatype, source, tag, comm, status)
      : pmpi::Recv_c(buf, count, datatype, source, tag, comm, status);
}

int PMPI_Bsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Bsend_c(buf, count, datatype, dest, tag, comm)
      : pmpi::Bsend_c(buf, count, datatype, dest, tag, comm);
}

int PMPI_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Ssend_c(buf, count, datatype, dest, tag, comm)
      : pmpi::Ssend_c(buf, count, datatype, dest, tag, comm);
}

int PMPI_Rsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Rsend_c(buf, count, datatype, dest, tag, comm)
      : pmpi::Rsend_c(buf, count, datatype, dest, tag, comm);
}

int PMPI_Buffer_attach_c(void* buffer, MPI_Count size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Buffer_attach_c(buffer, size) : pmpi::Buffer_attach_c(buffer, size);
}

int PMPI_Buffer_detach_c(void* buffer_addr, MPI_Count* size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Buffer_detach_c(buffer_addr, size)
      : pmpi::Buffer_detach_c(buffer_addr, size);
}

int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void* buffer, MPI_Count size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_attach_buffer_c(comm, buffer, size)
      : pmpi::Comm_attach_buffer_c(comm, buffer, size);
}

int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void* buffer_addr, MPI_Count* size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_detach_buffer_c(comm, buffer_addr, size)
      : pmpi::Comm_detach_buffer_c(comm, buffer_addr, size);
}

int PMPI_Session_attach_buffer_c(MPI_Session session, void* buffer, MPI_Count size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Session_attach_buffer_c(session, buffer, size)
      : pmpi::Session_attach_buffer_c(session, buffer, size);
}

int PMPI_Session_detach_buffer_c(MPI_Session session, void* buffer_addr, MPI_Count* size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Session_detach_buffer_c(session, buffer_addr, size)
      : pmpi::Session_detach_buffer_c(session, buffer_addr, size);
}

int PMPI_Isend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Isend_c(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Isend_c(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Ibsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Ibsend_c(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Ibsend_c(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Issend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Issend_c(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Issend_c(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Irsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Irsend_c(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Irsend_c(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Irecv_c(buf, count, datatype, source, tag, comm, request)
      : pmpi::Irecv_c(buf, count, datatype, source, tag, comm, request);
}

int PMPI_Mrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                 MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Mrecv_c(buf, count, datatype, message, status)
      : pmpi::Mrecv_c(buf, count, datatype, message, status);
}

int PMPI_Imrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                  MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Imrecv_c(buf, count, datatype, message, request)
      : pmpi::Imrecv_c(buf, count, datatype, message, request);
}

int PMPI_Send_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Send_init_c(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Send_init_c(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Bsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Bsend_init_c(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Bsend_init_c(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Ssend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Ssend_init_c(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Ssend_init_c(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Rsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Rsend_init_c(buf, count, datatype, dest, tag, comm, request)
      : pmpi::Rsend_init_c(buf, count, datatype, dest, tag, comm, request);
}

int PMPI_Recv_init_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Recv_init_c(buf, count, datatype, source, tag, comm, request)
      : pmpi::Recv_init_c(buf, count, datatype, source, tag, comm, request);
}

int PMPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                       source, recvtag, comm, status)
                           : pmpi::Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,
                                              recvcount, recvtype, source, recvtag, comm, status);
}

int PMPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
                            int sendtag, int source, int recvtag, MPI_Comm comm,
                            MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Sendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, status)
          : pmpi::Sendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm,
                                     status);
}

int PMPI_Isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                     int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                     int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Isendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                        source, recvtag, comm, request)
                            : pmpi::Isendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag,
                                                recvbuf, recvcount, recvtype, source, recvtag, comm,
                                                request);
}

int PMPI_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
                             int sendtag, int source, int recvtag, MPI_Comm comm,
                             MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Isendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, request)
          : pmpi::Isendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm,
                                      request);
}

#endif  // TELPHER_HOST_HAS_Send_c

}  // extern "C"

#endif  // !defined(MPI_ABI)
