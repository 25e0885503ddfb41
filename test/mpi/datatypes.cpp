// SPDX-License-Identifier: BSD-3-Clause
// Derived datatypes on all kinds of memory, on one side or both, with the gaps and everything round
// them untouched, and receives that get less than they asked for. The reference is the type's byte
// map, found by packing host memory that holds its own offsets.
#include <dlfcn.h>

#include <functional>
#include <memory>

#include "forms.hpp"

using namespace mpi_test;

namespace {

/// A committed type, freed with the object.
class datatype {
 public:
  datatype(const char* label, const std::function<void(MPI_Datatype*)>& make) : label_(label) {
    make(&type_);
    MPI_Type_commit(&type_);
  }
  datatype(datatype&& other) noexcept : label_(other.label_), type_(other.type_) {
    other.type_ = MPI_DATATYPE_NULL;
  }
  datatype& operator=(datatype&&) = delete;
  ~datatype() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  const char* label() const { return label_; }
  MPI_Datatype get() const { return type_; }

 private:
  const char* label_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

void make_struct(MPI_Datatype* out) {
  int lengths[3] = {1, 3, 2};
  MPI_Aint places[3] = {0, 8, 40};
  MPI_Datatype parts[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
  MPI_Type_create_struct(3, lengths, places, parts, out);
}

void make_subarray(MPI_Datatype* out, int order) {
  int whole[3] = {6, 5, 8}, part[3] = {3, 2, 5}, start[3] = {1, 2, 3};
  MPI_Type_create_subarray(3, whole, part, start, order, MPI_FLOAT, out);
}

/// A vector of structs, resized so that elements interleave with gaps.
void make_nested(MPI_Datatype* out) {
  MPI_Datatype inner, rows;
  make_struct(&inner);
  MPI_Type_vector(3, 2, 3, inner, &rows);
  MPI_Type_create_resized(rows, 0, 700, out);
  MPI_Type_free(&inner);
  MPI_Type_free(&rows);
}

std::vector<datatype> make_types() {
  std::vector<datatype> list;
  const auto add = [&](const char* label, const std::function<void(MPI_Datatype*)>& make) {
    list.emplace_back(label, make);
  };
  add("contiguous doubles", [](MPI_Datatype* t) { MPI_Type_contiguous(5, MPI_DOUBLE, t); });
  add("vector of ints", [](MPI_Datatype* t) { MPI_Type_vector(6, 2, 5, MPI_INT, t); });
  add("vector of bytes", [](MPI_Datatype* t) { MPI_Type_vector(16, 1, 3, MPI_BYTE, t); });
  add("vector backwards", [](MPI_Datatype* t) { MPI_Type_vector(5, 3, -7, MPI_SHORT, t); });
  add("hvector", [](MPI_Datatype* t) { MPI_Type_create_hvector(4, 3, 41, MPI_INT, t); });
  add("indexed", [](MPI_Datatype* t) {
    int lengths[4] = {1, 4, 0, 2}, places[4] = {9, 0, 5, 15};
    MPI_Type_indexed(4, lengths, places, MPI_DOUBLE, t);
  });
  add("indexed block", [](MPI_Datatype* t) {
    int places[5] = {12, 3, 0, 20, 6};
    MPI_Type_create_indexed_block(5, 2, places, MPI_FLOAT, t);
  });
  add("hindexed, negative", [](MPI_Datatype* t) {
    int lengths[3] = {2, 5, 1};
    MPI_Aint places[3] = {-40, 3, 100};
    MPI_Type_create_hindexed(3, lengths, places, MPI_SHORT, t);
  });
  add("struct", make_struct);
  add("subarray, C order", [](MPI_Datatype* t) { make_subarray(t, MPI_ORDER_C); });
  add("subarray, Fortran order", [](MPI_Datatype* t) { make_subarray(t, MPI_ORDER_FORTRAN); });
  add("slab of a subarray", [](MPI_Datatype* t) {
    int whole[3] = {6, 5, 8}, part[3] = {2, 5, 8}, start[3] = {3, 0, 0};
    MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_FLOAT, t);
  });
  add("resized with gap", [](MPI_Datatype* t) { MPI_Type_create_resized(MPI_INT, -4, 24, t); });
  add("resized to interleave", [](MPI_Datatype* t) {
    MPI_Datatype column;
    MPI_Type_vector(4, 1, 64, MPI_INT, &column);  // no overlap up to 64 of them
    MPI_Type_create_resized(column, 0, sizeof(int), t);
    MPI_Type_free(&column);
  });
  add("nested", make_nested);
  add("contiguous of vector", [](MPI_Datatype* t) {
    MPI_Datatype row;
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &row);
    MPI_Type_contiguous(4, row, t);
    MPI_Type_free(&row);
  });
  add("duplicate of vector", [](MPI_Datatype* t) {
    MPI_Datatype row;
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &row);
    MPI_Type_dup(row, t);
    MPI_Type_free(&row);
  });
  return list;
}

