// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives by the vendor's library, which test/ccl/emulated.cpp stands for: that it
// runs what it can and nothing else, that selection.def chooses it, and what becomes of calls in
// which it fails. Arguments: `selection` and `failure` run these cases only; coll_any_path: some
// rank cannot use the library, and all is right nevertheless.
#include "coll_formulas.hpp"

namespace {

using namespace mpi_test;

bool library_has(call_kind what) {
  return what == call_kind::allreduce || what == call_kind::bcast || what == call_kind::reduce ||
         what == call_kind::allgather || what == call_kind::alltoall;
}

void check_path(suite& s, int what, int n, bool by_library) {
  const std::string path = last_path();
  const bool among_devices = path.starts_with("coll_") && path != "coll_staged";
  if (!among_devices || by_library != (path == "coll_vendor"))
    s.fail("operation %d of %d ran by %s", what, n, path.c_str());
}

void check_operations(suite& s, MPI_Comm comm, bool library) {
  const group g(comm);
  for (int what = 0; what < static_cast<int>(call_kind::count_); ++what)
    for (const int n : {1, 100, 70000}) {
      s.note("operation %d of %d", what, n);
      const auto which = static_cast<call_kind>(what);
      s.expect_none(one_call(g, which, n, g.ranks - 1, n, kind::device, kind::device));
      check_path(s, what, n, library && library_has(which));
    }
}

/// What MPI lets programs write and the library has no form of.
void check_other_forms(suite& s) {
  const group g(MPI_COMM_WORLD);
  constexpr int n = 1000;
  numbers data(kind::device, n * g.ranks), vector(kind::device, n);
  const auto sum = [&](int i) {
    int all = 0;
    for (int r = 0; r < g.ranks; ++r) all += value(r, i, 1);
    return all;
  };
  const auto fill = [&](numbers& to) { to.set([&](int i) { return value(g.rank, i, 1); }); };
  s.note("reduce-scatter in place");
  fill(data);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, data.data(), n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check_path(s, -1, n, false);
  numbers own(kind::device, n);
  fill(data);
  MPI_Reduce_scatter_block(data.data(), own.data(), n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check_path(s, -2, n, true);
  s.expect_none(own.compare([&](int i) { return sum(g.rank * n + i); }));
  s.note("bitwise or");
  fill(vector);
  MPI_Allreduce(MPI_IN_PLACE, vector.data(), n, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
  check_path(s, -3, n, false);
  s.note("non-blocking");
  fill(vector);
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, vector.data(), n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_path(s, -4, n, false);
  s.expect_none(vector.compare(sum));
}

void check_lifetimes(suite& s, bool library) {
  for (int round = 0; round < 3; ++round) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, round % 2 ? s.rank : -s.rank, &comm);
    check_operations(s, comm, library);
    MPI_Comm_free(&comm);
  }
}

/// As selection.def has it, on three ranks.
void check_selection(suite& s) {
  const group g(MPI_COMM_WORLD);
  struct {
    call_kind what;
    int n;
    bool by_library;
  } const rows[] = {
      {call_kind::allreduce, 100, false},          {call_kind::allreduce, 8 << 20, false},
      {call_kind::allreduce, (8 << 20) + 1, true}, {call_kind::reduce, 700000, false},
      {call_kind::reduce, (8 << 20) + 1, true},    {call_kind::allgather, 1 << 20, false}};
  for (const auto& row : rows) {
    s.note("operation %d of %d", static_cast<int>(row.what), row.n);
    s.expect_none(one_call(g, row.what, row.n, 0, row.n, kind::device, kind::device));
    check_path(s, static_cast<int>(row.what), row.n, row.by_library);
  }
}

/// One call fails at one rank: at all of them, and later ones go other ways.
void check_failure(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const group g(comm);
  numbers send(kind::device, 1000), receive(kind::device, 1000);
  send.set([&](int i) { return value(g.rank, i, 0); });
  int calls_failed = 0;
  for (int call = 0; call < 6; ++call) {
    s.note("call %d", call);
    int mine = MPI_Allreduce(send.data(), receive.data(), 1000, MPI_INT, MPI_SUM, comm);
    mine = mine != MPI_SUCCESS;
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, s.control);
    if (all != 0 && all != s.ranks) s.fail("call %d failed at %d ranks", call, all);
    calls_failed += all != 0;
    if (all == 0) check_path(s, 0, 1000, calls_failed == 0);
  }
  if (calls_failed != 1) s.fail("%d calls failed", calls_failed);
  check_operations(s, comm, false);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  const bool library = take_wanted_path(s) != "coll_any_path";
  if (std::erase(s.opt.words, "selection") > 0) {
    s.run("selection", [&] { check_selection(s); });
    return s.finish();
  }
  if (std::erase(s.opt.words, "failure") > 0) {
    s.run("failure", [&] { check_failure(s); });
    return s.finish();
  }
  s.run("operations", [&] { check_operations(s, MPI_COMM_WORLD, library); });
  if (library) s.run("forms", [&] { check_other_forms(s); });
  s.run("communicators come and go", [&] { check_lifetimes(s, library); });
  return s.finish();
}
