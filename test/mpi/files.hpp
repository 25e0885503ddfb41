// SPDX-License-Identifier: BSD-3-Clause
// Files and data for the tests of MPI-IO, and the two things that every pair of calls must do.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <functional>

#include "suite.hpp"

namespace mpi_test::files {

using bytes = std::vector<unsigned char>;

/// A call on `count` elements; `at` in units of the view, where the call or a seek before takes it.
using access = std::function<int(MPI_File, MPI_Offset at, void*, int, MPI_Datatype, MPI_Status*)>;

enum class who { each, one_after_the_other };

struct pair {
  const char* name;
  access write;
  access read;
  who calls = who::each;
};

inline int seek(MPI_File f, MPI_Offset at) {
  return MPI_File_seek(f, at, MPI_SEEK_SET);
}

/// Elements in memory: as the type lays them out, and packed one after the other.
struct elements {
  MPI_Datatype type;
  int count;
  int packed_bytes;
  std::size_t span;

  elements(MPI_Datatype t, int n) : type(t), count(n) {
    int size = 0;
    MPI_Aint low = 0, extent = 0;
    MPI_Type_size(t, &size);
    MPI_Type_get_extent(t, &low, &extent);
    packed_bytes = size * n;
    MPI_Aint true_low = 0, true_extent = 0;
    MPI_Type_get_true_extent(t, &true_low, &true_extent);
    span = static_cast<std::size_t>(true_low + extent * (n - 1) + true_extent);
  }
  bytes packed(std::uint64_t id) const {
    bytes data(static_cast<std::size_t>(packed_bytes));
    write_pattern(id, data.data(), data.size());
    return data;
  }
  /// Guard bytes with the first `received` bytes of `data` laid out in them.
  bytes laid_out(const bytes& data, std::size_t received) const {
    bytes here(data.size(), 0);
    std::fill_n(here.begin(), received, 1);
    const bytes where = unpacked(here), all = unpacked(data);
    bytes out(span, guard_byte);
    for (std::size_t i = 0; i < span; ++i)
      if (where[i] == 1) out[i] = all[i];
    return out;
  }

 private:
  bytes unpacked(const bytes& data) const {
    bytes all(span, 0);
    int position = 0;
    MPI_Unpack(data.data(), packed_bytes, &position, all.data(), count, type, MPI_COMM_SELF);
    return all;
  }
};

class file {
 public:
  file(suite& s, MPI_Comm comm, int mode) : comm_(comm) {
    char name[64];
    std::snprintf(name, sizeof name, "/tmp/telpher-files-%ld", static_cast<long>(getpid()));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, comm);
    name_ = name;
    s.expect_class(MPI_File_open(comm, name, mode, MPI_INFO_NULL, &handle), MPI_SUCCESS, "open");
  }
  ~file() {
    int rank = 0;
    MPI_File_close(&handle);
    MPI_Comm_rank(comm_, &rank);
    if (rank == 0) unlink(name_.c_str());
    MPI_Barrier(comm_);
  }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  MPI_File handle = MPI_FILE_NULL;

 private:
  MPI_Comm comm_;
  std::string name_;
};

inline constexpr int read_write = MPI_MODE_CREATE | MPI_MODE_RDWR;

inline void publish(MPI_File f, MPI_Comm comm) {
  MPI_File_sync(f);
  MPI_Barrier(comm);
  MPI_File_sync(f);
}

template <class Body>
void in_turn(who calls, MPI_Comm comm, Body&& body) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (calls == who::each) return body();
  for (int r = 0; r < ranks; ++r) {
    if (r == rank) body();
    MPI_Barrier(comm);
  }
}

/// Every rank writes its own part with `p.write`, reads it back by the host and with `p.read`.
inline void both_ways(suite& s, const pair& p, const elements& e, kind k) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const auto id = static_cast<std::uint64_t>(s.rank + 1);
  const MPI_Offset at = static_cast<MPI_Offset>(s.rank) * e.packed_bytes;
  const bytes data = e.packed(id);
  const bytes wanted = e.laid_out(data, data.size());
  file f(s, comm, read_write);
  buffer b(k, e.span);
  b.write(wanted.data(), wanted.size());
  MPI_Status status;
  in_turn(p.calls, comm, [&] {
    s.note("%s writes %d bytes from %s memory", p.name, e.packed_bytes, name(k));
    s.expect_class(p.write(f.handle, at, b.data(), e.count, e.type, &status), MPI_SUCCESS, "write");
  });
  int count = -1;
  MPI_Get_count(&status, e.type, &count);
  s.expect_equal(count, e.count, "elements written");
  publish(f.handle, comm);

  bytes in_file(data.size(), 0);
  MPI_File_read_at(f.handle, at, in_file.data(), e.packed_bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  s.expect_none(difference(in_file.data(), data.data(), data.size(), "the file"));

  MPI_File_seek_shared(f.handle, 0, MPI_SEEK_SET);
  b.clear();
  in_turn(p.calls, comm, [&] {
    s.note("%s reads %d bytes to %s memory", p.name, e.packed_bytes, name(k));
    s.expect_class(p.read(f.handle, at, b.data(), e.count, e.type, &status), MPI_SUCCESS, "read");
  });
  MPI_Get_count(&status, e.type, &count);
  s.expect_equal(count, e.count, "elements read");
  s.expect_none(b.compare(wanted.data()));
}

/// The file holds two thirds of what is asked for: the rest of the buffer stays as it was.
inline void end_of_file(suite& s, const pair& p, const elements& e, kind k) {
  const int there =
      e.count > 1 ? e.count * 2 / 3 * (e.packed_bytes / e.count) : e.packed_bytes / 3 * 2;
  const bytes data = e.packed(7);
  file f(s, MPI_COMM_SELF, read_write);
  MPI_File_write_at(f.handle, 0, data.data(), there, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_sync(f.handle);
  buffer b(k, e.span);
  b.clear();
  MPI_Status status;
  s.note("%s reads %d of %d bytes to %s memory", p.name, there, e.packed_bytes, name(k));
  s.expect_class(p.read(f.handle, 0, b.data(), e.count, e.type, &status), MPI_SUCCESS, "read");
  int count = -1;
  MPI_Get_elements(&status, MPI_BYTE, &count);
  s.expect_equal(count, there, "bytes read");
  const bytes wanted = e.laid_out(data, static_cast<std::size_t>(there));
  s.expect_none(b.compare(wanted.data()));
}

}  // namespace mpi_test::files