/// Where `count` elements of a type lie: the span of bytes, where in it the buffer argument points,
/// and for each byte of the message its place in the span.
struct layout {
  layout(MPI_Datatype type, int count) : elements(count) {
    MPI_Aint lower, extent, true_lower, true_extent;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    const MPI_Aint last = count > 0 ? (count - 1) * extent : 0;
    origin = static_cast<std::size_t>(true_lower < 0 ? -true_lower : 0);
    const MPI_Aint end = last + true_lower + true_extent;
    span = origin + static_cast<std::size_t>(count > 0 && end > 0 ? end : 0);
    int packed = 0, size = 0;
    MPI_Pack_size(count, type, MPI_COMM_SELF, &packed);
    MPI_Type_size(type, &size);
    place.assign(static_cast<std::size_t>(size) * static_cast<std::size_t>(count), 0);
    std::vector<unsigned char> memory(span + 1), message(static_cast<std::size_t>(packed) + 1);
    for (unsigned shift = 0; shift < 24; shift += 8) {
      for (std::size_t i = 0; i < span; ++i) memory[i] = static_cast<unsigned char>(i >> shift);
      int position = 0;
      MPI_Pack(memory.data() + origin, count, type, message.data(), packed, &position,
               MPI_COMM_SELF);
      for (std::size_t i = 0; i < place.size(); ++i)
        place[i] |= static_cast<std::size_t>(message[i]) << shift;
    }
  }

  int elements;
  std::size_t origin = 0, span = 0;
  std::vector<std::size_t> place;
};

struct side {
  kind memory;
  MPI_Datatype type;
  const layout* where;
};

void put(buffer& b, const layout& l, std::uint64_t id) {
  std::vector<unsigned char> message(l.place.size()), memory(l.span, 0x11);
  write_pattern(id, message.data(), message.size());
  for (std::size_t i = 0; i < message.size(); ++i) memory[l.place[i]] = message[i];
  b.write(memory.data(), memory.size());
}

std::string check(const buffer& b, const layout& l, std::uint64_t id, std::size_t received) {
  std::vector<unsigned char> message(received), wanted(l.span, guard_byte);
  write_pattern(id, message.data(), received);
  for (std::size_t i = 0; i < received; ++i) wanted[l.place[i]] = message[i];
  return b.compare(wanted.data());
}

enum class form { send_recv, isend_irecv, sendrecv, probe, persistent };
constexpr form forms[] = {form::send_recv, form::isend_irecv, form::sendrecv, form::probe,
                          form::persistent};

/// Both ranks send `out` and receive into `in`.
MPI_Status exchange(form f, const side& from, void* out, const side& to, void* in, int peer) {
  MPI_Status status{};
  MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Message message;
  MPI_Status both[2];
  MPI_Comm comm = MPI_COMM_WORLD;
  const int sent = from.where->elements, room = to.where->elements;
  switch (f) {
    case form::send_recv:
      MPI_Irecv(in, room, to.type, peer, 3, comm, &r[0]);
      MPI_Send(out, sent, from.type, peer, 3, comm);
      MPI_Wait(&r[0], &status);
      break;
    case form::isend_irecv:
      MPI_Isend(out, sent, from.type, peer, 3, comm, &r[1]);
      MPI_Irecv(in, room, to.type, peer, 3, comm, &r[0]);
      MPI_Waitall(2, r, both);
      status = both[0];
      break;
    case form::sendrecv:
      MPI_Sendrecv(out, sent, from.type, peer, 3, in, room, to.type, peer, 3, comm, &status);
      break;
    case form::probe:
      MPI_Issend(out, sent, from.type, peer, 3, comm, &r[0]);
      MPI_Mprobe(peer, 3, comm, &message, MPI_STATUS_IGNORE);
      MPI_Mrecv(in, room, to.type, &message, &status);
      MPI_Wait(&r[0], MPI_STATUS_IGNORE);
      break;
    case form::persistent:
      MPI_Recv_init(in, room, to.type, peer, 3, comm, &r[0]);
      MPI_Send_init(out, sent, from.type, peer, 3, comm, &r[1]);
      MPI_Startall(2, r);
      MPI_Waitall(2, r, both);
      status = both[0];
      MPI_Request_free(&r[0]);
      MPI_Request_free(&r[1]);
      break;
  }
  return status;
}

