// SPDX-License-Identifier: BSD-3-Clause
// Collectives among devices and the memory that they take: every allocation of Telpher's, of the
// host and of a device, fails in turn at one rank, and all ranks do the same all the same; what the
// program has freed does not stay mapped.
#include <chrono>

#include "coll_formulas.hpp"
#include "emulated.hpp"
#include "failing_malloc.hpp"

namespace {

using namespace mpi_test;

void set_faults(const char* text) {
  static auto* const set = emulated<void(const char*)>("telpher_emu_faults");
  if (set == nullptr) memory_failure("telpher_emu_faults", 0, TELPHER_ERR_MEMORY);
  set(text);
}

/// A communicator that has worked on devices, and whose next calls are of new kinds.
MPI_Comm used() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const group g(comm);
  one_call(g, call_kind::allreduce, 8, 0, 0, kind::device, kind::device);
  return comm;
}

/// Rank `g.ranks - 1` runs out of memory in one call: all are right, and in those that follow.
void check_call(suite& s, const group& g, call_kind what, int n, long nth, bool all, bool& struck) {
  formula_call one(g, what, n, 0, as_int(static_cast<std::size_t>(nth)), kind::device,
                   kind::device);
  const bool fails = g.rank == g.ranks - 1;
  if (fails) fail_malloc(nth, all);
  one.run();
  int left = fails && !stop_failing() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_INT, MPI_MAX, g.comm);
  struck = left == 0;
  s.expect_none(one.wrong());
  s.expect_none(one_call(g, what, n, 0, 7, kind::device, kind::device));
}

/// In the first call on a communicator, or in a later one; one allocation fails, or all from there.
void check_host_memory(suite& s, bool first_call, bool all) {
  for (const call_kind what : {call_kind::allreduce, call_kind::alltoall, call_kind::bcast})
    for (const int n : {100, 40000}) {
      bool struck = true;
      for (long nth = 1; struck && nth < 300; nth += all ? 3 : 1) {
        s.note("operation %d of %d, allocation %ld", static_cast<int>(what), n, nth);
        MPI_Comm comm = MPI_COMM_NULL;
        if (first_call)
          MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        else
          comm = used();
        check_call(s, group(comm), what, n, nth, all, struck);
        if (nth == 1 && !struck) s.fail("the call took no memory");
        MPI_Comm_free(&comm);
        s.still_alive();
      }
    }
}

void check_device_memory(suite& s) {
  for (const char* call : {"malloc", "pinned", "ipc_open", "register"})
    for (int nth = 1; nth <= 3; ++nth)
      for (const int n : {100, 40000}) {
        s.note("%s %d, of %d", call, nth, n);
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        {
          const group g(comm);
          formula_call one(g, call_kind::allreduce, n, 0, nth, kind::device, kind::device);
          if (g.rank == 0) set_faults((call + (":" + std::to_string(nth))).c_str());
          one.run();
          if (g.rank == 0) set_faults("");
          s.expect_none(one.wrong());
          s.expect_none(one_call(g, call_kind::scan, n, 0, nth, kind::device, kind::device));
        }
        MPI_Comm_free(&comm);
      }
}

/// Buffers of a step that are freed after it: nothing of them stays, neither here nor at peers,
/// although the communicator goes on with other memory, and with none.
void check_freed(suite& s) {
  const group g(MPI_COMM_WORLD);
  s.expect_none(one_call(g, call_kind::allreduce, 8, 0, 0, kind::device, kind::device));
  const long long before = held();
  for (int step = 0; step < 30; ++step)
    s.expect_none(one_call(g, call_kind::allreduce, 30000 + step * 5000, 0, step, kind::device,
                           kind::device));
  const auto began = std::chrono::steady_clock::now();
  int more = 1;
  while (more) {
    more = held() != before;
    MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    int over = std::chrono::steady_clock::now() - began > std::chrono::seconds(20);
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (more && over) return s.fail("%lld pieces of memory are held, %lld before", held(), before);
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  s.run("freed", [&] { check_freed(s); });
  if (held() >= 0) {  // only the emulated device's memory runs out at will
    for (const bool first_call : {false, true})
      for (const bool all : {false, true})
        if (find_telpher())
          s.run(std::string(all ? "all host memory" : "host memory") +
                    (first_call ? ", first call" : ""),
                [&] { check_host_memory(s, first_call, all); });
    s.run("device memory", [&] { check_device_memory(s); });
  }
  return s.finish();
}
