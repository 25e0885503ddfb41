// SPDX-License-Identifier: BSD-3-Clause
// What the Fortran interface of telpher/stream.h (generated/streams_f08.cpp) makes of arguments of
// mpi_f08. A handle is an integer there, MPI_VAL. MPI_IN_PLACE and its like are variables, known by
// their addresses. A status has C's layout, in MPICH as in Open MPI.
#pragma once

#include <new>
#include <vector>

#include "host_mpi/host_mpi.hpp"
#include "mpi/array_lengths.hpp"
#pragma GCC visibility push(default)
#include "telpher/stream.h"
#pragma GCC visibility pop

namespace telpher::f08 {

MPI_Comm comm(const MPI_Fint* handle) noexcept;
MPI_Datatype type(const MPI_Fint* handle) noexcept;
MPI_Op op(const MPI_Fint* handle) noexcept;
MPI_Request request(const MPI_Fint* handle) noexcept;

std::vector<MPI_Datatype> types(const MPI_Fint* handles, int count);
std::vector<MPI_Request> requests(const MPI_Fint* handles, int count);

/// Requests that the call may change: the program's handles are set at the end of the call.
class own_requests {
 public:
  own_requests(MPI_Fint* handles, int count) : handles_(handles), all_(requests(handles, count)) {}
  own_requests(const own_requests&) = delete;
  own_requests& operator=(const own_requests&) = delete;
  ~own_requests();
  MPI_Request* data() noexcept { return all_.data(); }

 protected:
  MPI_Fint* handles_;
  std::vector<MPI_Request> all_;
};

/// One that the call makes: what the program's handle was is not read.
class new_request : public own_requests {
 public:
  explicit new_request(MPI_Fint* handle) : own_requests(handle, 0) { all_ = {MPI_REQUEST_NULL}; }
};

void* buffer(const void* address) noexcept;
MPI_Status* status(MPI_Status* address) noexcept;

/// How many types an alltoallw sends: none in place, where Fortran's array means nothing.
int sends(const void* sendbuf, const MPI_Fint* handle) noexcept;

/// Fortran's flag, set at the end of the call.
class flag {
 public:
  explicit flag(bool* out) noexcept : out_(out) {}
  flag(const flag&) = delete;
  flag& operator=(const flag&) = delete;
  ~flag() { *out_ = value_ != 0; }
  operator int*() noexcept { return &value_; }

 private:
  bool* out_;
  int value_ = 0;
};

/// Whether the addresses of Fortran's constants are known. Where they are not, a call might take
/// one for a buffer, so all are refused.
bool knows_constants() noexcept;
int refuse(const char* name) noexcept;
int lacks_memory(const char* name) noexcept;

template <class Call>
void call(const char* name, int* ierror, Call of_c) noexcept {
  int code = MPI_SUCCESS;
  try {
    code = knows_constants() ? of_c() : refuse(name);
  } catch (const std::bad_alloc&) {  // for an array of handles
    code = lacks_memory(name);
  }
  if (ierror) *ierror = code;
}

}  // namespace telpher::f08