/// Sends as one type, receives as another; the received bytes must be `expected_bytes` of the
/// message.
void transfer(suite& s, form f, const side& from, const side& to, int peer) {
  const std::size_t bytes = from.where->place.size();
  const std::uint64_t id = mix(s.opt.seed) + bytes * 64;
  buffer out(from.memory, from.where->span), in(to.memory, to.where->span, 8);
  put(out, *from.where, id + static_cast<std::uint64_t>(s.rank));
  in.clear();
  const MPI_Status status =
      exchange(f, from, out.data() + from.where->origin, to, in.data() + to.where->origin, peer);
  s.expect_equal(status.MPI_SOURCE, peer, "status source");
  s.expect_none(check(in, *to.where, id + static_cast<std::uint64_t>(peer), bytes));
  int size = 0, count = 0, elements = 0;
  MPI_Type_size(to.type, &size);
  MPI_Get_count(&status, to.type, &count);
  const int whole = as_int(bytes) % size == 0 ? as_int(bytes) / size : MPI_UNDEFINED;
  s.expect_equal(count, whole, "Get_count");
  MPI_Get_elements(&status, MPI_BYTE, &elements);
  s.expect_equal(elements, as_int(bytes), "Get_elements of MPI_BYTE");
}

template <class Body>
void with_all_kinds(Body&& body) {
  for (kind from : kinds())
    for (kind to : kinds()) body(from, to);
}

/// Type against the same type, and against contiguous bytes of its basic content on either side.
void exchange_type(suite& s, const datatype& t, std::initializer_list<int> counts) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  std::size_t turn = 0;
  for (int count : counts) {
    const layout own(t.get(), count);
    MPI_Datatype packed = MPI_PACKED;  // matches any type's packed bytes on one architecture
    const layout flat(packed, as_int(own.place.size()));
    with_all_kinds([&](kind from, kind to) {
      const form f = forms[turn++ % std::size(forms)];
      s.note("%d elements, %s to %s, form %d", count, name(from), name(to), static_cast<int>(f));
      const side typed{from, t.get(), &own}, typed_in{to, t.get(), &own};
      const side bytes{from, packed, &flat}, bytes_in{to, packed, &flat};
      transfer(s, f, typed, typed_in, peer);
      transfer(s, f, typed, bytes_in, peer);
      transfer(s, f, bytes, typed_in, peer);
    });
  }
}

/// A struct of nine bytes, of which no number makes a ticket's size: every ticket would end inside
/// a double. With the compiler's gap and without.
void unlike_parts(suite& s) {
  for (const MPI_Aint place : {8, 1}) {
    const datatype t("char and double", [place](MPI_Datatype* out) {
      int lengths[2] = {1, 1};
      MPI_Aint places[2] = {0, place};
      MPI_Datatype parts[2] = {MPI_CHAR, MPI_DOUBLE}, whole;
      MPI_Type_create_struct(2, lengths, places, parts, &whole);
      MPI_Type_create_resized(whole, 0, place + 8, out);
      MPI_Type_free(&whole);
    });
    exchange_type(s, t, {5, 6, 53, 54, 60, 1200});
  }
}

/// Messages of exactly a ticket's size, one element less and one more, through a gapped type.
void ticket_sized(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const datatype eight("8 of 24",
                       [](MPI_Datatype* t) { MPI_Type_create_resized(MPI_DOUBLE, 0, 24, t); });
  const datatype column("4 of 12", [](MPI_Datatype* t) { MPI_Type_vector(40, 1, 3, MPI_INT, t); });
  for (form f : forms)
    with_all_kinds([&](kind from, kind to) {
      for (int count : {59, 60, 61}) {
        s.note("%d elements, %s to %s, form %d", count, name(from), name(to), static_cast<int>(f));
        const layout l(eight.get(), count);
        transfer(s, f, {from, eight.get(), &l}, {to, eight.get(), &l}, peer);
      }
      for (int count : {2, 3, 4}) {  // 160 bytes each
        s.note("%d columns, %s to %s, form %d", count, name(from), name(to), static_cast<int>(f));
        const layout l(column.get(), count);
        transfer(s, f, {from, column.get(), &l}, {to, column.get(), &l}, peer);
      }
    });
}

