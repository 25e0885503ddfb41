// SPDX-License-Identifier: BSD-3-Clause
// The heat equation as a user of CUDA and MPI writes it: nothing here knows of Telpher. The field
// lives in device memory and its faces go to MPI as derived datatypes, which needs a GPU-aware MPI;
// with -s they are packed and staged through pinned memory by hand, which works with any.
//     stencil3d_cuda [-n cells a rank and direction] [-I steps] [-s]
#include <cuda_runtime.h>
#include <mpi.h>
#include <unistd.h>

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

constexpr double rate = 0.125;

__host__ __device__ double at_begin(int x, int y, int z) {
  return (x * 7 + y * 13 + z * 29) % 64;
}

/// A cube of n^3 cells with a halo of one.
struct cube {
  int n;
  __host__ __device__ int row() const { return n + 2; }
  __host__ __device__ long at(int x, int y, int z) const {
    return (long{z + 1} * row() + y + 1) * row() + x + 1;
  }
  std::size_t cells() const { return static_cast<std::size_t>(row()) * row() * row(); }
};

__host__ __device__ void step_cell(const double* from, double* to, cube c, long at) {
  const long up = c.row(), far = up * up;
  const double sum = from[at - 1] + from[at + 1] + from[at - up] + from[at + up] + from[at - far] +
                     from[at + far];
  to[at] = from[at] + rate * (sum - 6.0 * from[at]);
}

__global__ void begin(double* field, cube c, int x0, int y0, int z0) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= c.n * c.n * c.n) return;
  const int x = i % c.n, y = i / c.n % c.n, z = i / c.n / c.n;
  field[c.at(x, y, z)] = at_begin(x + x0, y + y0, z + z0);
}

__global__ void step(const double* from, double* to, cube c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < c.n * c.n * c.n) step_cell(from, to, c, c.at(i % c.n, i / c.n % c.n, i / c.n / c.n));
}

/// Cell i of the plane `level` across `dimension`.
__device__ long plane_cell(cube c, int dimension, int level, int i) {
  const int a = i % c.n, b = i / c.n;
  return dimension == 0 ? c.at(level, a, b) : dimension == 1 ? c.at(a, level, b) : c.at(a, b, level);
}
__global__ void pack(double* packed, const double* field, cube c, int dimension, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < c.n * c.n) packed[i] = field[plane_cell(c, dimension, level, i)];
}
__global__ void unpack(const double* packed, double* field, cube c, int dimension, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < c.n * c.n) field[plane_cell(c, dimension, level, i)] = packed[i];
}

int blocks_of(int items) {
  return (items + 255) / 256;
}

/// The halo of a field: side 2 d lies at level -1 of dimension d, side 2 d + 1 at level n.
struct halo {
  halo(MPI_Comm grid, cube c, bool by_hand) : comm(grid), shape(c), staged(by_hand) {
    const int whole[3] = {c.row(), c.row(), c.row()};
    for (int side = 0; side < 6; ++side) {
      const int d = side / 2;  // x, y, z; the array's first dimension is z
      int size[3] = {c.n, c.n, c.n}, first[3] = {1, 1, 1};
      size[2 - d] = 1;
      for (const bool outside : {false, true}) {
        first[2 - d] = 1 + (outside ? outside_level(side) : inside_level(side));
        MPI_Datatype* type = outside ? &receive_type[side] : &send_type[side];
        MPI_Type_create_subarray(3, whole, size, first, MPI_ORDER_C, MPI_DOUBLE, type);
        MPI_Type_commit(type);
      }
    }
    for (int d = 0; d < 3; ++d)
      MPI_Cart_shift(comm, 2 - d, 1, &neighbour[2 * d], &neighbour[2 * d + 1]);
    if (!staged) return;
    const std::size_t bytes = 6 * plane() * sizeof(double);
    CUDA_CHECK(cudaMalloc(&packed, bytes));
    CUDA_CHECK(cudaMallocHost(&host_send, bytes));
    CUDA_CHECK(cudaMallocHost(&host_receive, bytes));
  }

  int inside_level(int side) const { return side % 2 ? shape.n - 1 : 0; }
  int outside_level(int side) const { return side % 2 ? shape.n : -1; }
  std::size_t plane() const { return static_cast<std::size_t>(shape.n) * shape.n; }

  void exchange(double* field) {
    if (staged) {
      exchange_by_hand(field);
      return;
    }
    CUDA_CHECK(cudaDeviceSynchronize());  // MPI does not know what kernels still write
    MPI_Request requests[12];
    for (int side = 0; side < 6; ++side)
      MPI_Irecv(field, 1, receive_type[side], neighbour[side], side ^ 1, comm, &requests[side]);
    for (int side = 0; side < 6; ++side)
      MPI_Isend(field, 1, send_type[side], neighbour[side], side, comm, &requests[6 + side]);
    MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
  }

