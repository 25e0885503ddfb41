// SPDX-License-Identifier: BSD-3-Clause
// The blur with halo exchange as a user of CUDA and MPI writes it, in its last but one version: flat
// arrays and buffers in device memory, made once. Nothing here knows of Telpher; -s stages the
// buffers through pinned memory by hand, for an MPI that is not GPU-aware.
//     ghost_exchange_cuda [-x ranks] [-y ranks] [-i cells] [-j cells] [-h halo] [-c] [-I steps] [-s]
#include <cuda_runtime.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                      \
  do {                                                                        \
    if (const cudaError_t error = (call); error != cudaSuccess) {             \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));     \
      MPI_Abort(MPI_COMM_WORLD, 1);                                           \
    }                                                                         \
  } while (0)

namespace {

struct grid {
  int ni, nj, halo;
  __host__ __device__ int row() const { return ni + 2 * halo; }
  __host__ __device__ long at(int j, int i) const { return long{j + halo} * row() + i + halo; }
  std::size_t cells() const { return static_cast<std::size_t>(row()) * (nj + 2 * halo); }
};

/// A rectangle of cells, one thread a cell.
struct box {
  int j, i, nj, ni;
  __host__ __device__ int cells() const { return nj * ni; }
  __device__ int row_of(int t) const { return j + t / ni; }
  __device__ int column_of(int t) const { return i + t % ni; }
};

__host__ __device__ double at_begin(int j, int i) {
  return 5.0 + (i * 7 + j * 13 + i * j % 11) % 32;
}
__host__ __device__ double blurred(const double* x, grid g, int j, int i) {
  return (x[g.at(j, i)] + x[g.at(j, i - 1)] + x[g.at(j, i + 1)] + x[g.at(j - 1, i)] +
          x[g.at(j + 1, i)]) / 5.0;
}
__device__ int thread_number() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void begin(double* x, grid g, box b, int j0, int i0) {
  const int t = thread_number();
  if (t < b.cells()) x[g.at(b.row_of(t), b.column_of(t))] = at_begin(b.row_of(t) + j0, b.column_of(t) + i0);
}
__global__ void blur(const double* x, double* next, grid g, box b) {
  const int t = thread_number();
  if (t < b.cells()) next[g.at(b.row_of(t), b.column_of(t))] = blurred(x, g, b.row_of(t), b.column_of(t));
}
/// A halo cell takes the value of the nearest inner cell of its row, or of its column.
__global__ void outflow(double* x, grid g, box b, bool in_row) {
  const int t = thread_number();
  if (t >= b.cells()) return;
  const int j = b.row_of(t), i = b.column_of(t);
  x[g.at(j, i)] = in_row ? x[g.at(j, i < 0 ? 0 : g.ni - 1)] : x[g.at(j < 0 ? 0 : g.nj - 1, i)];
}
__global__ void pack(double* packed, const double* x, grid g, box b) {
  const int t = thread_number();
  if (t < b.cells()) packed[t] = x[g.at(b.row_of(t), b.column_of(t))];
}
__global__ void unpack(const double* packed, double* x, grid g, box b) {
  const int t = thread_number();
  if (t < b.cells()) x[g.at(b.row_of(t), b.column_of(t))] = packed[t];
}

int blocks_of(const box& b) {
  return (b.cells() + 255) / 256;
}

struct program {
  grid g{1024, 1024, 1};
  int px = 0, py = 0, steps = 100, rank = 0, size = 0;
  bool corners = false, staged = false;
  double *x = nullptr, *next = nullptr, *send = nullptr, *receive = nullptr;
  double *host_send = nullptr, *host_receive = nullptr;

  int column() const { return rank % px; }
  int line() const { return rank / px; }

  void boundary() {
    const int h = g.halo;
    const auto edge = [&](bool there, box b, bool in_row) {
      if (there) outflow<<<blocks_of(b), 256>>>(x, g, b, in_row);
    };
    edge(column() == 0, {0, -h, g.nj, h}, true);
    edge(column() == px - 1, {0, g.ni, g.nj, h}, true);
    edge(line() == 0, {-h, -h, h, g.row()}, false);
    edge(line() == py - 1, {g.nj, -h, h, g.row()}, false);
  }

  void ghost_update() {
    const int h = g.halo;
    const int j0 = corners && line() == 0 ? -h : 0;
    const int j1 = g.nj + (corners && line() == py - 1 ? h : 0);
    const auto columns = [&](int i) { return box{j0, i, j1 - j0, h}; };
    exchange(column() > 0 ? rank - 1 : MPI_PROC_NULL, column() < px - 1 ? rank + 1 : MPI_PROC_NULL,
             columns(0), columns(g.ni - h), columns(-h), columns(g.ni));
    const int i0 = corners ? -h : 0;
    const auto rows = [&](int j) { return box{j, i0, h, g.ni - 2 * i0}; };
    exchange(line() > 0 ? rank - px : MPI_PROC_NULL, line() < py - 1 ? rank + px : MPI_PROC_NULL,
             rows(0), rows(g.nj - h), rows(-h), rows(g.nj));
  }

