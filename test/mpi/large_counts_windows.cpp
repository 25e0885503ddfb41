// SPDX-License-Identifier: BSD-3-Clause
// Every large-count form of one-sided communication, in windows of device memory that were made in
// each of the large-count ways.
#include "large_counts.hpp"
#include "shared_window.hpp"

#if MPI_VERSION >= 4
namespace mpi_test::large_counts {
namespace {

constexpr int n = 120;
constexpr MPI_Aint bytes = n * sizeof(int);
const MPI_Comm comm = MPI_COMM_WORLD;

/// One call that brings ints to the right neighbour's window, or from there.
struct access {
  const char* name;
  /// `data`: what is brought; `result`: what is fetched.
  void (*call)(const int* data, int* result, int target, MPI_Win w);
  bool puts, adds, gets;
};

/// The request of a call that has one.
template <class Call>
void wait_for(Call call) {
  MPI_Request r = MPI_REQUEST_NULL;
  call(&r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

constexpr access accesses[] = {
    {"Put_c",
     [](const int* d, int*, int t, MPI_Win w) { MPI_Put_c(d, n, MPI_INT, t, 0, n, MPI_INT, w); },
     true, false, false},
    {"Get_c",
     [](const int*, int* r, int t, MPI_Win w) { MPI_Get_c(r, n, MPI_INT, t, 0, n, MPI_INT, w); },
     false, false, true},
    {"Accumulate_c",
     [](const int* d, int*, int t, MPI_Win w) {
       MPI_Accumulate_c(d, n, MPI_INT, t, 0, n, MPI_INT, MPI_SUM, w);
     },
     false, true, false},
    {"Get_accumulate_c",
     [](const int* d, int* r, int t, MPI_Win w) {
       MPI_Get_accumulate_c(d, n, MPI_INT, r, n, MPI_INT, t, 0, n, MPI_INT, MPI_SUM, w);
     },
     false, true, true},
    {"Rput_c",
     [](const int* d, int*, int t, MPI_Win w) {
       wait_for([&](MPI_Request* q) { MPI_Rput_c(d, n, MPI_INT, t, 0, n, MPI_INT, w, q); });
     },
     true, false, false},
    {"Rget_c",
     [](const int*, int* r, int t, MPI_Win w) {
       wait_for([&](MPI_Request* q) { MPI_Rget_c(r, n, MPI_INT, t, 0, n, MPI_INT, w, q); });
     },
     false, false, true},
    {"Raccumulate_c",
     [](const int* d, int*, int t, MPI_Win w) {
       wait_for([&](MPI_Request* q) {
         MPI_Raccumulate_c(d, n, MPI_INT, t, 0, n, MPI_INT, MPI_SUM, w, q);
       });
     },
     false, true, false},
    {"Rget_accumulate_c",
     [](const int* d, int* r, int t, MPI_Win w) {
       wait_for([&](MPI_Request* q) {
         MPI_Rget_accumulate_c(d, n, MPI_INT, r, n, MPI_INT, t, 0, n, MPI_INT, MPI_SUM, w, q);
       });
     },
     false, true, true},
};

/// All accesses on a window of `n` ints at `memory`, each from what the window held before.
void access_window(suite& s, MPI_Win w, int* memory) {
  const int to = right(s), from = (s.rank + s.ranks - 1) % s.ranks;
  const auto data_of = [](int rank) { return row(100 * rank, n); };
  const auto held_by = [](int rank) { return row(7 * rank, n, 3); };
  for (const access& a : accesses) {
    s.note("%s", a.name);
    const array data(kind::device, data_of(s.rank)), result(kind::device, ints(n, -1));
    copy(kind::device, memory, held_by(s.rank).data(), bytes);
    publish(s.rank, w);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w);
    a.call(data.data(), result.data(), to, w);
    MPI_Win_unlock(to, w);
    publish(s.rank, w);
    ints wanted = a.puts ? data_of(from) : held_by(s.rank), now(n);
    const ints added = data_of(from);
    for (std::size_t i = 0; a.adds && i < n; ++i) wanted[i] += added[i];
    copy(kind::device, now.data(), memory, bytes);
    expect_ints(s, now, wanted, "the window");
    expect_ints(s, result.read(), a.gets ? held_by(to) : ints(n, -1), "what was fetched");
  }
}

void created(suite& s) {
  int* const memory = static_cast<int*>(try_allocate(kind::device, bytes));
  MPI_Win w = MPI_WIN_NULL;
  MPI_Win_create_c(memory, bytes, sizeof(int), MPI_INFO_NULL, comm, &w);
  access_window(s, w, memory);
  MPI_Win_free(&w);
  release(kind::device, memory);
}

void allocated(suite& s) {
  const shared_info info(false);
  int* memory = nullptr;
  MPI_Win w = MPI_WIN_NULL;
  MPI_Win_allocate_c(bytes, sizeof(int), info.handle, comm, &memory, &w);
  access_window(s, w, memory);
  MPI_Win_free(&w);
}

/// The right neighbour's part by its address there, too.
void allocated_shared(suite& s) {
  const shared_info info(false);
  int *memory = nullptr, *part = nullptr;
  MPI_Win w = MPI_WIN_NULL;
  MPI_Win_allocate_shared_c(bytes, sizeof(int), info.handle, comm, &memory, &w);
  access_window(s, w, memory);
  MPI_Aint size = -1, unit = -1;
  MPI_Win_shared_query_c(w, right(s), &size, &unit, &part);
  s.expect_equal(size, bytes, "bytes of a part");
  s.expect_equal(unit, sizeof(int), "its unit");
  copy(kind::device, memory, row(1000 * s.rank, n).data(), bytes);
  publish(s.rank, w);
  ints there(n);
  copy(kind::device, there.data(), part, bytes);
  expect_ints(s, there, row(1000 * right(s), n), "a part");
  MPI_Win_free(&w);
}

}  // namespace

void windows(suite& s) {
  if (kinds().back() != kind::device) return;
  s.run("Win_create_c", [&] { created(s); });
  s.run("Win_allocate_c", [&] { allocated(s); });
  if (!between_nodes()) s.run("Win_allocate_shared_c", [&] { allocated_shared(s); });
}

}  // namespace mpi_test::large_counts
#endif