/// Fewer elements are sent than the receive has room for, also not a whole number of its type.
void partial(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const datatype rows("rows", [](MPI_Datatype* t) { MPI_Type_vector(5, 1, 3, MPI_INT, t); });
  for (form f : forms)
    with_all_kinds([&](kind from, kind to) {
      for (int ints : {0, 1, 4, 5, 7, 119, 120, 121, 2000}) {
        s.note("%d ints, %s to %s, form %d", ints, name(from), name(to), static_cast<int>(f));
        const layout sent(MPI_INT, ints), room(rows.get(), ints / 5 + 3);
        const side out{from, MPI_INT, &sent}, in{to, rows.get(), &room};
        buffer a(from, sent.span), b(to, room.span);
        const std::uint64_t id = s.opt.seed + static_cast<unsigned>(ints) * 8u;
        put(a, sent, id + static_cast<std::uint64_t>(s.rank));
        b.clear();
        const MPI_Status status = exchange(f, out, a.data(), in, b.data(), peer);
        s.expect_none(check(b, room, id + static_cast<std::uint64_t>(peer), sent.place.size()));
        int count = 0, elements = 0;
        MPI_Get_count(&status, rows.get(), &count);
        MPI_Get_elements(&status, rows.get(), &elements);
        s.expect_equal(count, ints % 5 == 0 ? ints / 5 : MPI_UNDEFINED, "Get_count");
        s.expect_equal(elements, ints, "Get_elements");
      }
    });
}

/// Every predefined type with a ticket's number of bytes, as far as they divide it, and round it.
void predefined(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const MPI_Datatype types[] = {
      MPI_CHAR,      MPI_SHORT,     MPI_INT,         MPI_LONG,
      MPI_FLOAT,     MPI_DOUBLE,    MPI_LONG_DOUBLE, MPI_UNSIGNED_LONG_LONG,
      MPI_INT8_T,    MPI_UINT64_T,  MPI_C_BOOL,      MPI_C_DOUBLE_COMPLEX,
      MPI_2INT,      MPI_FLOAT_INT, MPI_DOUBLE_INT,  MPI_LONG_INT,
      MPI_SHORT_INT, MPI_BYTE,      MPI_PACKED,      MPI_WCHAR};
  std::size_t index = 0;
  for (MPI_Datatype type : types) {
    int size = 1;
    MPI_Type_size(type, &size);
    for (int count : {1, 480 / size, 480 / size + 1, 4000 / size}) {
      const layout l(type, count);
      with_all_kinds([&](kind from, kind to) {
        const form f = forms[index++ % std::size(forms)];
        s.note("type %zu of %d bytes, %d elements, %s to %s, form %d", index, size, count,
               name(from), name(to), static_cast<int>(f));
        transfer(s, f, {from, type, &l}, {to, type, &l}, peer);
      });
    }
  }
}