  void exchange(int low, int high, box low_send, box high_send, box low_halo, box high_halo) {
    const int part = low_send.cells();
    const std::size_t bytes = 2 * static_cast<std::size_t>(part) * sizeof(double);
    pack<<<blocks_of(low_send), 256>>>(send, x, g, low_send);
    pack<<<blocks_of(high_send), 256>>>(send + part, x, g, high_send);
    if (staged) CUDA_CHECK(cudaMemcpy(host_send, send, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaDeviceSynchronize());
    double* from = staged ? host_send : send;
    double* to = staged ? host_receive : receive;
    MPI_Request r[4];
    MPI_Irecv(to, part, MPI_DOUBLE, low, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(to + part, part, MPI_DOUBLE, high, 0, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(from, part, MPI_DOUBLE, low, 0, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(from + part, part, MPI_DOUBLE, high, 0, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    if (staged) CUDA_CHECK(cudaMemcpy(receive, host_receive, bytes, cudaMemcpyHostToDevice));
    if (low != MPI_PROC_NULL) unpack<<<blocks_of(low_halo), 256>>>(receive, x, g, low_halo);
    if (high != MPI_PROC_NULL) unpack<<<blocks_of(high_halo), 256>>>(receive + part, x, g, high_halo);
  }

  int count_differences() const {
    const grid whole{g.ni * px, g.nj * py, 1};
    std::vector<double> a(whole.cells()), b(whole.cells()), mine(g.cells());
    CUDA_CHECK(cudaMemcpy(mine.data(), x, g.cells() * sizeof(double), cudaMemcpyDeviceToHost));
    const auto each = [&](auto f) {
      for (int j = 0; j < whole.nj; ++j)
        for (int i = 0; i < whole.ni; ++i) f(j, i);
    };
    each([&](int j, int i) { a[whole.at(j, i)] = at_begin(j, i); });
    for (int step = 0; step < steps; ++step) {
      for (int j = -1; j <= whole.nj; ++j)
        for (int i = -1; i <= whole.ni; ++i)
          a[whole.at(j, i)] = a[whole.at(std::clamp(j, 0, whole.nj - 1), std::clamp(i, 0, whole.ni - 1))];
      each([&](int j, int i) { b[whole.at(j, i)] = blurred(a.data(), whole, j, i); });
      a.swap(b);
    }
    int different = 0;
    for (int j = 0; j < g.nj; ++j)
      for (int i = 0; i < g.ni; ++i)
        different += mine[g.at(j, i)] != a[whole.at(j + line() * g.nj, i + column() * g.ni)];
    return different;
  }
};

template <class Section>
void timed(double& clock, Section section) {
  clock -= MPI_Wtime();
  section();
  CUDA_CHECK(cudaDeviceSynchronize());
  clock += MPI_Wtime();
}

void read_options(program& p, int argc, char** argv) {
  for (int o; (o = getopt(argc, argv, "x:y:i:j:h:cI:s")) != -1;) {
    if (o == '?') MPI_Abort(MPI_COMM_WORLD, 2);
    const int value = optarg ? std::atoi(optarg) : 0;
    if (o == 'x') p.px = value;
    if (o == 'y') p.py = value;
    if (o == 'i') p.g.ni = value;
    if (o == 'j') p.g.nj = value;
    if (o == 'h') p.g.halo = value;
    if (o == 'I') p.steps = value;
    p.corners |= o == 'c';
    p.staged |= o == 's';
  }
  int dims[2] = {p.py, p.px};
  MPI_Dims_create(p.size, 2, dims);
  p.py = dims[0];
  p.px = dims[1];
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  program p;
  int local = 0, devices = 0;
  MPI_Comm node;
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &local);
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  CUDA_CHECK(cudaSetDevice(local % devices));
  read_options(p, argc, argv);

  const grid& g = p.g;
  const std::size_t longest = static_cast<std::size_t>(std::max(g.row(), g.nj + 2 * g.halo));
  const std::size_t buffer = 2 * longest * g.halo * sizeof(double);
  for (double** field : {&p.x, &p.next}) {
    CUDA_CHECK(cudaMalloc(field, g.cells() * sizeof(double)));
    CUDA_CHECK(cudaMemset(*field, 0, g.cells() * sizeof(double)));
  }
  for (double** memory : {&p.send, &p.receive}) CUDA_CHECK(cudaMalloc(memory, buffer));
  for (double** memory : {&p.host_send, &p.host_receive}) CUDA_CHECK(cudaMallocHost(memory, buffer));
  const box inner{0, 0, g.nj, g.ni};
  begin<<<blocks_of(inner), 256>>>(p.x, g, inner, p.line() * g.nj, p.column() * g.ni);
  CUDA_CHECK(cudaDeviceSynchronize());

  double clocks[4] = {0, 0, 0, 0};  // advancement, boundary, ghost update, total
  MPI_Barrier(MPI_COMM_WORLD);
  timed(clocks[3], [&] {
    for (int step = 0; step < p.steps; ++step) {
      timed(clocks[1], [&] { p.boundary(); });
      timed(clocks[2], [&] { p.ghost_update(); });
      timed(clocks[0], [&] { blur<<<blocks_of(inner), 256>>>(p.x, p.next, g, inner); });
      std::swap(p.x, p.next);
    }
  });
  int wrong = p.count_differences();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, clocks, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (p.rank == 0)
    std::printf("blur, %d x %d ranks of %d x %d cells, halo %d, %d steps, %s: %s\nadvancement %.6f\n"
                "boundary %.6f\nghost update %.6f\ntotal %.6f\n",
                p.px, p.py, g.ni, g.nj, g.halo, p.steps,
                p.staged ? "staged by hand" : "device memory to MPI", wrong ? "WRONG" : "right",
                clocks[0], clocks[1], clocks[2], clocks[3]);
  MPI_Finalize();
  return wrong != 0;
}
