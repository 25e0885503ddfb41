// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Input and output by shared file pointers and split collectives (chapter 14):
// PMPI's names, for the host MPI's Fortran bindings (mpi/fortran.hpp).
#include "host_mpi/host_mpi.hpp"
#include "mpi/fortran.hpp"

using namespace telpher;

#if !defined(MPI_ABI)  // the MPI beneath it may have other PMPI functions

extern "C" {

int PMPI_File_read_shared(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                          MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_shared(fh, buf, count, datatype, status)
      : pmpi::File_read_shared(fh, buf, count, datatype, status);
}

int PMPI_File_write_shared(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                           MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_shared(fh, buf, count, datatype, status)
      : pmpi::File_write_shared(fh, buf, count, datatype, status);
}

int PMPI_File_iread_shared(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                           MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iread_shared(fh, buf, count, datatype, request)
      : pmpi::File_iread_shared(fh, buf, count, datatype, request);
}

int PMPI_File_iwrite_shared(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                            MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iwrite_shared(fh, buf, count, datatype, request)
      : pmpi::File_iwrite_shared(fh, buf, count, datatype, request);
}

int PMPI_File_read_ordered(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                           MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_ordered(fh, buf, count, datatype, status)
      : pmpi::File_read_ordered(fh, buf, count, datatype, status);
}

int PMPI_File_write_ordered(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                            MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_ordered(fh, buf, count, datatype, status)
      : pmpi::File_write_ordered(fh, buf, count, datatype, status);
}

int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_seek_shared(fh, offset, whence)
      : pmpi::File_seek_shared(fh, offset, whence);
}

int PMPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void* buf, int count,
                                MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_at_all_begin(fh, offset, buf, count, datatype)
      : pmpi::File_read_at_all_begin(fh, offset, buf, count, datatype);
}

int PMPI_File_read_at_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_at_all_end(fh, buf, status)
      : pmpi::File_read_at_all_end(fh, buf, status);
}

int PMPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                                 MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_at_all_begin(fh, offset, buf, count, datatype)
      : pmpi::File_write_at_all_begin(fh, offset, buf, count, datatype);
}

int PMPI_File_write_at_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_at_all_end(fh, buf, status)
      : pmpi::File_write_at_all_end(fh, buf, status);
}

int PMPI_File_read_all_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_all_begin(fh, buf, count, datatype)
      : pmpi::File_read_all_begin(fh, buf, count, datatype);
}

int PMPI_File_read_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_all_end(fh, buf, status)
      : pmpi::File_read_all_end(fh, buf, status);
}

int PMPI_File_write_all_begin(MPI_File fh, const void* buf, int count, MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_all_begin(fh, buf, count, datatype)
      : pmpi::File_write_all_begin(fh, buf, count, datatype);
}

int PMPI_File_write_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_all_end(fh, buf, status)
      : pmpi::File_write_all_end(fh, buf, status);
}

int PMPI_File_read_ordered_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_ordered_begin(fh, buf, count, datatype)
      : pmpi::File_read_ordered_begin(fh, buf, count, datatype);
}

int PMPI_File_read_ordered_end(MPI_File fh, void* buf, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_ordered_end(fh, buf, status)
      : pmpi::File_read_ordered_end(fh, buf, status);
}

int PMPI_File_write_ordered_begin(MPI_File fh, const void* buf, int count, MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_ordered_begin(fh, buf, count, datatype)
      : pmpi::File_write_ordered_begin(fh, buf, count, datatype);
}

int PMPI_File_write_ordered_end(MPI_File fh, const void* buf, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_ordered_end(fh, buf, status)
      : pmpi::File_write_ordered_end(fh, buf, status);
}

#if TELPHER_HOST_HAS_File_read_shared_c  // large counts, MPI 4.0

int PMPI_File_read_shared_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_shared_c(fh, buf, count, datatype, status)
      : pmpi::File_read_shared_c(fh, buf, count, datatype, status);
}

int PMPI_File_write_shared_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_shared_c(fh, buf, count, datatype, status)
      : pmpi::File_write_shared_c(fh, buf, count, datatype, status);
}

int PMPI_File_iread_shared_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iread_shared_c(fh, buf, count, datatype, request)
      : pmpi::File_iread_shared_c(fh, buf, count, datatype, request);
}

int PMPI_File_iwrite_shared_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iwrite_shared_c(fh, buf, count, datatype, request)
      : pmpi::File_iwrite_shared_c(fh, buf, count, datatype, request);
}

int PMPI_File_read_ordered_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_ordered_c(fh, buf, count, datatype, status)
      : pmpi::File_read_ordered_c(fh, buf, count, datatype, status);
}

int PMPI_File_write_ordered_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_ordered_c(fh, buf, count, datatype, status)
      : pmpi::File_write_ordered_c(fh, buf, count, datatype, status);
}

int PMPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                                  MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_at_all_begin_c(fh, offset, buf, count, datatype)
      : pmpi::File_read_at_all_begin_c(fh, offset, buf, count, datatype);
}

int PMPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                                   MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_at_all_begin_c(fh, offset, buf, count, datatype)
      : pmpi::File_write_at_all_begin_c(fh, offset, buf, count, datatype);
}

int PMPI_File_read_all_begin_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_all_begin_c(fh, buf, count, datatype)
      : pmpi::File_read_all_begin_c(fh, buf, count, datatype);
}

int PMPI_File_write_all_begin_c(MPI_File fh, const void* buf, MPI_Count count,
                                MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_all_begin_c(fh, buf, count, datatype)
      : pmpi::File_write_all_begin_c(fh, buf, count, datatype);
}

int PMPI_File_read_ordered_begin_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_ordered_begin_c(fh, buf, count, datatype)
      : pmpi::File_read_ordered_begin_c(fh, buf, count, datatype);
}

int PMPI_File_write_ordered_begin_c(MPI_File fh, const void* buf, MPI_Count count,
                                    MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_ordered_begin_c(fh, buf, count, datatype)
      : pmpi::File_write_ordered_begin_c(fh, buf, count, datatype);
}

#endif  // TELPHER_HOST_HAS_File_read_shared_c

}  // extern "C"

#endif  // !defined(MPI_ABI)
