// SPDX-License-Identifier: BSD-3-Clause
// Types with gaps whose messages no kernel of the sender packs: the receiver's device takes them
// out of the sender's buffer. To receivers of every kind, early and late, and with the sender's
// part where a receiver cannot do without. Between nodes the ends pack and unpack block by block.
#include <chrono>
#include <thread>
#include <tuple>

#include "emulated.hpp"
#include "paths.hpp"
#include "type_layouts.hpp"

using namespace mpi_test;

namespace {

/// More than what the CPU copies through a window (TELPHER_MAPPED_LIMIT).
std::vector<datatype> make_grids() {
  std::vector<datatype> list;
  list.emplace_back("rows of 16",
                    [](MPI_Datatype* t) { MPI_Type_vector(1500, 2, 5, MPI_DOUBLE, t); });
  list.emplace_back("column of ints",
                    [](MPI_Datatype* t) { MPI_Type_vector(5000, 1, 3, MPI_INT, t); });
  list.emplace_back("backwards",
                    [](MPI_Datatype* t) { MPI_Type_vector(1500, 3, -7, MPI_DOUBLE, t); });
  list.emplace_back("face", [](MPI_Datatype* t) {
    int whole[3] = {30, 21, 19}, part[3] = {25, 17, 8}, start[3] = {2, 1, 5};
    MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, t);
  });
  return list;
}

/// Many elements, of a column each, which lie inside each other.
datatype columns() {
  return {"columns", [](MPI_Datatype* t) {
            MPI_Datatype column;
            MPI_Type_vector(40, 1, 64, MPI_DOUBLE, &column);
            MPI_Type_create_resized(column, 0, sizeof(double), t);
            MPI_Type_free(&column);
          }};
}

datatype irregular() {
  return {"irregular", [](MPI_Datatype* t) {
            int lengths[3] = {3, 1, 2}, places[3] = {0, 5, 9};
            MPI_Type_indexed(3, lengths, places, MPI_DOUBLE, t);
          }};
}

/// Large ones that kernels move by units, by rows and by a table; gaps are a small part of them.
std::vector<datatype> make_large() {
  std::vector<datatype> list;
  list.emplace_back("rows", [](MPI_Datatype* t) { MPI_Type_vector(50000, 7, 8, MPI_DOUBLE, t); });
  list.emplace_back("odd rows",
                    [](MPI_Datatype* t) { MPI_Type_vector(100000, 27, 31, MPI_BYTE, t); });
  list.emplace_back("box", [](MPI_Datatype* t) {
    int whole[3] = {100, 70, 61}, part[3] = {97, 67, 59}, start[3] = {2, 1, 1};
    MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, t);
  });
  list.emplace_back("table", [](MPI_Datatype* t) {
    std::vector<int> lengths, places;
    for (int at = 0; at < 400000; at += lengths.back() + 1 + at % 2) {
      places.push_back(at);
      lengths.push_back(20 + at % 13);
    }
    MPI_Type_indexed(as_int(places.size()), lengths.data(), places.data(), MPI_DOUBLE, t);
  });
  return list;
}

enum class order { together, receiver_late, sender_in_barrier, type_freed, persistent };

