// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Input and output by shared file pointers and split collectives (chapter 14),
// in the sections of MPI 4.0.
#include "mpi/entry.hpp"
#include "mpi/files.hpp"
#include "mpi/names.hpp"
#include "stream/settle.hpp"

using namespace telpher;

extern "C" {

// 14.4 Data access
TELPHER_MPI(File_read_shared,
            (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status),
            (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_read_shared(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_read_shared", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read_shared(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_read_shared(fh, b, static_cast<int>(n), t, s);
  };
  return a.whole(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_shared,
            (MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Status* status),
            (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_write_shared(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_write_shared", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_shared(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_write_shared(fh, b, static_cast<int>(n), t, s);
  };
  return a.whole(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iread_shared,
            (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Request* request),
            (fh, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iread_shared(fh, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iread_shared", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_iread_shared(fh, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iread_shared(fh, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iwrite_shared,
            (MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Request* request),
            (fh, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iwrite_shared(fh, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iwrite_shared", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_iwrite_shared(fh, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iwrite_shared(fh, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_ordered,
            (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status),
            (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_read_ordered(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_read_ordered", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read_ordered(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_read_ordered(fh, b, static_cast<int>(n), t, s);
  };
  return a.whole(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_ordered,
            (MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Status* status),
            (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_write_ordered(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_write_ordered", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_ordered(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_write_ordered(fh, b, static_cast<int>(n), t, s);
  };
  return a.whole(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence), (fh, offset, whence)) {
  if (!entry::active()) return pmpi::File_seek_shared(fh, offset, whence);
  entry::blocking_call guard;
  return pmpi::File_seek_shared(fh, offset, whence);
}

// 14.4 Data access
TELPHER_MPI(File_read_at_all_begin,
            (MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype),
            (fh, offset, buf, count, datatype)) {
  if (!entry::active()) return pmpi::File_read_at_all_begin(fh, offset, buf, count, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_read_at_all_begin", fh, mpi::files::direction::read, buf,
                             count, datatype};
  if (!a.on_device()) return pmpi::File_read_at_all_begin(fh, offset, buf, count, datatype);
  const auto host = [&](void* b) {
    return pmpi::File_read_at_all_begin(fh, offset, b, count, datatype);
  };
  return a.begin(std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_at_all_end, (MPI_File fh, void* buf, MPI_Status* status), (fh, buf, status)) {
  if (!entry::active()) return pmpi::File_read_at_all_end(fh, buf, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const auto host = [&](void* b, MPI_Status* s) {
    return pmpi::File_read_at_all_end(fh, b, s);
  };
  return mpi::files::end("MPI_File_read_at_all_end", fh, buf, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_at_all_begin,
            (MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype),
            (fh, offset, buf, count, datatype)) {
  if (!entry::active()) return pmpi::File_write_at_all_begin(fh, offset, buf, count, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_write_at_all_begin", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_at_all_begin(fh, offset, buf, count, datatype);
  const auto host = [&](void* b) {
    return pmpi::File_write_at_all_begin(fh, offset, b, count, datatype);
  };
  return a.begin(std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_at_all_end, (MPI_File fh, const void* buf, MPI_Status* status),
            (fh, buf, status)) {
  if (!entry::active()) return pmpi::File_write_at_all_end(fh, buf, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const auto host = [&](void* b, MPI_Status* s) {
    return pmpi::File_write_at_all_end(fh, b, s);
  };
  return mpi::files::end("MPI_File_write_at_all_end", fh, const_cast<void*>(buf), status,
                         std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_all_begin, (MPI_File fh, void* buf, int count, MPI_Datatype datatype),
            (fh, buf, count, datatype)) {
  if (!entry::active()) return pmpi::File_read_all_begin(fh, buf, count, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_read_all_begin", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read_all_begin(fh, buf, count, datatype);
  const auto host = [&](void* b) {
    return pmpi::File_read_all_begin(fh, b, count, datatype);
  };
  return a.begin(std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_all_end, (MPI_File fh, void* buf, MPI_Status* status), (fh, buf, status)) {
  if (!entry::active()) return pmpi::File_read_all_end(fh, buf, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const auto host = [&](void* b, MPI_Status* s) {
    return pmpi::File_read_all_end(fh, b, s);
  };
  return mpi::files::end("MPI_File_read_all_end", fh, buf, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_all_begin, (MPI_File fh, const void* buf, int count, MPI_Datatype datatype),
            (fh, buf, count, datatype)) {
  if (!entry::active()) return pmpi::File_write_all_begin(fh, buf, count, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_write_all_begin", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_all_begin(fh, buf, count, datatype);
  const auto host = [&](void* b) {
    return pmpi::File_write_all_begin(fh, b, count, datatype);
  };
  return a.begin(std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_all_end, (MPI_File fh, const void* buf, MPI_Status* status),
            (fh, buf, status)) {
  if (!entry::active()) return pmpi::File_write_all_end(fh, buf, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const auto host = [&](void* b, MPI_Status* s) {
    return pmpi::File_write_all_end(fh, b, s);
  };
  return mpi::files::end("MPI_File_write_all_end", fh, const_cast<void*>(buf), status,
                         std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_ordered_begin, (MPI_File fh, void* buf, int count, MPI_Datatype datatype),
            (fh, buf, count, datatype)) {
  if (!entry::active()) return pmpi::File_read_ordered_begin(fh, buf, count, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_read_ordered_begin", fh, mpi::files::direction::read, buf,
                             count, datatype};
  if (!a.on_device()) return pmpi::File_read_ordered_begin(fh, buf, count, datatype);
  const auto host = [&](void* b) {
    return pmpi::File_read_ordered_begin(fh, b, count, datatype);
  };
  return a.begin(std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_ordered_end, (MPI_File fh, void* buf, MPI_Status* status),
            (fh, buf, status)) {
  if (!entry::active()) return pmpi::File_read_ordered_end(fh, buf, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const auto host = [&](void* b, MPI_Status* s) {
    return pmpi::File_read_ordered_end(fh, b, s);
  };
  return mpi::files::end("MPI_File_read_ordered_end", fh, buf, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_ordered_begin,
            (MPI_File fh, const void* buf, int count, MPI_Datatype datatype),
            (fh, buf, count, datatype)) {
  if (!entry::active()) return pmpi::File_write_ordered_begin(fh, buf, count, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_write_ordered_begin", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_ordered_begin(fh, buf, count, datatype);
  const auto host = [&](void* b) {
    return pmpi::File_write_ordered_begin(fh, b, count, datatype);
  };
  return a.begin(std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_ordered_end, (MPI_File fh, const void* buf, MPI_Status* status),
            (fh, buf, status)) {
  if (!entry::active()) return pmpi::File_write_ordered_end(fh, buf, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const auto host = [&](void* b, MPI_Status* s) {
    return pmpi::File_write_ordered_end(fh, b, s);
  };
  return mpi::files::end("MPI_File_write_ordered_end", fh, const_cast<void*>(buf), status,
                         std::ref(host));
}

#if TELPHER_HOST_HAS_File_read_shared_c  // large counts, MPI 4.0

// 14.4 Data access
TELPHER_MPI(File_read_shared_c,
            (MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status),
            (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_read_shared_c(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_read_shared_c", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read_shared_c(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_read_shared_c(fh, b, n, t, s);
  };
  return a.whole(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_shared_c,
            (MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
             MPI_Status* status), (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_write_shared_c(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_write_shared_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_shared_c(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_write_shared_c(fh, b, n, t, s);
  };
  return a.whole(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iread_shared_c,
            (MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Request* request),
            (fh, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iread_shared_c(fh, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iread_shared_c", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_iread_shared_c(fh, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iread_shared_c(fh, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_iwrite_shared_c,
            (MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
             MPI_Request* request), (fh, buf, count, datatype, request)) {
  if (!entry::active()) return pmpi::File_iwrite_shared_c(fh, buf, count, datatype, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  const mpi::files::access a{"MPI_File_iwrite_shared_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_iwrite_shared_c(fh, buf, count, datatype, request);
  const auto host = [&](void* b) {
    return pmpi::File_iwrite_shared_c(fh, b, count, datatype, request);
  };
  return a.start(request, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_ordered_c,
            (MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status),
            (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_read_ordered_c(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_read_ordered_c", fh, mpi::files::direction::read, buf, count,
                             datatype};
  if (!a.on_device()) return pmpi::File_read_ordered_c(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_read_ordered_c(fh, b, n, t, s);
  };
  return a.whole(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_ordered_c,
            (MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
             MPI_Status* status), (fh, buf, count, datatype, status)) {
  if (!entry::active()) return pmpi::File_write_ordered_c(fh, buf, count, datatype, status);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_write_ordered_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_ordered_c(fh, buf, count, datatype, status);
  const auto host = [&](void* b, MPI_Count n, MPI_Datatype t, MPI_Offset, MPI_Status* s) {
    return pmpi::File_write_ordered_c(fh, b, n, t, s);
  };
  return a.whole(std::nullopt, status, std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_at_all_begin_c,
            (MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype datatype),
            (fh, offset, buf, count, datatype)) {
  if (!entry::active()) return pmpi::File_read_at_all_begin_c(fh, offset, buf, count, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_read_at_all_begin_c", fh, mpi::files::direction::read, buf,
                             count, datatype};
  if (!a.on_device()) return pmpi::File_read_at_all_begin_c(fh, offset, buf, count, datatype);
  const auto host = [&](void* b) {
    return pmpi::File_read_at_all_begin_c(fh, offset, b, count, datatype);
  };
  return a.begin(std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_at_all_begin_c,
            (MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
             MPI_Datatype datatype), (fh, offset, buf, count, datatype)) {
  if (!entry::active()) return pmpi::File_write_at_all_begin_c(fh, offset, buf, count, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_write_at_all_begin_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_at_all_begin_c(fh, offset, buf, count, datatype);
  const auto host = [&](void* b) {
    return pmpi::File_write_at_all_begin_c(fh, offset, b, count, datatype);
  };
  return a.begin(std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_all_begin_c, (MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype),
            (fh, buf, count, datatype)) {
  if (!entry::active()) return pmpi::File_read_all_begin_c(fh, buf, count, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_read_all_begin_c", fh, mpi::files::direction::read, buf,
                             count, datatype};
  if (!a.on_device()) return pmpi::File_read_all_begin_c(fh, buf, count, datatype);
  const auto host = [&](void* b) {
    return pmpi::File_read_all_begin_c(fh, b, count, datatype);
  };
  return a.begin(std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_all_begin_c,
            (MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype),
            (fh, buf, count, datatype)) {
  if (!entry::active()) return pmpi::File_write_all_begin_c(fh, buf, count, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_write_all_begin_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_all_begin_c(fh, buf, count, datatype);
  const auto host = [&](void* b) {
    return pmpi::File_write_all_begin_c(fh, b, count, datatype);
  };
  return a.begin(std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_read_ordered_begin_c,
            (MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype),
            (fh, buf, count, datatype)) {
  if (!entry::active()) return pmpi::File_read_ordered_begin_c(fh, buf, count, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_read_ordered_begin_c", fh, mpi::files::direction::read, buf,
                             count, datatype};
  if (!a.on_device()) return pmpi::File_read_ordered_begin_c(fh, buf, count, datatype);
  const auto host = [&](void* b) {
    return pmpi::File_read_ordered_begin_c(fh, b, count, datatype);
  };
  return a.begin(std::ref(host));
}

// 14.4 Data access
TELPHER_MPI(File_write_ordered_begin_c,
            (MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype),
            (fh, buf, count, datatype)) {
  if (!entry::active()) return pmpi::File_write_ordered_begin_c(fh, buf, count, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {buf});
  entry::blocking_call guard;
  const mpi::files::access a{"MPI_File_write_ordered_begin_c", fh, mpi::files::direction::write,
                             const_cast<void*>(buf), count, datatype};
  if (!a.on_device()) return pmpi::File_write_ordered_begin_c(fh, buf, count, datatype);
  const auto host = [&](void* b) {
    return pmpi::File_write_ordered_begin_c(fh, b, count, datatype);
  };
  return a.begin(std::ref(host));
}

#endif  // TELPHER_HOST_HAS_File_read_shared_c

}  // extern "C"
