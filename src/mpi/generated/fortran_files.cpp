// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Input and output (chapter 14):
// PMPI's names, for the host MPI's Fortran bindings (mpi/fortran.hpp).
#include "host_mpi/host_mpi.hpp"
#include "mpi/fortran.hpp"

using namespace telpher;

#if !defined(MPI_ABI)  // the MPI beneath it may have other PMPI functions

extern "C" {

int PMPI_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_open(comm, filename, amode, info, fh)
      : pmpi::File_open(comm, filename, amode, info, fh);
}

int PMPI_File_close(MPI_File* fh) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_close(fh) : pmpi::File_close(fh);
}

int PMPI_File_set_size(MPI_File fh, MPI_Offset size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_set_size(fh, size) : pmpi::File_set_size(fh, size);
}

int PMPI_File_preallocate(MPI_File fh, MPI_Offset size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_preallocate(fh, size) : pmpi::File_preallocate(fh, size);
}

int PMPI_File_set_info(MPI_File fh, MPI_Info info) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_set_info(fh, info) : pmpi::File_set_info(fh, info);
}

int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                       const char* datarep, MPI_Info info) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_set_view(fh, disp, etype, filetype, datarep, info)
      : pmpi::File_set_view(fh, disp, etype, filetype, datarep, info);
}

int PMPI_File_read_at(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                      MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_at(fh, offset, buf, count, datatype, status)
      : pmpi::File_read_at(fh, offset, buf, count, datatype, status);
}

int PMPI_File_write_at(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                       MPI_Datatype datatype, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_at(fh, offset, buf, count, datatype, status)
      : pmpi::File_write_at(fh, offset, buf, count, datatype, status);
}

int PMPI_File_iread_at(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                       MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iread_at(fh, offset, buf, count, datatype, request)
      : pmpi::File_iread_at(fh, offset, buf, count, datatype, request);
}

int PMPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                        MPI_Datatype datatype, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iwrite_at(fh, offset, buf, count, datatype, request)
      : pmpi::File_iwrite_at(fh, offset, buf, count, datatype, request);
}

int PMPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void* buf, int count,
                          MPI_Datatype datatype, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_at_all(fh, offset, buf, count, datatype, status)
      : pmpi::File_read_at_all(fh, offset, buf, count, datatype, status);
}

int PMPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                           MPI_Datatype datatype, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_at_all(fh, offset, buf, count, datatype, status)
      : pmpi::File_write_at_all(fh, offset, buf, count, datatype, status);
}

int PMPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void* buf, int count,
                           MPI_Datatype datatype, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iread_at_all(fh, offset, buf, count, datatype, request)
      : pmpi::File_iread_at_all(fh, offset, buf, count, datatype, request);
}

int PMPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                            MPI_Datatype datatype, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iwrite_at_all(fh, offset, buf, count, datatype, request)
      : pmpi::File_iwrite_at_all(fh, offset, buf, count, datatype, request);
}

int PMPI_File_read(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read(fh, buf, count, datatype, status)
      : pmpi::File_read(fh, buf, count, datatype, status);
}

int PMPI_File_write(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                    MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write(fh, buf, count, datatype, status)
      : pmpi::File_write(fh, buf, count, datatype, status);
}

int PMPI_File_iread(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                    MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iread(fh, buf, count, datatype, request)
      : pmpi::File_iread(fh, buf, count, datatype, request);
}

int PMPI_File_iwrite(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                     MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iwrite(fh, buf, count, datatype, request)
      : pmpi::File_iwrite(fh, buf, count, datatype, request);
}

int PMPI_File_read_all(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                       MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_all(fh, buf, count, datatype, status)
      : pmpi::File_read_all(fh, buf, count, datatype, status);
}

int PMPI_File_write_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                        MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_all(fh, buf, count, datatype, status)
      : pmpi::File_write_all(fh, buf, count, datatype, status);
}

int PMPI_File_iread_all(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                        MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iread_all(fh, buf, count, datatype, request)
      : pmpi::File_iread_all(fh, buf, count, datatype, request);
}

int PMPI_File_iwrite_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                         MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iwrite_all(fh, buf, count, datatype, request)
      : pmpi::File_iwrite_all(fh, buf, count, datatype, request);
}

int PMPI_File_set_atomicity(MPI_File fh, int flag) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_set_atomicity(fh, flag) : pmpi::File_set_atomicity(fh, flag);
}

int PMPI_File_sync(MPI_File fh) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_sync(fh) : pmpi::File_sync(fh);
}

#if TELPHER_HOST_HAS_File_read_at_c  // large counts, MPI 4.0

int PMPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_at_c(fh, offset, buf, count, datatype, status)
      : pmpi::File_read_at_c(fh, offset, buf, count, datatype, status);
}

int PMPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_at_c(fh, offset, buf, count, datatype, status)
      : pmpi::File_write_at_c(fh, offset, buf, count, datatype, status);
}

int PMPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iread_at_c(fh, offset, buf, count, datatype, request)
      : pmpi::File_iread_at_c(fh, offset, buf, count, datatype, request);
}

int PMPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iwrite_at_c(fh, offset, buf, count, datatype, request)
      : pmpi::File_iwrite_at_c(fh, offset, buf, count, datatype, request);
}

int PMPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_at_all_c(fh, offset, buf, count, datatype, status)
      : pmpi::File_read_at_all_c(fh, offset, buf, count, datatype, status);
}

int PMPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_at_all_c(fh, offset, buf, count, datatype, status)
      : pmpi::File_write_at_all_c(fh, offset, buf, count, datatype, status);
}

int PMPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iread_at_all_c(fh, offset, buf, count, datatype, request)
      : pmpi::File_iread_at_all_c(fh, offset, buf, count, datatype, request);
}

int PMPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iwrite_at_all_c(fh, offset, buf, count, datatype, request)
      : pmpi::File_iwrite_at_all_c(fh, offset, buf, count, datatype, request);
}

int PMPI_File_read_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_c(fh, buf, count, datatype, status)
      : pmpi::File_read_c(fh, buf, count, datatype, status);
}

int PMPI_File_write_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_c(fh, buf, count, datatype, status)
      : pmpi::File_write_c(fh, buf, count, datatype, status);
}

int PMPI_File_iread_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iread_c(fh, buf, count, datatype, request)
      : pmpi::File_iread_c(fh, buf, count, datatype, request);
}

int PMPI_File_iwrite_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iwrite_c(fh, buf, count, datatype, request)
      : pmpi::File_iwrite_c(fh, buf, count, datatype, request);
}

int PMPI_File_read_all_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_read_all_c(fh, buf, count, datatype, status)
      : pmpi::File_read_all_c(fh, buf, count, datatype, status);
}

int PMPI_File_write_all_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_write_all_c(fh, buf, count, datatype, status)
      : pmpi::File_write_all_c(fh, buf, count, datatype, status);
}

int PMPI_File_iread_all_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iread_all_c(fh, buf, count, datatype, request)
      : pmpi::File_iread_all_c(fh, buf, count, datatype, request);
}

int PMPI_File_iwrite_all_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_File_iwrite_all_c(fh, buf, count, datatype, request)
      : pmpi::File_iwrite_all_c(fh, buf, count, datatype, request);
}

#endif  // TELPHER_HOST_HAS_File_read_at_c

}  // extern "C"

#endif  // !defined(MPI_ABI)