void send(const side& from, const buffer& out, order o, MPI_Datatype* owned) {
  const void* data = const_cast<buffer&>(out).data() + from.where->origin;
  if (o == order::together || o == order::receiver_late) {
    MPI_Send(data, from.where->elements, from.type, 1, 5, MPI_COMM_WORLD);
    return;
  }
  MPI_Request r;
  if (o == order::persistent) {
    MPI_Send_init(data, from.where->elements, from.type, 1, 5, MPI_COMM_WORLD, &r);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    return;
  }
  MPI_Isend(data, from.where->elements, from.type, 1, 5, MPI_COMM_WORLD, &r);
  if (owned) MPI_Type_free(owned);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

void receive(const side& to, buffer& in, order o) {
  if (o == order::receiver_late) std::this_thread::sleep_for(std::chrono::milliseconds(60));
  if (o == order::sender_in_barrier || o == order::type_freed) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Recv(in.data() + to.where->origin, to.where->elements, to.type, 0, 5, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
}

/// Rank 0 sends to rank 1, twice from the same buffer with other content.
void transfer(suite& s, const side& from, const side& to, order o, std::size_t shift = 0) {
  const std::size_t bytes = from.where->place.size();
  buffer out(from.memory, from.where->span), in(to.memory, to.where->span, shift);
  for (std::uint64_t turn = 0; turn < 2; ++turn) {
    const std::uint64_t id = mix(s.opt.seed) + bytes + turn;
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    side with = from;
    if (s.rank == 0 && o == order::type_freed) {
      MPI_Type_dup(from.type, &copy);
      with.type = copy;
    }
    if (s.rank == 0) {
      put(out, *from.where, id);
      send(with, out, o, o == order::type_freed ? &copy : nullptr);
    } else if (s.rank == 1) {
      in.clear();
      receive(to, in, o);
      s.expect_none(check(in, *to.where, id, bytes));
    }
  }
}

/// Nobody packs: the sender launches no kernel. But where a receiver is late, on a busy machine, a
/// small message is copied ahead.
void nothing_packed(suite& s, const datatype& t, int count) {
  const layout l(t.get(), count);
  const side end{kind::device, t.get(), &l};
  transfer(s, end, end, order::together);  // the receiver is now known to take messages by itself
  int without_kernels = 0;
  for (int tries = 0; tries < 20 && !without_kernels; ++tries) {
    const long long before = counted("launches");
    transfer(s, end, end, order::together);
    without_kernels = counted("launches") == before;
    MPI_Bcast(&without_kernels, 1, MPI_INT, 0, s.control);
  }
  s.expect(without_kernels, "the sender launches no kernel");
  if (s.rank == 1) s.expect(last_path() == "ipc_unpack", "taken out of the sender's buffer");
}

void other_ends(suite& s, const datatype& t, int count, order o) {
  const layout own(t.get(), count);
  const int doubles = as_int(own.place.size() / sizeof(double));
  const layout flat(MPI_DOUBLE, doubles);
  const datatype gaps = irregular();
  const layout scattered(gaps.get(), doubles / 6 + 1);
  const side from{kind::device, t.get(), &own};
  for (const kind memory : {kind::device, kind::host}) {
    s.note("to %s", name(memory));
    transfer(s, from, {memory, t.get(), &own}, o);
    transfer(s, from, {memory, MPI_DOUBLE, &flat}, o);
    transfer(s, from, {memory, gaps.get(), &scattered}, o);
    transfer(s, from, {memory, MPI_DOUBLE, &flat}, o, 3);  // aligned to no unit
  }
}

// --- in blocks ---

/// A message of its type that needs no device memory but for `tables`, where blocks are pinned;
/// else that of some blocks, and TELPHER_EMU_MEMORY leaves no room for more.
void without_room(suite& s, const datatype& t, int tables) {
  const layout l(t.get(), 1);
  buffer memory(kind::device, l.span);
  if (s.rank == 0)
    put(memory, l, 7);
  else
    memory.clear();
  s.meet(1 - s.rank);
  const long long launches = counted("launches"), made = counted("mallocs");
  if (s.rank == 0)
    MPI_Send(memory.data() + l.origin, 1, t.get(), 1, 5, MPI_COMM_WORLD);
  else
    MPI_Recv(memory.data() + l.origin, 1, t.get(), 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const bool counts = std::string_view(backend_name()) == "emu";
  if (counts) s.expect(counted("launches") >= launches + 4, "a kernel for each block");
  if (counts && !std::getenv("TELPHER_TEST_EMU_FAULTS"))
    s.expect(counted("mallocs") <= made + tables, "no device memory for the message");
  if (s.rank == 0) return;
  s.expect_none(check(memory, l, 7, l.place.size()));
  s.expect(last_path() == "pipelined", "moved in blocks");
}

/// Bytes, and doubles, with gaps between them, that end before, at and behind borders of blocks.
void at_borders(suite& s, std::size_t block) {
  for (const auto& [basic, size, extent] : {std::tuple(MPI_BYTE, std::size_t{1}, MPI_Aint{3}),
                                            std::tuple(MPI_DOUBLE, std::size_t{8}, MPI_Aint{24})}) {
    const datatype apart("apart", [&, b = basic, e = extent](MPI_Datatype* t) {
      MPI_Type_create_resized(b, 0, e, t);
    });
    const datatype triples("triples", [&, b = basic](MPI_Datatype* t) {
      int lengths[2] = {1, 2}, places[2] = {0, 3};
      MPI_Type_indexed(2, lengths, places, b, t);
    });
    for (const std::size_t half_blocks : {1u, 2u, 3u, 4u, 5u, 9u})
      for (const int more : {-1, 0, 1}) {
        const int count = as_int(half_blocks * block / 2 / size) + more;
        s.note("%d elements of %zu bytes", count, size);
        const layout single(apart.get(), count), flat(basic, count);
        const layout triple(triples.get(), (count + 2) / 3);
        const side with_gaps{kind::device, apart.get(), &single};
        transfer(s, with_gaps, with_gaps, order::together);
        transfer(s, with_gaps, {kind::device, basic, &flat}, order::together);
        transfer(s, {kind::device, basic, &flat}, {kind::device, triples.get(), &triple},
                 order::together, 1);
      }
  }
}

/// What is too long for its receiver is dropped; the next message is as good as ever.
void too_long(suite& s, const datatype& t) {
  const layout l(t.get(), 2);
  const side end{kind::device, t.get(), &l};
  buffer memory(kind::device, l.span);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (s.rank == 0) {
    put(memory, l, 3);
    s.expect_class(MPI_Send(memory.data() + l.origin, 2, t.get(), 1, 5, MPI_COMM_WORLD),
                   MPI_SUCCESS, "the send");
  } else {
    memory.clear();
    s.expect_class(
        MPI_Recv(memory.data() + l.origin, 1, t.get(), 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        MPI_ERR_TRUNCATE, "the receive");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  transfer(s, end, end, order::together);
}

void in_blocks(suite& s) {
  const std::vector<datatype> large = make_large();
  for (const datatype& t : large)
    s.run(std::string("without room, ") + t.label(),
          [&] { without_room(s, t, &t == &large.back()); });
  s.run("at borders", [&] { at_borders(s, 4096); });
  for (const datatype& t : large)
    s.run(std::string("large, ") + t.label(), [&] {
      const layout l(t.get(), 1);
      const side end{kind::device, t.get(), &l}, host{kind::host, t.get(), &l};
      for (const order o : {order::together, order::receiver_late, order::sender_in_barrier,
                            order::type_freed, order::persistent})
        transfer(s, end, end, o);
      transfer(s, end, host, order::together);
      transfer(s, host, end, order::together);
    });
  s.run("too long", [&] { too_long(s, large.front()); });
}

void all_cases(suite& s) {
  const char* forced = std::getenv("TELPHER_PATH");
  const std::vector<datatype> grids = make_grids();
  const datatype inner = columns();
  const bool near = !std::getenv("TELPHER_TEST_PRETENDED_NODES");
  if (s.opt.device && near && (!forced || std::string_view(forced) == "ipc_unpack")) {
    for (const datatype& t : grids)
      s.run(std::string("nothing packed, ") + t.label(), [&] { nothing_packed(s, t, 1); });
    s.run("nothing packed, columns", [&] { nothing_packed(s, inner, 60); });
  }
  constexpr std::pair<order, const char*> orders[] = {{order::together, "together"},
                                                      {order::receiver_late, "late receiver"},
                                                      {order::sender_in_barrier, "barrier"},
                                                      {order::type_freed, "freed type"}};
  for (const auto& [o, label] : orders) {
    s.run(std::string(label) + ", face", [&] { other_ends(s, grids.back(), 2, o); });
    s.run(std::string(label) + ", columns", [&] { other_ends(s, inner, 60, o); });
  }
  if (s.opt.device && !near) in_blocks(s);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  all_cases(s);
  return s.finish();
}
