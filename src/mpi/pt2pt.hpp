// SPDX-License-Identifier: BSD-3-Clause
// Bodies of the point-to-point wrappers. Counts are MPI_Count, so the int and the _c forms share
// one body. If there is nothing for Telpher to do, the body calls PMPI with the form that fits the
// count. Called only while entry::active().
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::pt2pt {

enum class send_mode { standard, buffered, synchronous, ready };

struct send_args {
  const char* call;  // "MPI_Send", for messages
  const void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int destination;
  int tag;
  MPI_Comm comm;
  send_mode mode = send_mode::standard;
  MPI_Comm ordered_by = MPI_COMM_NULL;  // whose stream it comes after; null: of `comm`
};

struct receive_args {
  const char* call;
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int source;
  int tag;
  MPI_Comm comm;
};

struct replace_args {
  const char* call;
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int destination;
  int send_tag;
  int source;
  int receive_tag;
  MPI_Comm comm;
};

int send(const send_args& a) noexcept;
int isend(const send_args& a, MPI_Request* request) noexcept;
int send_init(const send_args& a, MPI_Request* request) noexcept;

int recv(const receive_args& a, MPI_Status* status) noexcept;
int irecv(const receive_args& a, MPI_Request* request) noexcept;
int recv_init(const receive_args& a, MPI_Request* request) noexcept;

int sendrecv(const send_args& s, const receive_args& r, MPI_Status* status) noexcept;
int isendrecv(const send_args& s, const receive_args& r, MPI_Request* request) noexcept;
int sendrecv_replace(const replace_args& a, MPI_Status* status) noexcept;
int isendrecv_replace(const replace_args& a, MPI_Request* request) noexcept;

int probe(int source, int tag, MPI_Comm comm, MPI_Status* status) noexcept;
int iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) noexcept;
int mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) noexcept;
int improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
            MPI_Status* status) noexcept;
int mrecv(const char* call, void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message,
          MPI_Status* status) noexcept;
int imrecv(const char* call, void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message,
           MPI_Request* request) noexcept;

}  // namespace telpher::pt2pt
