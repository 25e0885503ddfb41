// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhood collectives and MPI_Alltoallw in all forms and memories, on every sort of topology:
// several at once, in place, freed before they end, and with errors.
#include <algorithm>
#include <array>

#include "neighbour_calls.hpp"

namespace {

using namespace mpi_test;

// --- every topology ---

std::vector<form> forms() {
  if (MPI_TEST_HAS_MPI_4) return {form::blocking, form::nonblocking, form::persistent};
  return {form::blocking, form::nonblocking};
}

constexpr std::array shapes{shape{0, 1}, shape{3, 1}, shape{5, 2}, shape{3000, 1}, shape{700, 3}};

/// Open MPI's own non-blocking forms mix the blocks up where a rank is a neighbour twice.
bool host_is_wrong(const topology& t, form f, const memories& m) {
#ifdef OPEN_MPI
  return m.even == kind::host && m.odd == kind::host && f != form::blocking &&
         (t.grid || t.name == "graph" || t.name == "distributed graph" ||
          t.name == "adjacent graph");
#else
  return (void)t, (void)f, (void)m, false;
#endif
}

template <class Make>
void check_topology(suite& w, const Make& make) {
  for (const memories& m : all_memories()) {
    topology t = make();
    for (const form f : forms())
      for (const shape& s : shapes) {
        const bool by_host = m.even == kind::host && m.odd == kind::host;
        if (host_is_wrong(t, f, m) || (by_host && s.count != 5)) continue;
        if (t.name == "everybody")
          check_form(w, {t, what::alltoallw, s}, f, m);
        else
          for (const what which : neighbour_calls) check_form(w, {t, which, s}, f, m);
      }
    MPI_Comm_free(&t.comm);
  }
}

// --- the way that the members take ---

/// Memory changes from call to call and differs between ranks: what is agreed may be behind it.
void check_changing_memory(suite& w) {
  topology t = make_grid(w, {0}, true);
  for (int i = 0; i < 40; ++i) {
    random_numbers dice(w.opt.seed * 1000 + static_cast<std::uint64_t>(i / 3));
    const bool any = dice.chance(50);
    const bool mine = any && mix(static_cast<std::uint64_t>(i * 100 + w.rank)) % 2 == 0;
    const kind k = mine ? kinds().back() : kind::host;
    call c{t, i % 2 ? what::neighbor_alltoall : what::neighbor_alltoallw, {i % 4 ? 200 : 20000, 1}};
    c.s.type = MPI_INT;
    w.note("call %d, %s", i, mine ? "device" : "host");
    exchange x(w, c, k, k);
    x.load(i);
    x.start(form::blocking, nullptr);
    x.check(i);
  }
  MPI_Comm_free(&t.comm);
}

/// A duplicate of a topology is one, and knows what its original knows.
void check_duplicate(suite& w) {
  topology t = make_grid(w, {0}, true);
  for (const bool blocking : {true, false}) {
    MPI_Comm original = t.comm, made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    if (blocking)
      MPI_Comm_dup(original, &made);
    else
      MPI_Comm_idup(original, &made, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
    t.comm = made;
    call c{t, what::neighbor_alltoall, {1000, 1, MPI_INT}};
    for (const form f : forms()) {
      if (!blocking && f == form::nonblocking) continue;  // Open MPI's own one is wrong
      w.note("%s, %s", blocking ? "MPI_Comm_dup" : "MPI_Comm_idup",
             form_names[static_cast<int>(f)]);
      check_form(w, c, f, all_memories().front());
    }
    MPI_Comm_free(&t.comm);
    t.comm = original;
  }
  MPI_Comm_free(&t.comm);
}

/// More topologies than MPICH has communicators at once, most of which others hold.
void check_many(suite& w) {
  std::vector<MPI_Comm> held(1800, MPI_COMM_NULL);
  for (MPI_Comm& comm : held) MPI_Comm_dup(MPI_COMM_SELF, &comm);
  const int n = w.ranks, periodic = 1;
  for (int i = 0; i < 300; ++i) {
    topology t{"ring", MPI_COMM_NULL, nullptr, nullptr, true};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &w.ranks, &periodic, 0, &t.comm);
    t.from = t.to = [n](int r) { return std::vector<int>{(r + n - 1) % n, (r + 1) % n}; };
    if (i % 20 == 0)
      check_form(w, {t, what::neighbor_alltoall, {100, 1}}, form::nonblocking,
                 all_memories().front());
    MPI_Comm_free(&t.comm);
  }
  for (MPI_Comm& comm : held) MPI_Comm_free(&comm);
}

// --- several at once ---

void check_open_together(suite& w) {
  topology t = make_grid(w, {0}, true);
  constexpr std::size_t most = 12;
  std::vector<call> calls;
  std::vector<exchange> each;
  std::array<MPI_Request, most> requests;
  calls.reserve(most), each.reserve(most);
  for (std::size_t i = 0; i < most; ++i) {
    const kind k = i % 3 == 2 ? kind::host : kinds().back();
    calls.push_back({t,
                     i % 2 ? what::neighbor_alltoall : what::neighbor_allgather,
                     {as_int(1 + 900 * i), 1, MPI_INT}});
    each.emplace_back(w, calls.back(), k, k);
    each.back().load(as_int(i));
  }
  for (std::size_t i = 0; i < most; ++i) each[i].start(form::nonblocking, &requests[i]);
  MPI_Waitall(as_int(most), requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < most; ++i) each[i].check(as_int(i));
  MPI_Comm_free(&t.comm);
}

#if MPI_TEST_HAS_MPI_4
/// Ranks start their requests in different orders; the communicator is freed before.
void check_persistent_orders(suite& w) {
  topology t = make_grid(w, {0}, true);
  constexpr std::size_t most = 6;
  std::vector<call> calls;
  std::vector<exchange> each;
  std::array<MPI_Request, most> requests;
  calls.reserve(most), each.reserve(most);
  for (std::size_t i = 0; i < most; ++i) {
    calls.push_back({t, what::neighbor_alltoall, {as_int(1000 + i), 1, MPI_INT}});
    each.emplace_back(w, calls.back(), kinds().back(), kinds().back());
    each.back().start(form::persistent, &requests[i]);
  }
  MPI_Comm_free(&t.comm);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < most; ++i) each[i].load(round);
    for (std::size_t i = 0; i < most; ++i) {
      const std::size_t at = w.rank % 2 ? most - 1 - i : i;
      MPI_Start(&requests[at]);
    }
    MPI_Waitall(as_int(most), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < most; ++i) each[i].check(round);
  }
  // The last one to go frees what the messages went by, at each rank when it likes.
  if (w.rank % 2) MPI_Barrier(MPI_COMM_WORLD);
  for (MPI_Request& r : requests) MPI_Request_free(&r);
  if (w.rank % 2 == 0) MPI_Barrier(MPI_COMM_WORLD);
}
#endif

