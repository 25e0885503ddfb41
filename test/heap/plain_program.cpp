// SPDX-License-Identifier: BSD-3-Clause
// A program as people write them for CPUs: arrays of the C++ library and of malloc, looked at with
// loops, in all kinds of MPI calls. Run under device_heap.cpp, its arrays are device memory.
//   plain_program host|device   where they have to be
#include <dlfcn.h>
#include <malloc.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "telpher/telpher.h"

namespace {

constexpr int n = 20000;
int rank, ranks, wrong = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "FAILED rank %d: %s\n", rank, what);
  ++wrong;
}

double value(int owner, int i) {
  return owner * 1e6 + i;
}

void memory(const std::vector<double>& array, const char* wanted) {
  const auto classify =
      reinterpret_cast<decltype(&telpher_classify)>(dlsym(RTLD_DEFAULT, "telpher_classify"));
  telpher_memory kind = TELPHER_MEMORY_HOST;
  int device = -1;
  expect(classify && classify(array.data(), &kind, &device) == 0, "an array is classified");
  const bool on_device = kind == TELPHER_MEMORY_DEVICE;
  expect(on_device == (std::strcmp(wanted, "device") == 0), "the arrays are in the memory named");
}

void messages() {
  std::vector<double> out(n), in(n, -1);
  for (int i = 0; i < n; ++i) out[i] = value(rank, i);
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  MPI_Request both[2];
  MPI_Irecv(in.data(), n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &both[0]);
  MPI_Isend(out.data(), n, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  bool same = true;
  for (int i = 0; i < n; ++i) same &= in[i] == value(left, i);
  expect(same, "a message round the ring");
}

/// The columns of a square, one for each rank, become rows.
void transpose() {
  constexpr int side = 60;
  auto* const square = static_cast<double*>(std::malloc(side * side * ranks * sizeof(double)));
  auto* const turned = static_cast<double*>(std::calloc(side * side * ranks, sizeof(double)));
  const int width = side * ranks;  // of my `side` rows
  for (int i = 0; i < side * width; ++i) square[i] = value(rank, i);
  std::vector<int> ones(ranks, 1), places(ranks), places_in(ranks);
  std::vector<MPI_Datatype> block(ranks), row(ranks);
  MPI_Datatype one;
  MPI_Type_vector(side, side, width, MPI_DOUBLE, &one);
  MPI_Type_commit(&one);
  for (int r = 0; r < ranks; ++r) {
    places[r] = places_in[r] = static_cast<int>(r * side * sizeof(double));
    block[r] = row[r] = one;
  }
  MPI_Alltoallw(square, ones.data(), places.data(), block.data(), turned, ones.data(),
                places_in.data(), row.data(), MPI_COMM_WORLD);
  bool same = true;
  for (int r = 0; r < ranks; ++r)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        same &= turned[y * width + r * side + x] == value(r, y * width + rank * side + x);
  expect(same, "blocks with gaps by MPI_Alltoallw");
  MPI_Type_free(&one);
  std::free(square);
  std::free(turned);
}

void sums() {
  std::vector<double> mine(n), all(n), gathered(static_cast<std::size_t>(n) * ranks);
  for (int i = 0; i < n; ++i) mine[i] = value(rank, i);
  MPI_Allreduce(mine.data(), all.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allgather(mine.data(), n, MPI_DOUBLE, gathered.data(), n, MPI_DOUBLE, MPI_COMM_WORLD);
  bool same = true;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int r = 0; r < ranks; ++r) {
      sum += value(r, i);
      same &= gathered[static_cast<std::size_t>(r) * n + i] == value(r, i);
    }
    same &= all[i] == sum;
  }
  expect(same, "sums and parts of all ranks");
}

void window() {
  std::vector<double> memory(n, 0), add(n);
  for (int i = 0; i < n; ++i) add[i] = value(rank, i);
  MPI_Win w;
  MPI_Win_create(memory.data(), n * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                 &w);
  MPI_Win_fence(0, w);
  for (int r = 0; r < ranks; ++r)
    MPI_Accumulate(add.data(), n, MPI_DOUBLE, r, 0, n, MPI_DOUBLE, MPI_SUM, w);
  MPI_Win_fence(0, w);
  bool same = true;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int r = 0; r < ranks; ++r) sum += value(r, i);
    same &= memory[i] == sum;
  }
  expect(same, "sums in windows");
  MPI_Win_free(&w);
}

void file() {
  char name[64];
  std::snprintf(name, sizeof name, "/tmp/telpher-plain-program-%d", getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<double> out(n), in(n, -1);
  for (int i = 0; i < n; ++i) out[i] = value(rank, i);
  MPI_File f;
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  if (MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &f) != MPI_SUCCESS)
    return expect(false, "a file is opened");
  const int other = (rank + 1) % ranks;
  const MPI_Offset bytes = n * sizeof(double);
  MPI_File_write_at_all(f, rank * bytes, out.data(), n, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_sync(f);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(f);
  MPI_File_read_at_all(f, other * bytes, in.data(), n, MPI_DOUBLE, MPI_STATUS_IGNORE);
  bool same = true;
  for (int i = 0; i < n; ++i) same &= in[i] == value(other, i);
  expect(same, "a file");
  MPI_File_close(&f);
}

/// The heap itself: what is moved keeps its bytes, and what is small is the C library's.
void heap() {
  std::vector<double> growing;
  for (int i = 0; i < n; ++i) growing.push_back(value(rank, i));
  char* text = static_cast<char*>(std::malloc(10));
  std::strcpy(text, "telpher");
  text = static_cast<char*>(std::realloc(text, 9000));
  text = static_cast<char*>(reallocarray(text, 10, 2000));
  void* page = nullptr;
  expect(posix_memalign(&page, 4096, 8192) == 0 && reinterpret_cast<std::size_t>(page) % 4096 == 0,
         "memory at the beginning of a page");
  std::free(page);
  expect(malloc_usable_size(text) >= 20000, "its size");
  expect(std::strcmp(text, "telpher") == 0 && growing[n - 1] == value(rank, n - 1),
         "memory that grows");
  std::free(text);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  memory(std::vector<double>(n), argc > 1 ? argv[1] : "host");
  heap();
  messages();
  transpose();
  sums();
  window();
  file();
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d wrong\n", all);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
