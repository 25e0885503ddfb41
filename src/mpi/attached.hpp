// SPDX-License-Identifier: BSD-3-Clause
// Buffers for MPI_Bsend. Messages of device memory need none. The CPU copies those of host memory
// into the buffer. So if the program's buffer is in device memory, the host MPI gets another one in
// host memory. The program gets its own back when it detaches.
#pragma once

#include "mpi/entry.hpp"

namespace telpher::mpi {

/// Memory that stands for `buffer`, which becomes its address, where that is device memory; the
/// error that the call returns if there is none.
int stand_in(MPI_Comm comm, const char* call, void*& buffer, MPI_Count bytes) noexcept;
/// What the host MPI does not have, or no longer has: the program's own buffer.
void* take_back(void* buffer) noexcept;

/// Bodies of the functions that attach and detach a buffer; `host` calls the host MPI's.
template <class Host>
int attach_buffer(MPI_Comm comm, const char* call, void*& buffer, MPI_Count bytes,
                  const Host& host) noexcept {
  if (const int error = stand_in(comm, call, buffer, bytes)) return error;
  const int rc = host();
  if (rc != MPI_SUCCESS) take_back(buffer);
  return rc;
}

template <class Host>
int detach_buffer(void* buffer_addr, const Host& host) noexcept {
  const entry::blocking_call guard;
  const int rc = host();
  void** const buffer = static_cast<void**>(buffer_addr);
  if (rc == MPI_SUCCESS) *buffer = take_back(*buffer);
  return rc;
}

}  // namespace telpher::mpi
