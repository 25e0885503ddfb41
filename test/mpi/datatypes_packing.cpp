// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pack, MPI_Unpack and their external forms, with elements and packed bytes in all kinds of
// memory: each byte stands where the host MPI's pack of host memory puts it.
#include <algorithm>

#include "emulated.hpp"
#include "type_layouts.hpp"

using namespace mpi_test;

namespace {

/// MPI_Pack and MPI_Unpack from and to every kind of memory, at a place in the middle; each byte
/// stands where the host's pack puts it, the others keep what they held.
void pack_type(suite& s, const datatype& t) {
  constexpr int before = 13;
  for (int count : {1, 2, 60}) {
    const layout l(t.get(), count);
    const int bytes = as_int(l.place.size()), room = before + bytes + 5;
    const std::uint64_t id = mix(s.opt.seed) + static_cast<unsigned>(count);
    std::vector<unsigned char> message(l.place.size());
    write_pattern(id, message.data(), message.size());
    std::vector<unsigned char> wanted(static_cast<std::size_t>(room), guard_byte);
    std::copy(message.begin(), message.end(), wanted.begin() + before);
    with_all_kinds([&](kind typed, kind packed) {
      s.note("%d elements, %s and packed in %s", count, name(typed), name(packed));
      buffer elements(typed, l.span), run(packed, wanted.size()), back(typed, l.span);
      put(elements, l, id);
      run.clear();
      int position = before;
      MPI_Pack(elements.data() + l.origin, count, t.get(), run.data(), room, &position,
               MPI_COMM_WORLD);
      s.expect_equal(position, before + bytes, "position after packing");
      s.expect_none(run.compare(wanted.data()));
      back.clear();
      position = before;
      MPI_Unpack(run.data(), room, &position, back.data() + l.origin, count, t.get(),
                 MPI_COMM_WORLD);
      s.expect_equal(position, before + bytes, "position after unpacking");
      s.expect_none(check(back, l, id, l.place.size()));
    });
  }
}

/// MPICH 5.0.2 dies in MPI_Pack_external of a struct, without Telpher too.
bool host_packs_external(const suite& s, const datatype& t) {
  const std::string label = t.label();
  return !s.mpich || (label != "struct" && label != "nested");
}

/// MPI_Pack_external and MPI_Unpack_external: in every kind of memory as in host memory.
void pack_external_type(suite& s, const datatype& t) {
  static char datarep[] = "external32";
  constexpr int count = 7;
  constexpr MPI_Aint before = 13;
  MPI_Aint bytes = 0;
  MPI_Pack_external_size(datarep, count, t.get(), &bytes);
  const MPI_Aint room = before + bytes + 5;
  const layout l(t.get(), count);
  const std::uint64_t id = mix(s.opt.seed) + 11;
  std::vector<unsigned char> wanted(static_cast<std::size_t>(room), guard_byte);
  buffer host(kind::host, l.span);
  put(host, l, id);
  MPI_Aint position = before;
  MPI_Pack_external(datarep, host.data() + l.origin, count, t.get(), wanted.data(), room,
                    &position);
  with_all_kinds([&](kind typed, kind packed) {
    s.note("%s and packed in %s", name(typed), name(packed));
    buffer elements(typed, l.span), run(packed, wanted.size()), back(typed, l.span);
    put(elements, l, id);
    run.clear();
    position = before;
    MPI_Pack_external(datarep, elements.data() + l.origin, count, t.get(), run.data(), room,
                      &position);
    s.expect_equal(position, before + bytes, "position after packing");
    s.expect_none(run.compare(wanted.data()));
    back.clear();
    position = before;
    MPI_Unpack_external(datarep, run.data(), room, &position, back.data() + l.origin, count,
                        t.get());
    s.expect_equal(position, before + bytes, "position after unpacking");
    s.expect_none(check(back, l, id, l.place.size()));
  });
}

/// Open MPI 5.0.11's MPI_Pack_external writes fewer bytes of a long than MPI_Pack_external_size
/// says: what lies behind them stays.
void pack_external_longs(suite& s) {
  static char datarep[] = "external32";
  constexpr int count = 9;
  const std::vector<long> longs(count, 0x0102030405060708);
  MPI_Aint room = 0, end = 0;
  MPI_Pack_external_size(datarep, count, MPI_LONG, &room);
  std::vector<unsigned char> wanted(static_cast<std::size_t>(room), guard_byte);
  MPI_Pack_external(datarep, longs.data(), count, MPI_LONG, wanted.data(), room, &end);
  with_all_kinds([&](kind typed, kind packed) {
    s.note("%s and packed in %s", name(typed), name(packed));
    buffer elements(typed, longs.size() * sizeof(long)), run(packed, wanted.size());
    elements.write(reinterpret_cast<const unsigned char*>(longs.data()), elements.bytes());
    run.clear();
    MPI_Aint position = 0;
    MPI_Pack_external(datarep, elements.data(), count, MPI_LONG, run.data(), room, &position);
    s.expect_equal(position, end, "position after packing");
    s.expect_none(run.compare(wanted.data()));
  });
}

struct basic {
  const char* name;
  MPI_Datatype type;
  bool by_kernels;  // the order of bytes alone changes in external32, with every host MPI
};

std::vector<basic> basic_types() {
  return {{"MPI_BYTE", MPI_BYTE, true},
          {"MPI_CHAR", MPI_CHAR, true},
          {"MPI_SHORT", MPI_SHORT, true},
          {"MPI_UINT16_T", MPI_UINT16_T, true},
          {"MPI_INT", MPI_INT, true},
          {"MPI_UNSIGNED", MPI_UNSIGNED, true},
          {"MPI_FLOAT", MPI_FLOAT, true},
          {"MPI_DOUBLE", MPI_DOUBLE, true},
          {"MPI_INT64_T", MPI_INT64_T, true},
          {"MPI_LONG", MPI_LONG, false},
          {"MPI_UNSIGNED_LONG", MPI_UNSIGNED_LONG, false},
          {"MPI_LONG_LONG", MPI_LONG_LONG, true},
          {"MPI_AINT", MPI_AINT, true},
          {"MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, true},
          {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, true}};
}

/// One type as the host MPI packs it from host memory, byte for byte, and back. `spread`: elements
/// with gaps.
void pack_external_basic(suite& s, const basic& b, int count, bool spread) {
  static char datarep[] = "external32";
  constexpr MPI_Aint before = 5;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 2, spread ? 3 : 2, b.type, &type);
  MPI_Type_commit(&type);
  MPI_Aint lower = 0, extent = 0, bytes = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Pack_external_size(datarep, count, type, &bytes);
  const auto room = static_cast<std::size_t>(before + bytes + 3);
  buffer content(kind::host, static_cast<std::size_t>(extent * count));
  content.fill(s.opt.seed + 5);
  std::vector<unsigned char> wanted(room, guard_byte), typed(content.bytes(), guard_byte);
  MPI_Aint end = before;
  MPI_Pack_external(datarep, content.data(), count, type, wanted.data(), as_int(room), &end);
  MPI_Aint read = before;
  MPI_Unpack_external(datarep, wanted.data(), as_int(room), &read, typed.data(), count, type);
  with_all_kinds([&](kind from, kind to) {
    s.note("%d of %s%s, %s and packed in %s", count, b.name, spread ? " with gaps" : "", name(from),
           name(to));
    buffer elements(from, content.bytes()), run(to, room);
    elements.write(content.data(), content.bytes());
    run.clear();
    const long long launches = counted("launches");
    MPI_Aint position = before;
    MPI_Pack_external(datarep, elements.data(), count, type, run.data(), as_int(room), &position);
    s.expect_equal(position, end, "position after packing");
    s.expect_none(run.compare(wanted.data()));
    elements.clear();
    position = before;
    MPI_Unpack_external(datarep, run.data(), as_int(room), &position, elements.data(), count, type);
    s.expect_equal(position, read, "position after unpacking");
    s.expect_none(elements.compare(typed.data()));
    int size = 0;
    MPI_Type_size(b.type, &size);
    if (b.by_kernels && size > 1 && !spread && from == kind::device && launches >= 0)
      s.expect_equal(counted("launches"), launches + 2, "kernels that turn bytes");
  });
  MPI_Type_free(&type);
}

/// The kernel fails: the call says so, and the position stays.
void pack_external_failing(suite& s) {
  static char datarep[] = "external32";
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  buffer from(kind::device, 400), to(kind::device, 400);
  from.fill(s.opt.seed);
  for (const bool packs : {true, false}) {
    MPI_Aint position = 0;
    set_faults("launch:1");
    const int code =
        packs ? MPI_Pack_external(datarep, from.data(), 100, MPI_INT, to.data(), 400, &position)
              : MPI_Unpack_external(datarep, to.data(), 400, &position, from.data(), 100, MPI_INT);
    set_faults("");
    s.expect(code != MPI_SUCCESS, "an error");
    s.expect_equal(position, MPI_Aint{0}, "position");
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/// No byte is written where there is no room for all.
void pack_without_room(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  buffer from(kind::device, 400), to(kind::device, 400);
  const std::vector<unsigned char> untouched(400, guard_byte);
  from.fill(s.opt.seed);
  to.clear();
  int position = 1;
  s.expect_class(MPI_Pack(from.data(), 100, MPI_INT, to.data(), 400, &position, comm),
                 MPI_ERR_TRUNCATE, "packing 400 bytes behind the first of 400");
  s.expect_equal(position, 1, "position");
  s.expect_class(MPI_Unpack(from.data(), 400, &position, to.data(), 100, MPI_INT, comm),
                 MPI_ERR_TRUNCATE, "unpacking 400 bytes behind the first of 400");
  s.expect_none(to.compare(untouched.data()));
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  for (const datatype& t : make_types())
    s.run(std::string("pack ") + t.label(), [&] {
      pack_type(s, t);
      if (host_packs_external(s, t)) pack_external_type(s, t);
    });
  s.run("pack longs", [&] { pack_external_longs(s); });
  for (const basic& b : basic_types())
    s.run(std::string("pack ") + b.name, [&] {
      for (const int count : {1, 50})
        for (const bool spread : {false, true}) pack_external_basic(s, b, count, spread);
    });
  if (held() >= 0) s.run("pack failing", [&] { pack_external_failing(s); });
  if (kinds().back() == kind::device) s.run("pack without room", [&] { pack_without_room(s); });
  return s.finish();
}
