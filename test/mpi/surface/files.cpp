// SPDX-License-Identifier: BSD-3-Clause
// Steps that write a file by some call, and read it by another: each rank a part of its own.
#include "program.hpp"

#include <unistd.h>

namespace surface {

namespace {

/// `at` in bytes; the last two calls are those of all ranks, one after the other.
enum class call {
  at,
  at_all,
  pointer,
  all,
  iat,
  iat_all,
  i,
  iall,
  split_at_all,
  split_all,
  ordered
};
constexpr const char* names[] = {"at", "at_all", "pointer",      "all",       "iat",    "iat_all",
                                 "i",  "iall",   "split at_all", "split all", "ordered"};

struct access {
  MPI_File f;
  MPI_Offset at;
  const elements& e;
};

// MPI_File_write and its kin, or MPI_File_read and its.
#define EITHER(form, ...) \
  (writes ? MPI_File_write##form(__VA_ARGS__) : MPI_File_read##form(__VA_ARGS__))
#define EITHER_STARTED(form, ...) \
  (writes ? MPI_File_iwrite##form(__VA_ARGS__) : MPI_File_iread##form(__VA_ARGS__))

MPI_Status move(bool writes, call c, const access& a, void* b) {
  MPI_Status s{};
  MPI_Request q = MPI_REQUEST_NULL;
  const int n = a.e.count;
  const MPI_Datatype t = a.e.type;
  MPI_File_seek(a.f, a.at, MPI_SEEK_SET);
  switch (c) {
    case call::at:
      EITHER(_at, a.f, a.at, b, n, t, &s);
      break;
    case call::at_all:
      EITHER(_at_all, a.f, a.at, b, n, t, &s);
      break;
    case call::pointer:
      EITHER(, a.f, b, n, t, &s);
      break;
    case call::all:
      EITHER(_all, a.f, b, n, t, &s);
      break;
    case call::iat:
      EITHER_STARTED(_at, a.f, a.at, b, n, t, &q);
      break;
    case call::iat_all:
      EITHER_STARTED(_at_all, a.f, a.at, b, n, t, &q);
      break;
    case call::i:
      EITHER_STARTED(, a.f, b, n, t, &q);
      break;
    case call::iall:
      EITHER_STARTED(_all, a.f, b, n, t, &q);
      break;
    case call::split_at_all:
      EITHER(_at_all_begin, a.f, a.at, b, n, t);
      EITHER(_at_all_end, a.f, b, &s);
      break;
    case call::split_all:
      EITHER(_all_begin, a.f, b, n, t);
      EITHER(_all_end, a.f, b, &s);
      break;
    case call::ordered:
      EITHER(_ordered, a.f, b, n, t, &s);
      break;
  }
  if (q != MPI_REQUEST_NULL) MPI_Wait(&q, &s);
  return s;
}

#undef EITHER
#undef EITHER_STARTED

call draw_call(random_numbers& random) {
  return static_cast<call>(random.below(11));
}

MPI_File open(MPI_Comm comm, const std::string& name) {
  MPI_File f = MPI_FILE_NULL;
  MPI_File_open(comm, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &f);
  return f;
}

}  // namespace

std::unique_ptr<step> make_file(world& w, draw& d, form) {
  const MPI_Comm comm = w.comms[0];
  const MPI_Datatype basic = basic_type(d.shared);
  const int n = 1 + element_count(d.shared, basic);
  const call writing = draw_call(d.shared), reading = draw_call(d.shared);
  const placing where(d.shared);
  const std::uint64_t number = d.shared.next();
  auto made = std::make_unique<step>(w.s);
  // MPICH 5.0.2 writes past its own memory at types with blocks in other orders.
  const elements out = made->types.draw_forward(d.mine, basic, n),
                 in = made->types.draw_forward(d.mine, basic, n);
  span first, second;
  first.add(out);
  second.add(in);
  made->add_area(first, where.of(w.s.rank, 0), d.mine.next());
  made->add_area(second, where.of(w.s.rank, 1), d.mine.next());
  made->operations = 2;
  made->what = std::string("a file, written by ") + names[static_cast<int>(writing)] +
               " and read by " + names[static_cast<int>(reading)] + ", " + std::to_string(n) +
               " elements, " + name(made->areas[0].where) + " to " + name(made->areas[1].where);
  const MPI_Offset at =
      w.s.rank * static_cast<MPI_Offset>(n) * static_cast<MPI_Offset>(size_of(basic));
  int parent = static_cast<int>(getppid());
  MPI_Bcast(&parent, 1, MPI_INT, 0, w.s.control);
  made->model = made->call = [=](running& r) {
    const std::string name = "/tmp/telpher-surface-" + std::to_string(parent) + "-" +
                             std::to_string(number) + (r.model ? "-model" : "");
    MPI_File f = open(comm, name);
    const MPI_Status written = move(true, writing, {f, at, out}, r.at[0]);
    MPI_File_sync(f);
    MPI_Barrier(comm);
    MPI_File_sync(f);
    MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    const MPI_Status got = move(false, reading, {f, at, in}, r.at[1]);
    int bytes = 0, wanted = as_int(static_cast<std::size_t>(n) * size_of(basic));
    MPI_Get_elements(&written, MPI_BYTE, &bytes);
    r.s.expect_equal(bytes, wanted, "bytes written");
    MPI_Get_elements(&got, MPI_BYTE, &bytes);
    r.s.expect_equal(bytes, wanted, "bytes read");
    MPI_File_close(&f);
  };
  return made;
}

}  // namespace surface
