// SPDX-License-Identifier: BSD-3-Clause
// Collectives between nodes while the host's memory has run out at one rank: every allocation of
// Telpher's fails in turn, or all of them from there on. Either all ranks have the right result, or
// all have MPI_ERR_NO_MEM; and the next call works. Some call of each kind must have failed.
#include "checked_calls.hpp"
#include "failing_malloc.hpp"

namespace {

using namespace mpi_test;

int code_of_call = MPI_SUCCESS;  // an error class

void note_error(MPI_Comm*, int* code, ...) {
  MPI_Error_class(*code, &code_of_call);
}

struct attempt {
  call_kind what;
  int n;
  long nth;    // allocation that fails
  bool all;    // and all that follow
  bool later;  // the non-blocking form
};

int refused = 0;  // calls that ended with an error

/// Whether the allocation was reached.
bool check_one(suite& s, MPI_Comm comm, const attempt& a) {
  const int failing = static_cast<int>(a.nth) % s.ranks;
  const memory_kinds k{kind::device, kind::device, false, a.later};
  int struck = 1;
  code_of_call = MPI_SUCCESS;
  before_call = [&] {
    if (!a.later) MPI_Barrier(s.control);
    if (s.rank == failing) fail_malloc(a.nth, a.all);
  };
  after_call = [&] {
    if (s.rank == failing) struck = stop_failing();
  };
  const std::string wrong = checked_call(comm, a.what, a.n, static_cast<int>(a.nth), k).run();
  before_call = after_call = nullptr;
  const int code = code_of_call;
  if (code == MPI_SUCCESS)
    s.expect_none(wrong);
  else
    s.expect_equal(code, MPI_ERR_NO_MEM, "the class of the error");
  int seen[2] = {code != MPI_SUCCESS, code == MPI_SUCCESS}, any[2];
  MPI_Allreduce(seen, any, 2, MPI_INT, MPI_MAX, s.control);
  if (any[0] && any[1]) s.fail("an error at some ranks only");
  refused += any[0];
  MPI_Bcast(&struck, 1, MPI_INT, failing, s.control);
  code_of_call = MPI_SUCCESS;
  s.expect_none(checked_call(comm, a.what, a.n, 7, k).run());
  s.expect_equal(code_of_call, MPI_SUCCESS, "the next call");
  return struck != 0;
}

/// The first call of a communicator, or one of a new kind after others, or one like those before
/// it.
enum class when { first, new_kind, again };

MPI_Comm made(when w, call_kind what, int n, MPI_Errhandler handler) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  for (int call = 0; w != when::first && call < 3; ++call)
    checked_call(comm, what, n, call, {}).run();
  return comm;
}

/// From the first allocation to the last. Only a first call needs a communicator of its own, which
/// takes longer than all the rest; a new kind is another length.
void check_each(suite& s, when w, attempt a, MPI_Errhandler handler) {
  const int most_missed = a.later ? 3 : 1;  // a non-blocking call may have been through before
  const long most = w == when::again ? 12 : 200, next = a.all ? 5 : a.later ? 2 : 1;
  MPI_Comm comm = made(w, a.what, a.n, handler);
  int missed = 0;
  for (a.nth = 1; missed < most_missed && a.nth < most; a.nth += next) {
    s.note("%s of %d, allocation %ld", names[static_cast<int>(a.what)], a.n, a.nth);
    if (w == when::new_kind) ++a.n;
    if (w == when::first && a.nth > 1) {
      MPI_Comm_free(&comm);
      comm = made(w, a.what, a.n, handler);
    }
    missed = check_one(s, comm, a) ? 0 : missed + 1;
    s.still_alive();
  }
  MPI_Comm_free(&comm);
}

void check(suite& s, when w, bool all, bool later) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note_error, &handler);
  each_operation([&](call_kind what, const char* name) {
    refused = 0;
    bool tried = false;
    for (const int n : {100, 5001}) {  // in host memory, on the devices
      // What is made for a communicator is the same for most.
      if (w == when::first && what != (n == 100 ? call_kind::alltoallv : call_kind::reduce))
        continue;
      tried = true;
      check_each(s, w, {what, n, 1, all, later}, handler);
    }
    if (w != when::again && tried && refused == 0) s.fail("no %s failed", name);
    if (w == when::again && refused != 0) s.fail("%d of a known kind failed", refused);
  });
  MPI_Errhandler_free(&handler);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (!find_telpher()) return s.finish();
  for (const bool all : {false, true}) {
    const std::string which = all ? "all memory" : "one piece";
    s.run(which + ", first call", [&] { check(s, when::first, all, false); });
    s.run(which + ", new kind of call", [&] { check(s, when::new_kind, all, false); });
    s.run(which + ", known kind of call", [&] { check(s, when::again, all, false); });
  }
  s.run("non-blocking", [&] { check(s, when::new_kind, false, true); });
  return s.finish();
}