/// A communicator may be freed while its calls are under way.
void check_freed_before_the_end(suite& w) {
  for (int i = 0; i < 5; ++i) {
    topology t = make_grid(w, {0}, true);
    const call c{t, what::neighbor_alltoall, {1000 << i, 1, MPI_INT}};
    exchange x(w, c, kinds().back(), kinds().back());
    MPI_Request request = MPI_REQUEST_NULL;
    x.load(i);
    x.start(form::nonblocking, &request);
    MPI_Comm_free(&t.comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    x.check(i);
  }
}

// --- in place ---

/// Every rank exchanges a block of another length with every other, in place.
void check_in_place(suite& w, kind k, form f) {
  w.note("in place, %s, %s", name(k), form_names[static_cast<int>(f)]);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const auto n = static_cast<std::size_t>(w.ranks);
  constexpr std::size_t room = 4000;
  const auto length = [&](int a, int b) { return (a + b) % 3 == 0 ? 0 : 500 * (a + b + 1); };
  std::vector<int> counts(n), places(n), before(n * room, untouched), after(n * room, untouched);
  std::vector<MPI_Datatype> types(n, MPI_INT);
  for (int r = 0; r < w.ranks; ++r) {
    const auto i = static_cast<std::size_t>(r);
    counts[i] = std::min(length(w.rank, r), as_int(room));
    places[i] = as_int(i * room * sizeof(int));
    for (int e = 0; e < counts[i]; ++e) {
      before[i * room + static_cast<std::size_t>(e)] = value(w.rank, i, e, 0);
      after[i * room + static_cast<std::size_t>(e)] =
          value(r, static_cast<std::size_t>(w.rank), e, 0);
    }
  }
  buffer data(k, n * room * sizeof(int));
  for (int turn = 0; turn < 2; ++turn) {
    write(data, before);
    MPI_Request request = MPI_REQUEST_NULL;
    if (f == form::blocking)
      MPI_Alltoallw(MPI_IN_PLACE, nullptr, nullptr, nullptr, data.data(), counts.data(),
                    places.data(), types.data(), comm);
    else
      MPI_Ialltoallw(MPI_IN_PLACE, nullptr, nullptr, nullptr, data.data(), counts.data(),
                     places.data(), types.data(), comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    w.expect_none(data.compare(reinterpret_cast<const unsigned char*>(after.data())));
    f = turn == 0 && k != kind::host ? form::nonblocking : f;
  }
  MPI_Comm_free(&comm);
}

// --- what a program may do wrong ---

MPI_Comm heard_from = MPI_COMM_NULL;
int heard_code = MPI_SUCCESS;
int heard = 0;

void hear(MPI_Comm* comm, int* code, ...) {
  heard_from = *comm;
  heard_code = *code;
  ++heard;
}

/// Errors are raised on the program's communicator, once, and later calls go on.
void check_errors(suite& w) {
  topology t = make_grid(w, {0}, true);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(hear, &handler);
  MPI_Comm_set_errhandler(t.comm, handler);
  MPI_Errhandler_free(&handler);
  buffer from(kinds().back(), 8000), to(kinds().back(), 8000);
  const auto expect_error = [&](int wanted, const char* of) {
    w.note("%s", of);
    w.expect_equal(heard, 1, "errors heard");
    w.expect(heard_from == t.comm, "on the program's communicator");
    w.expect_class(heard_code, wanted, "the class of the error");
    heard = 0, heard_code = MPI_SUCCESS;
  };
  heard = 0;
  MPI_Neighbor_alltoall(from.data(), -1, MPI_INT, to.data(), -1, MPI_INT, t.comm);
  expect_error(MPI_ERR_COUNT, "a negative count");
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ineighbor_alltoall(from.data(), 10, MPI_DATATYPE_NULL, to.data(), 10, MPI_DATATYPE_NULL,
                         t.comm, &request);
  expect_error(MPI_ERR_TYPE, "no type");
  MPI_Datatype loose = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, 2, MPI_INT, &loose);
  MPI_Neighbor_alltoall(from.data(), 10, loose, to.data(), 10, loose, t.comm);
  expect_error(MPI_ERR_TYPE, "a type that is not committed");
  const int counts[] = {10, 10};
  const MPI_Aint places[] = {0, 4000};
  const MPI_Datatype types[] = {MPI_INT, loose};
  MPI_Neighbor_alltoallw(from.data(), counts, places, types, to.data(), counts, places, types,
                         t.comm);
  expect_error(MPI_ERR_TYPE, "one type that is not committed");
  MPI_Type_free(&loose);
  check_form(w, {t, what::neighbor_alltoall, {100, 1}}, form::blocking, all_memories().front());
  MPI_Comm_free(&t.comm);
}

}  // namespace

