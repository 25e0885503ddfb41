// SPDX-License-Identifier: BSD-3-Clause
// Runs random programs (program.hpp): `--messages N` steps in batches. Batch b of seed s is batch 0
// of seed s + b, so a failure is shown again by the seed that it prints and `--messages 1`. Words
// name the sorts of steps to draw from; none: all. With TEST_SESSION=1 a third of the communicators
// is a session's, made before MPI_Init and so outside the job.
#include <cstdlib>

#include "../forms.hpp"
#include "batches.hpp"

namespace surface {

namespace {

/// A communicator of all processes but the last, which a session makes before MPI_Init.
class before_all {
 public:
  before_all() {
#if MPI_TEST_HAS_MPI_4
    asked = std::getenv("TEST_SESSION") != nullptr;
    if (!asked) return;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session_);
    MPI_Group all, most;
    int size = 0, rank = MPI_UNDEFINED;
    MPI_Group_from_session_pset(session_, "mpi://WORLD", &all);
    MPI_Group_size(all, &size);
    const int last = size - 1;
    MPI_Group_excl(all, 1, &last, &most);
    MPI_Group_rank(most, &rank);
    if (rank != MPI_UNDEFINED)
      MPI_Comm_create_from_group(most, "most", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&most);
    MPI_Group_free(&all);
#endif
  }
  void end() {
#if MPI_TEST_HAS_MPI_4
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    if (asked) MPI_Session_finalize(&session_);
#endif
  }

  bool asked = false;
  MPI_Comm comm = MPI_COMM_NULL;

 private:
#if MPI_TEST_HAS_MPI_4
  MPI_Session session_ = MPI_SESSION_NULL;
#endif
};

/// All ranks, in their order and backwards, all but the last, every second, each alone.
std::vector<MPI_Comm> make_communicators(const suite& s, const before_all& early) {
  std::vector<MPI_Comm> list(5, MPI_COMM_NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &list[0]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -s.rank, &list[1]);
  if (early.comm != MPI_COMM_NULL) MPI_Comm_dup(early.comm, &list[2]);
  if (!early.asked)
    MPI_Comm_split(MPI_COMM_WORLD, s.ranks > 2 && s.rank == s.ranks - 1 ? MPI_UNDEFINED : 0, s.rank,
                   &list[2]);
  MPI_Comm_split(MPI_COMM_WORLD, s.rank % 2, s.rank, &list[3]);
  MPI_Comm_dup(MPI_COMM_SELF, &list[4]);
  return list;
}

/// A ring, a grid, and a graph in which some pairs of ranks have several edges.
std::vector<MPI_Comm> make_topologies(const suite& s) {
  std::vector<MPI_Comm> list(3, MPI_COMM_NULL);
  int ring[1] = {s.ranks}, around[1] = {1}, grid[2] = {0, 0}, ends[2] = {0, 1};
  MPI_Cart_create(MPI_COMM_WORLD, 1, ring, around, 0, &list[0]);
  MPI_Dims_create(s.ranks, 2, grid);
  MPI_Cart_create(MPI_COMM_WORLD, 2, grid, ends, 0, &list[1]);
  std::vector<int> sources, targets;
  for (int r = 0; r < s.ranks; ++r) {
    for (int n = (s.rank * 3 + r * 5) % 4 % 3; n > 0; --n) targets.push_back(r);
    for (int n = (r * 3 + s.rank * 5) % 4 % 3; n > 0; --n) sources.push_back(r);
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, as_int(sources.size()), sources.data(),
                                 MPI_UNWEIGHTED, as_int(targets.size()), targets.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &list[2]);
  return list;
}

void run(suite& s, long steps, const std::vector<std::string>& words, const before_all& early) {
  world w{s, make_communicators(s, early), make_topologies(s), 0, early.asked};
  const attached_buffer buffered_sends(std::size_t{64} << 20);
  batches all(w, words);
  long done = 0;
  int failing = 0;  // at some rank: what comes later would only be confused by it
  for (std::uint64_t b = 0; done < steps && failing == 0; ++b) {
    all.run(s.opt.seed + b);
    failing = s.failing() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &failing, 1, MPI_INT, MPI_MAX, s.control);
    done = 0;
    for (const auto& [name, count] : all.done()) done += count;
  }
  long operations = all.operations();
  MPI_Allreduce(MPI_IN_PLACE, &operations, 1, MPI_LONG, MPI_SUM, s.control);
  if (s.rank == 0) {
    std::printf("# %ld operations of all ranks in %ld steps:", operations, done);
    for (const auto& [name, count] : all.done()) std::printf(" %ld %s", count, name.c_str());
    std::printf("\n");
  }
  for (std::vector<MPI_Comm>* list : {&w.comms, &w.topologies})
    for (MPI_Comm& c : *list)
      if (c != MPI_COMM_NULL) MPI_Comm_free(&c);
}

}  // namespace
}  // namespace surface

int main(int argc, char** argv) {
  // MPICH 5.0.2 fails to read the pieces of some derived types from the sender's memory by CMA.
  ::setenv("MPIR_CVAR_CH4_CMA_ENABLE", "0", 0);
  // Open MPI 5.0.11 loses data in MPI_BXOR accumulates that it makes of atomic operations.
  ::setenv("OMPI_MCA_osc_rdma_acc_use_amo", "0", 0);
  // Open MPI 5.0.11 moves other bytes where it cuts a derived type (layouts.cpp).
  for (const char* transport : {"self", "sm"})
    for (const char* limit : {"eager_limit", "rndv_eager_limit", "max_send_size"})
      ::setenv(("OMPI_MCA_btl_" + std::string(transport) + "_" + limit).c_str(), "2097152", 0);
  surface::before_all early;
  surface::suite s(&argc, &argv, 1);
  // The suite would take them for names of cases.
  const std::vector<std::string> words = std::move(s.opt.words);
  s.opt.words.clear();
  const long steps = s.opt.messages > 0 ? s.opt.messages : 3000;
  s.run("random programs", [&] { surface::run(s, steps, words, early); });
  early.end();
  return s.finish();
}