  void exchange_by_hand(double* field) {
    const int cells = shape.n * shape.n;
    for (int side = 0; side < 6; ++side)
      pack<<<blocks_of(cells), 256>>>(packed + side * plane(), field, shape, side / 2,
                                      inside_level(side));
    CUDA_CHECK(cudaMemcpy(host_send, packed, 6 * plane() * sizeof(double), cudaMemcpyDeviceToHost));
    MPI_Request requests[12];
    for (int side = 0; side < 6; ++side) {
      MPI_Irecv(host_receive + side * plane(), cells, MPI_DOUBLE, neighbour[side], side ^ 1, comm,
                &requests[side]);
      MPI_Isend(host_send + side * plane(), cells, MPI_DOUBLE, neighbour[side], side, comm,
                &requests[6 + side]);
    }
    MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
    CUDA_CHECK(cudaMemcpy(packed, host_receive, 6 * plane() * sizeof(double), cudaMemcpyHostToDevice));
    for (int side = 0; side < 6; ++side)
      if (neighbour[side] != MPI_PROC_NULL)
        unpack<<<blocks_of(cells), 256>>>(packed + side * plane(), field, shape, side / 2,
                                          outside_level(side));
  }

  MPI_Comm comm;
  cube shape;
  bool staged;
  int neighbour[6];
  MPI_Datatype send_type[6], receive_type[6];
  double *packed = nullptr, *host_send = nullptr, *host_receive = nullptr;
};

/// Cells that differ from a run of the whole domain on one CPU (a cube, if the rank grid is one).
int count_differences(const double* mine, cube c, const int* dims, const int* place, int steps) {
  const int nx = c.n * dims[2], ny = c.n * dims[1], nz = c.n * dims[0];
  const int edge = nx > ny ? (nx > nz ? nx : nz) : (ny > nz ? ny : nz);
  const cube whole{edge};
  std::vector<double> from(whole.cells(), 0.0), to = from;
  const auto each = [&](auto f) {
    for (int z = 0; z < nz; ++z)
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) f(x, y, z);
  };
  each([&](int x, int y, int z) { from[whole.at(x, y, z)] = at_begin(x, y, z); });
  for (int i = 0; i < steps; ++i) {
    each([&](int x, int y, int z) { step_cell(from.data(), to.data(), whole, whole.at(x, y, z)); });
    from.swap(to);
  }
  int different = 0;
  for (int z = 0; z < c.n; ++z)
    for (int y = 0; y < c.n; ++y)
      for (int x = 0; x < c.n; ++x)
        different += mine[c.at(x, y, z)] != from[whole.at(x + place[2] * c.n, y + place[1] * c.n,
                                                          z + place[0] * c.n)];
  return different;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int n = 48, steps = 50, staged = 0;
  for (int o; (o = getopt(argc, argv, "n:I:s")) != -1;)
    (o == 'n' ? n : o == 'I' ? steps : staged) = o == 's' ? 1 : std::atoi(optarg);

  int rank = 0, size = 0, local = 0, devices = 0;
  MPI_Comm node, grid;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &local);
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  CUDA_CHECK(cudaSetDevice(local % devices));
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int dims[3] = {0, 0, 0}, open[3] = {0, 0, 0}, place[3];
  MPI_Dims_create(size, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, open, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 3, place);

  const cube c{n};
  const int cells = n * n * n;
  double *field = nullptr, *next = nullptr;
  for (double** f : {&field, &next}) {
    CUDA_CHECK(cudaMalloc(f, c.cells() * sizeof(double)));
    CUDA_CHECK(cudaMemset(*f, 0, c.cells() * sizeof(double)));
  }
  begin<<<blocks_of(cells), 256>>>(field, c, place[2] * n, place[1] * n, place[0] * n);
  halo h(grid, c, staged != 0);
  CUDA_CHECK(cudaDeviceSynchronize());
  MPI_Barrier(grid);
  double seconds = -MPI_Wtime();
  for (int i = 0; i < steps; ++i) {
    h.exchange(field);
    step<<<blocks_of(cells), 256>>>(field, next, c);
    std::swap(field, next);
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  seconds += MPI_Wtime();

  std::vector<double> host(c.cells());
  CUDA_CHECK(cudaMemcpy(host.data(), field, c.cells() * sizeof(double), cudaMemcpyDeviceToHost));
  int wrong = count_differences(host.data(), c, dims, place, steps);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, grid);
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, grid);
  if (rank == 0)
    std::printf("heat, %d ranks of %d^3 cells, %d steps, %s: %.6f s, %s\n", size, n, steps,
                staged ? "staged by hand" : "device memory to MPI", seconds, wrong ? "WRONG" : "right");
  MPI_Finalize();
  return wrong != 0;
}
