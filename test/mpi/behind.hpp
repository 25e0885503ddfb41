// SPDX-License-Identifier: BSD-3-Clause
// Calls that Telpher does not see: the host MPI's own functions, as a library finds them that asks
// the MPI library's handle.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <initializer_list>

namespace mpi_test {

/// The host MPI's function; `telpher` is the one that the program would call.
template <class F>
F* host_function(const char* function, F* telpher) {
  for (const char* name : {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1"})
    if (void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD))
      return reinterpret_cast<F*>(dlsym(library, function));
  return telpher;
}

inline int host_comm_free(MPI_Comm* comm) {
  return host_function("MPI_Comm_free", MPI_Comm_free)(comm);
}

}  // namespace mpi_test
