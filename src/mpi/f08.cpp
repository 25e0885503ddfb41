// SPDX-License-Identifier: BSD-3-Clause
#ifndef MPI_ABI  // as generated/streams_f08.cpp
#include "mpi/f08.hpp"

#include "host_mpi/error.hpp"

namespace telpher::f08 {
namespace {

// Functions in Open MPI, macros in MPICH.
#ifdef OPEN_MPI
#define TELPHER_CONVERT(name, handle) \
  reinterpret_cast<decltype(&P##name)>(host_mpi::variable<"P" #name>())(handle)
#else
#define TELPHER_CONVERT(name, handle) name(handle)
#endif

// mpi_f08 binds them to these names, whatever the compiler.
struct constants {
#ifdef OPEN_MPI
  const void* in_place = host_mpi::find_global("mpi_fortran_in_place_");
  const void* bottom = host_mpi::find_global("mpi_fortran_bottom_");
  const void* status_ignore = host_mpi::find_global("mpi_fortran_status_ignore_");
  const void* statuses_ignore = host_mpi::find_global("mpi_fortran_statuses_ignore_");
#else
  const void* in_place = host_mpi::find_global("MPIR_F08_MPI_IN_PLACE");
  const void* bottom = host_mpi::find_global("MPIR_F08_MPI_BOTTOM");
  const void* status_ignore = host_mpi::find_global("MPIR_F08_MPI_STATUS_IGNORE_OBJ");
  const void* statuses_ignore = host_mpi::find_global("MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
#endif
};

const constants& known() noexcept {
  static const constants found;
  return found;
}

template <class Handle, class Convert>
std::vector<Handle> converted(const MPI_Fint* handles, int count, Convert convert) {
  std::vector<Handle> all;
  for (int i = 0; i < count; ++i) all.push_back(convert(handles + i));
  return all;
}

}  // namespace

MPI_Comm comm(const MPI_Fint* handle) noexcept {
  return TELPHER_CONVERT(MPI_Comm_f2c, *handle);
}

MPI_Datatype type(const MPI_Fint* handle) noexcept {
  return TELPHER_CONVERT(MPI_Type_f2c, *handle);
}

MPI_Op op(const MPI_Fint* handle) noexcept {
  return TELPHER_CONVERT(MPI_Op_f2c, *handle);
}

MPI_Request request(const MPI_Fint* handle) noexcept {
  return TELPHER_CONVERT(MPI_Request_f2c, *handle);
}

std::vector<MPI_Datatype> types(const MPI_Fint* handles, int count) {
  return converted<MPI_Datatype>(handles, count, type);
}

std::vector<MPI_Request> requests(const MPI_Fint* handles, int count) {
  return converted<MPI_Request>(handles, count, request);
}

own_requests::~own_requests() {
  for (std::size_t i = 0; i < all_.size(); ++i)
    handles_[i] = TELPHER_CONVERT(MPI_Request_c2f, all_[i]);
}

void* buffer(const void* address) noexcept {
  if (address == known().in_place) return MPI_IN_PLACE;
  if (address == known().bottom) return MPI_BOTTOM;
  return const_cast<void*>(address);
}

MPI_Status* status(MPI_Status* address) noexcept {
  if (address == known().status_ignore) return MPI_STATUS_IGNORE;
  if (address == known().statuses_ignore) return MPI_STATUSES_IGNORE;
  return address;
}

int sends(const void* sendbuf, const MPI_Fint* handle) noexcept {
  return buffer(sendbuf) == MPI_IN_PLACE ? 0 : mpi::peers_of(comm(handle));
}

bool knows_constants() noexcept {
  return known().in_place && known().bottom && known().status_ignore && known().statuses_ignore;
}

int refuse(const char* name) noexcept {
  return host_mpi::fail_with(
      MPI_COMM_SELF, name, MPI_ERR_OTHER,
      "MPI_IN_PLACE and MPI_STATUS_IGNORE of this MPI's mpi_f08 were not found; "
      "link its Fortran bindings as shared libraries");
}

int lacks_memory(const char* name) noexcept {
  return host_mpi::fail_with(MPI_COMM_SELF, name, MPI_ERR_NO_MEM,
                             "there is no memory for C's form of the arrays");
}

}  // namespace telpher::f08
#endif