int main(int argc, char** argv) {
  suite w(&argc, &argv, 2);
  for (const bool periodic : {true, false}) {
    const std::string kind_of = periodic ? "torus" : "grid";
    w.run("1-d " + kind_of,
          [&] { check_topology(w, [&] { return make_grid(w, {0}, periodic); }); });
    w.run("2-d " + kind_of, [&] {
      check_topology(w, [&] { return make_grid(w, {0, 0}, periodic); });
    });
  }
  w.run("torus with a dimension of one rank", [&] {
    check_topology(w, [&] { return make_grid(w, {0, 1, 1}, true); });
  });
  w.run("graph", [&] { check_topology(w, [&] { return make_graph(w); }); });
  w.run("adjacent graph", [&] { check_topology(w, [&] { return make_distributed(w, true); }); });
  w.run("distributed graph",
        [&] { check_topology(w, [&] { return make_distributed(w, false); }); });
  w.run("everybody", [&] { check_topology(w, [&] { return make_everybody(w); }); });
  w.run("in place", [&] {
    for (const kind k : {kind::host, kinds().back()}) check_in_place(w, k, form::blocking);
  });
  w.run("changing memory", [&] { check_changing_memory(w); });
  w.run("open together", [&] { check_open_together(w); });
  w.run("freed before the end", [&] { check_freed_before_the_end(w); });
  w.run("duplicates", [&] { check_duplicate(w); });
  w.run("many topologies", [&] { check_many(w); });
  w.run("errors", [&] { check_errors(w); });
#if MPI_TEST_HAS_MPI_4
  w.run("persistent in any order", [&] { check_persistent_orders(w); });
#endif
  return w.finish();
}
