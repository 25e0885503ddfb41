// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Input and output (chapter 14),
// in the sections of MPI 4.0.
#include "mpi/entry.hpp"
#include "mpi/file_direct.hpp"
#include "mpi/files.hpp"
#include "mpi/memory_kinds.hpp"
#include "mpi/names.hpp"
#include "stream/settle.hpp"

using namespace telpher;

extern "C" {

// 14.2 File manipulation
TELPHER_MPI(File_open,
            (MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh),
            (comm, filename, amode, info, fh)) {
  if (!entry::active()) return pmpi::File_open(comm, filename, amode, info, fh);
  entry::blocking_call guard;
  const int code = pmpi::File_open(comm, filename, amode, info, fh);
  if (code == MPI_SUCCESS) mpi::files::opened(*fh, filename, amode);
  return code;
}

// 14.2 File manipulation
TELPHER_MPI(File_close, (MPI_File* fh), (fh)) {
  if (!entry::active()) return pmpi::File_close(fh);
  mpi::files::closing(*fh);
  entry::blocking_call guard;
  return pmpi::File_close(fh);
}

// 14.2 File manipulation
TELPHER_MPI(File_set_size, (MPI_File fh, MPI_Offset size), (fh, size)) {
  if (!entry::active()) return pmpi::File_set_size(fh, size);
  entry::blocking_call guard;
  return pmpi::File_set_size(fh, size);
}

// 14.2 File manipulation
TELPHER_MPI(File_preallocate, (MPI_File fh, MPI_Offset size), (fh, size)) {
  if (!entry::active()) return pmpi::File_preallocate(fh, size);
  entry::blocking_call guard;
  return pmpi::File_preallocate(fh, size);
}

// 14.2 File manipulation
TELPHER_MPI(File_set_info, (MPI_File fh, MPI_Info info), (fh, info)) {
  if (!entry::active()) return pmpi::File_set_info(fh, info);
  entry::blocking_call guard;
  return pmpi::File_set_info(fh, info);
}

// 14.2 File manipulation
TELPHER_MPI(File_get_info, (MPI_File fh, MPI_Info* info_used), (fh, info_used)) {
  if (!entry::active()) return pmpi::File_get_info(fh, info_used);
  const int code = pmpi::File_get_info(fh, info_used);
  if (code == MPI_SUCCESS) mpi::add_kinds(*info_used);
  return code;
}

// 14.3 File views
TELPHER_MPI(File_set_view,
            (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
             const char* datarep, MPI_Info info), (fh, disp, etype, filetype, datarep, info)) {
  if (!entry::active()) return pmpi::File_set_view(fh, disp, etype, filetype, datarep, info);
  entry::blocking_call guard;
  return pmpi::File_set_view(fh, disp, etype, filetype, datarep, info);
}

// 14.4 Data access
TELPHER_MPI(File_read_at,
            (MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
             MPI_Status* status), (fh, offset, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_read_at(fh, offset, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_read_at", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read_at(fh, offset, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset at, MPI_Status* s) {
    return pmpi::File_read_at(fh, at, b, static_cast<int>(n), t, s);
  };
  return a.in_blocks(offset, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_at,
            (MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
             MPI_Status* status), (fh, offset, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_write_at(fh, offset, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_write_at", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_at(fh, offset, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset at, MPI_Status* s) {
    return pmpi::File_write_at(fh, at, b, static_cast<int>(n), t, s);
  };
  return a.in_blocks(offset, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iread_at,
            (MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
             MPI_Request* request), (fh, offset, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iread_at(fh, offset, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iread_at", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_iread_at(fh, offset, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iread_at(fh, offset, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iwrite_at,
            (MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
             MPI_Request* request), (fh, offset, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iwrite_at(fh, offset, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iwrite_at", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_iwrite_at(fh, offset, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iwrite_at(fh, offset, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_at_all,
            (MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
             MPI_Status* status), (fh, offset, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_read_at_all(fh, offset, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_read_at_all", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read_at_all(fh, offset, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset at, MPI_Status* s) {
    return pmpi::File_read_at_all(fh, at, b, static_cast<int>(n), t, s);
  };
  return a.whole(offset, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_at_all,
            (MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
             MPI_Status* status), (fh, offset, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_write_at_all(fh, offset, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_write_at_all", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_at_all(fh, offset, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset at, MPI_Status* s) {
    return pmpi::File_write_at_all(fh, at, b, static_cast<int>(n), t, s);
  };
  return a.whole(offset, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iread_at_all,
            (MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
             MPI_Request* request), (fh, offset, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iread_at_all(fh, offset, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iread_at_all", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_iread_at_all(fh, offset, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iread_at_all(fh, offset, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iwrite_at_all,
            (MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
             MPI_Request* request), (fh, offset, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iwrite_at_all(fh, offset, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iwrite_at_all", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_iwrite_at_all(fh, offset, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iwrite_at_all(fh, offset, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read,
            (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status),
            (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_read(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_read", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_read(fh, b, static_cast<int>(n), t, s);
  };
  return a.in_blocks(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write,
            (MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Status* status),
            (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_write(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_write", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_write(fh, b, static_cast<int>(n), t, s);
  };
  return a.in_blocks(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iread,
            (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Request* request),
            (fh, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iread(fh, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iread", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_iread(fh, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iread(fh, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iwrite,
            (MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Request* request),
            (fh, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iwrite(fh, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iwrite", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_iwrite(fh, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iwrite(fh, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_all,
            (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status),
            (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_read_all(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_read_all", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read_all(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_read_all(fh, b, static_cast<int>(n), t, s);
  };
  return a.whole(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_all,
            (MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Status* status),
            (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_write_all(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_write_all", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_all(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_write_all(fh, b, static_cast<int>(n), t, s);
  };
  return a.whole(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iread_all,
            (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Request* request),
            (fh, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iread_all(fh, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iread_all", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_iread_all(fh, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iread_all(fh, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iwrite_all,
            (MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Request* request),
            (fh, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iwrite_all(fh, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iwrite_all", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_iwrite_all(fh, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iwrite_all(fh, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.6 Consistency and semantics
TELPHER_MPI(File_set_atomicity, (MPI_File fh, int flag), (fh, flag)) {
  if (!entry::active()) return pmpi::File_set_atomicity(fh, flag);
  entry::blocking_call guard;
  return pmpi::File_set_atomicity(fh, flag);
}

// 14.6 Consistency and semantics
TELPHER_MPI(File_sync, (MPI_File fh), (fh)) {
  if (!entry::active()) return pmpi::File_sync(fh);
  entry::blocking_call guard;
  return pmpi::File_sync(fh);
}

#if TELPHER_HOST_HAS_File_read_at_c  // large counts, MPI 4.0

// 14.4 Data access
TELPHER_MPI(File_read_at_c,
            (MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype datatype,
             MPI_Status* status), (fh, offset, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_read_at_c(fh, offset, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_read_at_c", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read_at_c(fh, offset, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset at, MPI_Status* s) {
    return pmpi::File_read_at_c(fh, at, b, n, t, s);
  };
  return a.in_blocks(offset, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_at_c,
            (MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
             MPI_Datatype datatype, MPI_Status* status),
            (fh, offset, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_write_at_c(fh, offset, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_write_at_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_at_c(fh, offset, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset at, MPI_Status* s) {
    return pmpi::File_write_at_c(fh, at, b, n, t, s);
  };
  return a.in_blocks(offset, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iread_at_c,
            (MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype datatype,
             MPI_Request* request), (fh, offset, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iread_at_c(fh, offset, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iread_at_c", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_iread_at_c(fh, offset, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iread_at_c(fh, offset, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iwrite_at_c,
            (MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
             MPI_Datatype datatype, MPI_Request* request),
            (fh, offset, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iwrite_at_c(fh, offset, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iwrite_at_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_iwrite_at_c(fh, offset, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iwrite_at_c(fh, offset, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_at_all_c,
            (MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype datatype,
             MPI_Status* status), (fh, offset, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_read_at_all_c(fh, offset, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_read_at_all_c", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read_at_all_c(fh, offset, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset at, MPI_Status* s) {
    return pmpi::File_read_at_all_c(fh, at, b, n, t, s);
  };
  return a.whole(offset, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_at_all_c,
            (MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
             MPI_Datatype datatype, MPI_Status* status),
            (fh, offset, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_write_at_all_c(fh, offset, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_write_at_all_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_at_all_c(fh, offset, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset at, MPI_Status* s) {
    return pmpi::File_write_at_all_c(fh, at, b, n, t, s);
  };
  return a.whole(offset, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iread_at_all_c,
            (MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype datatype,
             MPI_Request* request), (fh, offset, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iread_at_all_c(fh, offset, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iread_at_all_c", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_iread_at_all_c(fh, offset, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iread_at_all_c(fh, offset, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iwrite_at_all_c,
            (MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
             MPI_Datatype datatype, MPI_Request* request),
            (fh, offset, buf, count, datatype, request)) {
  if (!entry::active())
    return pmpi::File_iwrite_at_all_c(fh, offset, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iwrite_at_all_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_iwrite_at_all_c(fh, offset, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iwrite_at_all_c(fh, offset, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_c,
            (MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status),
            (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_read_c(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_read_c", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read_c(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_read_c(fh, b, n, t, s);
  };
  return a.in_blocks(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_c,
            (MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
             MPI_Status* status), (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_write_c(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_write_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_c(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_write_c(fh, b, n, t, s);
  };
  return a.in_blocks(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iread_c,
            (MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Request* request),
            (fh, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iread_c(fh, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iread_c", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_iread_c(fh, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iread_c(fh, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iwrite_c,
            (MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
             MPI_Request* request), (fh, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iwrite_c(fh, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iwrite_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_iwrite_c(fh, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iwrite_c(fh, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_all_c,
            (MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status),
            (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_read_all_c(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_read_all_c", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read_all_c(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_read_all_c(fh, b, n, t, s);
  };
  return a.whole(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_all_c,
            (MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
             MPI_Status* status), (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_write_all_c(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_write_all_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_all_c(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_write_all_c(fh, b, n, t, s);
  };
  return a.whole(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iread_all_c,
            (MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Request* request),
            (fh, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iread_all_c(fh, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iread_all_c", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_iread_all_c(fh, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iread_all_c(fh, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iwrite_all_c,
            (MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
             MPI_Request* request), (fh, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iwrite_all_c(fh, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iwrite_all_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_iwrite_all_c(fh, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iwrite_all_c(fh, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

#endif  // TELPHER_HOST_HAS_File_read_at_c

}  // extern "C"
