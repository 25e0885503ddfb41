// SPDX-License-Identifier: BSD-3-Clause
// Derived datatypes on all kinds of memory, on one side or both, with the gaps and everything round
// them untouched, and receives that get less than they asked for.
#include <memory>

#include "type_layouts.hpp"

using namespace mpi_test;

namespace {

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

/// A member without elements: a type of none, or none of a type.
datatype with_empty_member(MPI_Aint empty, bool none_of_a_type, MPI_Aint at, int ints) {
  return {"empty member", [=](MPI_Datatype* out) {
            MPI_Datatype none, parts[2] = {MPI_INT, MPI_INT};
            MPI_Type_contiguous(0, MPI_INT, &none);
            if (!none_of_a_type) parts[0] = none;
            int lengths[2] = {none_of_a_type ? 0 : 1, ints};
            MPI_Aint places[2] = {empty, at};
            MPI_Type_create_struct(2, lengths, places, parts, out);
            MPI_Type_free(&none);
          }};
}

/// Host MPIs differ in whether such members belong to the true extent.
void empty_members(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (const bool none_of_a_type : {false, true})
    for (const MPI_Aint away : {-64, 64}) {
      exchange_type(s, with_empty_member(away, none_of_a_type, 0, 1), {1, 2, 60});
      with_all_kinds([&](kind from, kind to) {
        constexpr int ints = 3000;
        s.note("%ld bytes from an address, %s to %s", static_cast<long>(away), name(from),
               name(to));
        const layout l(MPI_INT, ints);
        buffer out(from, l.span), in(to, l.span, 8);
        put(out, l, s.opt.seed + static_cast<std::uint64_t>(s.rank));
        in.clear();
        MPI_Aint from_at = 0, to_at = 0;
        MPI_Get_address(out.data(), &from_at);
        MPI_Get_address(in.data(), &to_at);
        const datatype sent = with_empty_member(from_at + away, none_of_a_type, from_at, ints),
                       received = with_empty_member(to_at + away, none_of_a_type, to_at, ints);
        MPI_Sendrecv(MPI_BOTTOM, 1, sent.get(), peer, 6, MPI_BOTTOM, 1, received.get(), peer, 6,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        s.expect_none(check(in, l, s.opt.seed + static_cast<std::uint64_t>(peer), l.place.size()));
      });
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
  for (const datatype& t : make_types())
    s.run(t.label(), [&] { exchange_type(s, t, {0, 1, 2, 7, 60}); });
  s.run("unlike parts", [&] { unlike_parts(s); });
  s.run("empty members", [&] { empty_members(s); });
  s.run("ticket-sized", [&] { ticket_sized(s); });
  s.run("partial", [&] { partial(s); });
  s.run("predefined", [&] { predefined(s); });
  s.run("together", [&] { together(s); });
  s.run("replace", [&] { replace(s); });
  return s.finish();
}