/// A type that is freed while a message of it is under way.
void freed_type(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  with_all_kinds([&](kind from, kind to) {
    s.note("%s to %s", name(from), name(to));
    MPI_Datatype type;
    MPI_Type_vector(50, 3, 7, MPI_INT, &type);
    MPI_Type_commit(&type);
    const layout l(type, 20);
    buffer out(from, l.span), in(to, l.span);
    put(out, l, s.opt.seed + static_cast<std::uint64_t>(s.rank));
    in.clear();
    MPI_Request r[2];
    MPI_Irecv(in.data(), 20, type, peer, 4, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out.data(), 20, type, peer, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Type_free(&type);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    s.expect_none(check(in, l, s.opt.seed + static_cast<std::uint64_t>(peer), l.place.size()));
  });
}

/// The host MPI's own function, as a library finds it that asked the MPI library's handle.
decltype(&MPI_Type_free) host_type_free() {
  for (const char* name : {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1"})
    if (void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD))
      return reinterpret_cast<decltype(&MPI_Type_free)>(dlsym(library, "MPI_Type_free"));
  return &MPI_Type_free;
}

// Every other one is made with large counts, as mpi4py makes all of them.
MPI_Datatype vector_type(int step) {
  MPI_Datatype type;
#if MPI_VERSION >= 4
  if (step % 2 == 0) {
    MPI_Type_vector_c(50, step, 7, MPI_INT, &type);
    return type;
  }
#endif
  MPI_Type_vector(50, step, 7, MPI_INT, &type);
  return type;
}

/// Types that are freed where Telpher cannot see it: the next one is likely to get the same handle.
void freed_past_wrappers(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  with_all_kinds([&](kind from, kind to) {
    for (int step = 1; step <= 6; ++step) {
      s.note("%s to %s, step %d", name(from), name(to), step);
      MPI_Datatype type = vector_type(step);
      MPI_Type_commit(&type);
      const layout l(type, 20);
      buffer out(from, l.span), in(to, l.span);
      put(out, l, s.opt.seed + static_cast<std::uint64_t>(s.rank));
      in.clear();
      MPI_Sendrecv(out.data(), 20, type, peer, 4, in.data(), 20, type, peer, 4, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      s.expect_none(check(in, l, s.opt.seed + static_cast<std::uint64_t>(peer), l.place.size()));
      host_type_free()(&type);
    }
  });
}

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

/// Messages of every type under way together. Each one must be whole when MPI says that it is
/// there.
void together(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const std::vector<datatype> types = make_types();
  constexpr int messages = 24;
  std::vector<layout> layouts;
  for (int i = 0; i < messages; ++i)
    layouts.emplace_back(types[static_cast<std::size_t>(i) % types.size()].get(), 1 + i % 3 * 30);
  with_all_kinds([&](kind from, kind to) {
    s.note("%s to %s", name(from), name(to));
    std::vector<std::unique_ptr<buffer>> out, in;
    std::vector<MPI_Request> sends(messages), receives(messages);
    const auto id = [&](int i, int rank) {
      return mix(s.opt.seed) + static_cast<std::uint64_t>(i * 2 + rank);
    };
    for (const layout& l : layouts) {
      out.push_back(std::make_unique<buffer>(from, l.span));
      in.push_back(std::make_unique<buffer>(to, l.span, 8));
    }
    for (std::size_t i = 0; i < messages; ++i) {
      const int tag = static_cast<int>(i);
      put(*out[i], layouts[i], id(tag, s.rank));
      in[i]->clear();
      MPI_Irecv(in[i]->data() + layouts[i].origin, layouts[i].elements,
                types[i % types.size()].get(), peer, tag, MPI_COMM_WORLD, &receives[i]);
    }
    for (std::size_t i = messages; i-- > 0;)
      MPI_Isend(out[i]->data() + layouts[i].origin, layouts[i].elements,
                types[i % types.size()].get(), peer, static_cast<int>(i), MPI_COMM_WORLD,
                &sends[i]);
    for (int left = messages; left > 0; --left) {
      int which = MPI_UNDEFINED;
      MPI_Waitany(messages, receives.data(), &which, MPI_STATUS_IGNORE);
      const auto i = static_cast<std::size_t>(which);
      s.expect_none(check(*in[i], layouts[i], id(which, peer), layouts[i].place.size()));
    }
    MPI_Waitall(messages, sends.data(), MPI_STATUSES_IGNORE);
  });
}

/// MPI_Sendrecv_replace through a gapped type: the gaps stay.
void replace(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const datatype t("vector", [](MPI_Datatype* out) { MPI_Type_vector(30, 2, 5, MPI_SHORT, out); });
  for (kind k : kinds())
    for (int count : {1, 4, 100}) {
      s.note("%s, %d elements", name(k), count);
      const layout l(t.get(), count);
      buffer b(k, l.span);
      b.clear();
      put(b, l, s.opt.seed + static_cast<std::uint64_t>(s.rank));
      MPI_Sendrecv_replace(b.data(), count, t.get(), peer, 5, peer, 5, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
      std::vector<unsigned char> message(l.place.size()), wanted(l.span, 0x11);
      write_pattern(s.opt.seed + static_cast<std::uint64_t>(peer), message.data(), message.size());
      for (std::size_t i = 0; i < message.size(); ++i) wanted[l.place[i]] = message[i];
      s.expect_none(b.compare(wanted.data()));
    }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  {
    for (const datatype& t : make_types())
      s.run(t.label(), [&] { exchange_type(s, t, {0, 1, 2, 7, 60}); });
    s.run("unlike parts", [&] { unlike_parts(s); });
    s.run("ticket-sized", [&] { ticket_sized(s); });
    s.run("partial", [&] { partial(s); });
    s.run("predefined", [&] { predefined(s); });
    s.run("freed type", [&] { freed_type(s); });
    s.run("freed past the wrappers", [&] { freed_past_wrappers(s); });
    s.run("together", [&] { together(s); });
    s.run("replace", [&] { replace(s); });
    for (const datatype& t : make_types())
      s.run(std::string("pack ") + t.label(), [&] {
        pack_type(s, t);
        if (host_packs_external(s, t)) pack_external_type(s, t);
      });
    s.run("pack longs", [&] { pack_external_longs(s); });
    if (kinds().back() == kind::device) s.run("pack without room", [&] { pack_without_room(s); });
  }
  return s.finish();
}
