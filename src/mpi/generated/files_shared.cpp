// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Input and output by shared file pointers and split collectives (chapter 14),
// in the sections of MPI 4.0.
#include "mpi/entry.hpp"

using namespace telpher;

extern "C" {

// 14.4 Data access
int MPI_File_read_shared(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                         MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_shared(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_shared", {buf}))
    return error;
  return pmpi::File_read_shared(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_write_shared(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                          MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_shared(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_shared", {buf}))
    return error;
  return pmpi::File_write_shared(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_iread_shared(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                          MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iread_shared(fh, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iread_shared", {buf}))
    return error;
  return pmpi::File_iread_shared(fh, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_iwrite_shared(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                           MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iwrite_shared(fh, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iwrite_shared", {buf}))
    return error;
  return pmpi::File_iwrite_shared(fh, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_read_ordered(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                          MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_ordered(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_ordered", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_read_ordered(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_write_ordered(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                           MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_ordered(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_ordered", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_write_ordered(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  if (!entry::active()) return pmpi::File_seek_shared(fh, offset, whence);
  entry::blocking_call guard;
  return pmpi::File_seek_shared(fh, offset, whence);
}

// 14.4 Data access
int MPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void* buf, int count,
                               MPI_Datatype datatype) {
  if (!entry::active()) return pmpi::File_read_at_all_begin(fh, offset, buf, count, datatype);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_at_all_begin", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_read_at_all_begin(fh, offset, buf, count, datatype);
}

// 14.4 Data access
int MPI_File_read_at_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_at_all_end(fh, buf, status);
  entry::blocking_call guard;
  return pmpi::File_read_at_all_end(fh, buf, status);
}

// 14.4 Data access
int MPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                                MPI_Datatype datatype) {
  if (!entry::active()) return pmpi::File_write_at_all_begin(fh, offset, buf, count, datatype);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_at_all_begin", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_write_at_all_begin(fh, offset, buf, count, datatype);
}

// 14.4 Data access
int MPI_File_write_at_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_at_all_end(fh, buf, status);
  entry::blocking_call guard;
  return pmpi::File_write_at_all_end(fh, buf, status);
}

// 14.4 Data access
int MPI_File_read_all_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
  if (!entry::active()) return pmpi::File_read_all_begin(fh, buf, count, datatype);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_all_begin", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_read_all_begin(fh, buf, count, datatype);
}

// 14.4 Data access
int MPI_File_read_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_all_end(fh, buf, status);
  entry::blocking_call guard;
  return pmpi::File_read_all_end(fh, buf, status);
}

// 14.4 Data access
int MPI_File_write_all_begin(MPI_File fh, const void* buf, int count, MPI_Datatype datatype) {
  if (!entry::active()) return pmpi::File_write_all_begin(fh, buf, count, datatype);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_all_begin", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_write_all_begin(fh, buf, count, datatype);
}

// 14.4 Data access
int MPI_File_write_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_all_end(fh, buf, status);
  entry::blocking_call guard;
  return pmpi::File_write_all_end(fh, buf, status);
}

// 14.4 Data access
int MPI_File_read_ordered_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
  if (!entry::active()) return pmpi::File_read_ordered_begin(fh, buf, count, datatype);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_ordered_begin", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_read_ordered_begin(fh, buf, count, datatype);
}

// 14.4 Data access
int MPI_File_read_ordered_end(MPI_File fh, void* buf, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_ordered_end(fh, buf, status);
  entry::blocking_call guard;
  return pmpi::File_read_ordered_end(fh, buf, status);
}

// 14.4 Data access
int MPI_File_write_ordered_begin(MPI_File fh, const void* buf, int count, MPI_Datatype datatype) {
  if (!entry::active()) return pmpi::File_write_ordered_begin(fh, buf, count, datatype);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_ordered_begin", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_write_ordered_begin(fh, buf, count, datatype);
}

// 14.4 Data access
int MPI_File_write_ordered_end(MPI_File fh, const void* buf, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_ordered_end(fh, buf, status);
  entry::blocking_call guard;
  return pmpi::File_write_ordered_end(fh, buf, status);
}

#if TELPHER_HOST_HAS_File_read_shared_c  // large counts, MPI 4.0

// 14.4 Data access
int MPI_File_read_shared_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_shared_c(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_shared_c", {buf}))
    return error;
  return pmpi::File_read_shared_c(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_write_shared_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_shared_c(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_shared_c", {buf}))
    return error;
  return pmpi::File_write_shared_c(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_iread_shared_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iread_shared_c(fh, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iread_shared_c", {buf}))
    return error;
  return pmpi::File_iread_shared_c(fh, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_iwrite_shared_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iwrite_shared_c(fh, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iwrite_shared_c", {buf}))
    return error;
  return pmpi::File_iwrite_shared_c(fh, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_read_ordered_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_ordered_c(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_ordered_c", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_read_ordered_c(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_write_ordered_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_ordered_c(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_ordered_c", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_write_ordered_c(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                                 MPI_Datatype datatype) {
  if (!entry::active()) return pmpi::File_read_at_all_begin_c(fh, offset, buf, count, datatype);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_at_all_begin_c", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_read_at_all_begin_c(fh, offset, buf, count, datatype);
}

// 14.4 Data access
int MPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                                  MPI_Datatype datatype) {
  if (!entry::active()) return pmpi::File_write_at_all_begin_c(fh, offset, buf, count, datatype);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_at_all_begin_c", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_write_at_all_begin_c(fh, offset, buf, count, datatype);
}

// 14.4 Data access
int MPI_File_read_all_begin_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
  if (!entry::active()) return pmpi::File_read_all_begin_c(fh, buf, count, datatype);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_all_begin_c", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_read_all_begin_c(fh, buf, count, datatype);
}

// 14.4 Data access
int MPI_File_write_all_begin_c(MPI_File fh, const void* buf, MPI_Count count,
                               MPI_Datatype datatype) {
  if (!entry::active()) return pmpi::File_write_all_begin_c(fh, buf, count, datatype);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_all_begin_c", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_write_all_begin_c(fh, buf, count, datatype);
}

// 14.4 Data access
int MPI_File_read_ordered_begin_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
  if (!entry::active()) return pmpi::File_read_ordered_begin_c(fh, buf, count, datatype);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_ordered_begin_c", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_read_ordered_begin_c(fh, buf, count, datatype);
}

// 14.4 Data access
int MPI_File_write_ordered_begin_c(MPI_File fh, const void* buf, MPI_Count count,
                                   MPI_Datatype datatype) {
  if (!entry::active()) return pmpi::File_write_ordered_begin_c(fh, buf, count, datatype);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_ordered_begin_c", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_write_ordered_begin_c(fh, buf, count, datatype);
}

#endif  // TELPHER_HOST_HAS_File_read_shared_c

}  // extern "C"
