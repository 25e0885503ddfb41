// SPDX-License-Identifier: BSD-3-Clause
// Steps that write a file by some call, and read it by another: each rank a part of its own, behind
// the others' or between them in a view with holes. Some are large enough to be moved in blocks.
#include "program.hpp"

#include <unistd.h>

namespace surface {

namespace {

/// `at` in units of the view; the last two calls are those of all ranks, one after the other.
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

/// What the ranks see of the file, and where the data of each lies in that.
struct view {
  bool holes = false;  // each rank sees another part
  bool atomic = false;
  MPI_Datatype unit = MPI_BYTE, tile = MPI_BYTE;
  MPI_Offset begins = 0, at = 0;
};

/// Blocks of units that are the ranks' in turn, with a hole behind all, and some with one inside.
view draw_holes(random_numbers& random, type_list& types, MPI_Datatype basic, int n, suite& s) {
  view v{true};
  int each = 1 + as_int(random.below(12));
  while (n % each != 0) --each;
  const int size = as_int(size_of(basic));
  const bool in_bytes = extent_of(basic) != size || random.chance(50);
  MPI_Type_contiguous(in_bytes ? each * size : each, in_bytes ? MPI_BYTE : basic, &v.unit);
  types.keep(v.unit);
  // A host MPI calls the operating system for each block.
  const int block = n / each / 100 + 1 + as_int(random.below(6));
  const int gap = as_int(random.below(3)), inner = block > 2 ? as_int(random.below(2)) : 0;
  const int lengths[2] = {1, block - 1 - inner}, places[2] = {0, 1 + inner};
  MPI_Datatype part = MPI_DATATYPE_NULL;
  MPI_Type_indexed(lengths[1] > 0 ? 2 : 1, lengths, places, v.unit, &part);
  MPI_Type_create_resized(part, 0, MPI_Aint{block * s.ranks + gap} * each * size, &v.tile);
  types.keep(v.tile);
  MPI_Type_free(&part);
  v.begins = MPI_Offset{s.rank} * block * each * size + static_cast<MPI_Offset>(random.below(20));
  v.at = static_cast<MPI_Offset>(random.below(100));
  return v;
}

/// `begins` of all ranks is drawn from the same numbers.
view draw_view(draw& d, type_list& types, MPI_Datatype basic, int n, suite& s) {
  view v;
  v.at = MPI_Offset{s.rank} * n * static_cast<MPI_Offset>(size_of(basic));
  if (d.shared.chance(40)) v = draw_holes(d.shared, types, basic, n, s);
  v.atomic = d.shared.chance(15);
  return v;
}

/// Mostly few elements, some 1 to 12 MB.
int draw_count(random_numbers& random, MPI_Datatype basic) {
  const std::size_t large = (1 << 20) + random.below(11 << 20);
  const int n = as_int(large / size_of(basic));
  const bool gaps = extent_of(basic) != static_cast<MPI_Aint>(size_of(basic));
  return random.chance(6) && !gaps ? n - n % 24 : 1 + element_count(random, basic);
}

MPI_File open(MPI_Comm comm, const std::string& name, const view& v) {
  MPI_File f = MPI_FILE_NULL;
  MPI_File_open(comm, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &f);
  MPI_File_set_atomicity(f, v.atomic ? 1 : 0);
  MPI_File_set_view(f, v.begins, v.unit, v.tile, "native", MPI_INFO_NULL);
  return f;
}

}  // namespace

std::unique_ptr<step> make_file(world& w, draw& d, form) {
  const MPI_Comm comm = w.comms[0];
  const MPI_Datatype basic = basic_type(d.shared);
  const int n = draw_count(d.shared, basic);
  call writing = draw_call(d.shared), reading = draw_call(d.shared);
  const placing where(d.shared);
  const std::uint64_t number = d.shared.next();
  auto made = std::make_unique<step>(w.s);
  const view v = draw_view(d, made->types, basic, n, w.s);
  for (call* c : {&writing, &reading})  // ranks with a common pointer see the same
    if (v.holes && *c == call::ordered) *c = call::all;
  // MPICH 5.0.2 writes past its own memory at types with blocks in other orders.
  // Open MPI 5.0.11 needs minutes for megabytes in pieces.
  const bool plain = !w.s.mpich && static_cast<std::size_t>(n) * size_of(basic) > 1 << 20;
  const auto draw_elements = [&] {
    return plain ? elements{basic, n} : made->types.draw_forward(d.mine, basic, n);
  };
  const elements out = draw_elements(), in = draw_elements();
  span first, second;
  first.add(out);
  second.add(in);
  made->add_area(first, where.of(w.s.rank, 0), d.mine.next());
  made->add_area(second, where.of(w.s.rank, 1), d.mine.next());
  made->operations = 2;
  made->what = std::string("a file, written by ") + names[static_cast<int>(writing)] +
               " and read by " + names[static_cast<int>(reading)] + ", " + std::to_string(n) +
               " elements, " + name(made->areas[0].where) + " to " + name(made->areas[1].where) +
               (v.holes ? ", a view with holes" : "") + (v.atomic ? ", atomic" : "");
  int parent = static_cast<int>(getppid());
  MPI_Bcast(&parent, 1, MPI_INT, 0, w.s.control);
  made->model = made->call = [=](running& r) {
    const std::string name = "/tmp/telpher-surface-" + std::to_string(parent) + "-" +
                             std::to_string(number) + (r.model ? "-model" : "");
    MPI_File f = open(comm, name, v);
    const MPI_Status written = move(true, writing, {f, v.at, out}, r.at[0]);
    MPI_File_sync(f);
    MPI_Barrier(comm);
    MPI_File_sync(f);
    if (!v.holes) MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    const MPI_Status got = move(false, reading, {f, v.at, in}, r.at[1]);
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
