// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Input and output (chapter 14),
// in the sections of MPI 4.0.
#include "mpi/entry.hpp"

using namespace telpher;

extern "C" {

// 14.2 File manipulation
int MPI_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  if (!entry::active()) return pmpi::File_open(comm, filename, amode, info, fh);
  entry::blocking_call guard;
  return pmpi::File_open(comm, filename, amode, info, fh);
}

// 14.2 File manipulation
int MPI_File_close(MPI_File* fh) {
  if (!entry::active()) return pmpi::File_close(fh);
  entry::blocking_call guard;
  return pmpi::File_close(fh);
}

// 14.2 File manipulation
int MPI_File_set_size(MPI_File fh, MPI_Offset size) {
  if (!entry::active()) return pmpi::File_set_size(fh, size);
  entry::blocking_call guard;
  return pmpi::File_set_size(fh, size);
}

// 14.2 File manipulation
int MPI_File_preallocate(MPI_File fh, MPI_Offset size) {
  if (!entry::active()) return pmpi::File_preallocate(fh, size);
  entry::blocking_call guard;
  return pmpi::File_preallocate(fh, size);
}

// 14.2 File manipulation
int MPI_File_set_info(MPI_File fh, MPI_Info info) {
  if (!entry::active()) return pmpi::File_set_info(fh, info);
  entry::blocking_call guard;
  return pmpi::File_set_info(fh, info);
}

// 14.3 File views
int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      const char* datarep, MPI_Info info) {
  if (!entry::active()) return pmpi::File_set_view(fh, disp, etype, filetype, datarep, info);
  entry::blocking_call guard;
  return pmpi::File_set_view(fh, disp, etype, filetype, datarep, info);
}

// 14.4 Data access
int MPI_File_read_at(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                     MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_at(fh, offset, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_read_at",
                                              {buf}))
    return error;
  return pmpi::File_read_at(fh, offset, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_write_at(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                      MPI_Datatype datatype, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_at(fh, offset, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_write_at",
                                              {buf}))
    return error;
  return pmpi::File_write_at(fh, offset, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_iread_at(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                      MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iread_at(fh, offset, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_iread_at",
                                              {buf}))
    return error;
  return pmpi::File_iread_at(fh, offset, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                       MPI_Datatype datatype, MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iwrite_at(fh, offset, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_iwrite_at",
                                              {buf}))
    return error;
  return pmpi::File_iwrite_at(fh, offset, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void* buf, int count,
                         MPI_Datatype datatype, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_at_all(fh, offset, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_at_all", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_read_at_all(fh, offset, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                          MPI_Datatype datatype, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_at_all(fh, offset, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_at_all", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_write_at_all(fh, offset, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void* buf, int count,
                          MPI_Datatype datatype, MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iread_at_all(fh, offset, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iread_at_all", {buf}))
    return error;
  return pmpi::File_iread_at_all(fh, offset, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                           MPI_Datatype datatype, MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iwrite_at_all(fh, offset, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iwrite_at_all", {buf}))
    return error;
  return pmpi::File_iwrite_at_all(fh, offset, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_read(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_read",
                                              {buf}))
    return error;
  return pmpi::File_read(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_write(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                   MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_write",
                                              {buf}))
    return error;
  return pmpi::File_write(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_iread(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iread(fh, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_iread",
                                              {buf}))
    return error;
  return pmpi::File_iread(fh, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_iwrite(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                    MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iwrite(fh, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_iwrite",
                                              {buf}))
    return error;
  return pmpi::File_iwrite(fh, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_read_all(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                      MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_all(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_read_all",
                                              {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_read_all(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_write_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                       MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_all(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_write_all",
                                              {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_write_all(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_iread_all(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                       MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iread_all(fh, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_iread_all",
                                              {buf}))
    return error;
  return pmpi::File_iread_all(fh, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_iwrite_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                        MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iwrite_all(fh, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iwrite_all", {buf}))
    return error;
  return pmpi::File_iwrite_all(fh, buf, count, datatype, request);
}

// 14.6 Consistency and semantics
int MPI_File_set_atomicity(MPI_File fh, int flag) {
  if (!entry::active()) return pmpi::File_set_atomicity(fh, flag);
  entry::blocking_call guard;
  return pmpi::File_set_atomicity(fh, flag);
}

// 14.6 Consistency and semantics
int MPI_File_sync(MPI_File fh) {
  if (!entry::active()) return pmpi::File_sync(fh);
  entry::blocking_call guard;
  return pmpi::File_sync(fh);
}

#if TELPHER_HOST_HAS_File_read_at_c  // large counts, MPI 4.0

// 14.4 Data access
int MPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_at_c(fh, offset, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_read_at_c",
                                              {buf}))
    return error;
  return pmpi::File_read_at_c(fh, offset, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_at_c(fh, offset, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_at_c", {buf}))
    return error;
  return pmpi::File_write_at_c(fh, offset, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iread_at_c(fh, offset, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iread_at_c", {buf}))
    return error;
  return pmpi::File_iread_at_c(fh, offset, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iwrite_at_c(fh, offset, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iwrite_at_c", {buf}))
    return error;
  return pmpi::File_iwrite_at_c(fh, offset, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_at_all_c(fh, offset, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_at_all_c", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_read_at_all_c(fh, offset, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_at_all_c(fh, offset, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_at_all_c", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_write_at_all_c(fh, offset, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iread_at_all_c(fh, offset, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iread_at_all_c", {buf}))
    return error;
  return pmpi::File_iread_at_all_c(fh, offset, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request* request) {
  if (!entry::active())
    return pmpi::File_iwrite_at_all_c(fh, offset, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iwrite_at_all_c", {buf}))
    return error;
  return pmpi::File_iwrite_at_all_c(fh, offset, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_read_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_c(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_read_c",
                                              {buf}))
    return error;
  return pmpi::File_read_c(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_write_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_c(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_write_c",
                                              {buf}))
    return error;
  return pmpi::File_write_c(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_iread_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iread_c(fh, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_iread_c",
                                              {buf}))
    return error;
  return pmpi::File_iread_c(fh, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_iwrite_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iwrite_c(fh, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh), "MPI_File_iwrite_c",
                                              {buf}))
    return error;
  return pmpi::File_iwrite_c(fh, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_read_all_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Status* status) {
  if (!entry::active()) return pmpi::File_read_all_c(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_read_all_c", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_read_all_c(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_write_all_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status* status) {
  if (!entry::active()) return pmpi::File_write_all_c(fh, buf, count, datatype, status);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_write_all_c", {buf}))
    return error;
  entry::blocking_call guard;
  return pmpi::File_write_all_c(fh, buf, count, datatype, status);
}

// 14.4 Data access
int MPI_File_iread_all_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iread_all_c(fh, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iread_all_c", {buf}))
    return error;
  return pmpi::File_iread_all_c(fh, buf, count, datatype, request);
}

// 14.4 Data access
int MPI_File_iwrite_all_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Request* request) {
  if (!entry::active()) return pmpi::File_iwrite_all_c(fh, buf, count, datatype, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::file(fh),
                                              "MPI_File_iwrite_all_c", {buf}))
    return error;
  return pmpi::File_iwrite_all_c(fh, buf, count, datatype, request);
}

#endif  // TELPHER_HOST_HAS_File_read_at_c

}  // extern "C"
