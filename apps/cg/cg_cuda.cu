// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients as a user of CUDA and MPI writes them: the 27-point operator without a stored
// matrix on slabs of n^3 cells, preconditioned by symmetric Gauss-Seidel in eight colours. Halo
// planes and sums go to MPI in device memory; -s stages them through pinned memory by hand.
// Nothing here knows of Telpher.
//     cg_cuda [-n cells a rank and direction] [-I iterations] [-s]
#include <cuda_runtime.h>
#include <mpi.h>
#include <unistd.h>

#include <cmath>
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

/// A slab of n^3 cells and a plane below and above it; z counts from -1 to n. Ranks are stacked in z.
struct slab {
  int n, bottom, top;  // the last two: whether the domain ends there
  __host__ __device__ int plane() const { return n * n; }
  __host__ __device__ int cells() const { return n * n * n; }
  __host__ __device__ int at(int x, int y, int z) const { return ((z + 1) * n + y) * n + x; }
  std::size_t length() const { return static_cast<std::size_t>(plane()) * (n + 2); }
};

/// The sum over a cell's neighbours, and how many there are.
__device__ double neighbours(const double* v, slab s, int x, int y, int z, int* count) {
  double sum = 0;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const int a = x + dx, b = y + dy, c = z + dz;
        const bool outside = a < 0 || a >= s.n || b < 0 || b >= s.n || (c < 0 && s.bottom) ||
                             (c >= s.n && s.top);
        if (outside || (dx == 0 && dy == 0 && dz == 0)) continue;
        sum += v[s.at(a, b, c)];
        ++*count;
      }
  return sum;
}

__device__ int thread_number() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

/// r = b - A 0, where b is A times a vector of ones.
__global__ void begin(double* r, slab s) {
  const int t = thread_number();
  if (t >= s.cells()) return;
  int count = 0;
  (void)neighbours(r, s, t % s.n, t / s.n % s.n, t / s.plane(), &count);
  r[t + s.plane()] = 26.0 - count;
}

__global__ void multiply(const double* v, double* av, slab s) {
  const int t = thread_number();
  if (t >= s.cells()) return;
  int count = 0;
  const double sum = neighbours(v, s, t % s.n, t / s.n % s.n, t / s.plane(), &count);
  av[t + s.plane()] = 26.0 * v[t + s.plane()] - sum;
}

/// Gauss-Seidel for the cells whose coordinates have the colour's parities.
__global__ void smooth(const double* r, double* z, slab s, int colour) {
  const int half = (s.n + 1) / 2, t = thread_number();
  const int x = 2 * (t % half) + (colour & 1), y = 2 * (t / half % half) + (colour >> 1 & 1);
  const int w = 2 * (t / half / half) + (colour >> 2);
  if (x >= s.n || y >= s.n || w >= s.n) return;
  int count = 0;
  z[s.at(x, y, w)] = (r[s.at(x, y, w)] + neighbours(z, s, x, y, w, &count)) / 26.0;
}

/// w = a u + b v.
__global__ void combine(double a, const double* u, double b, const double* v, double* w, slab s) {
  const int t = thread_number() + s.plane();
  if (t < s.cells() + s.plane()) w[t] = a * u[t] + b * v[t];
}

/// Thread t sums elements t, t + threads, …: always in the same order.
__global__ void dot_parts(const double* u, const double* v, double* parts, int threads, slab s) {
  const int t = thread_number();
  double sum = 0;
  for (int i = t; i < s.cells(); i += threads) sum += u[i + s.plane()] * v[i + s.plane()];
  parts[t] = sum;
}
__global__ void sum_parts(const double* parts, int count, double* sums, int threads) {
  const int t = thread_number();
  if (t >= threads) return;
  double sum = 0;
  for (int i = t; i < count; i += threads) sum += parts[i];
  sums[t] = sum;
}

struct program {
  slab s{};
  int rank = 0, size = 0;
  bool staged = false;
  double *parts = nullptr, *sums = nullptr, *host = nullptr;

  int blocks() const { return (s.cells() + 255) / 256; }

  void exchange(double* v) {
    const int plane = s.plane(), below = s.bottom ? MPI_PROC_NULL : rank - 1;
    const int above = s.top ? MPI_PROC_NULL : rank + 1;
    const std::size_t bytes = plane * sizeof(double);
    double *low = v + plane, *high = v + s.n * plane, *low_halo = v, *high_halo = v + s.cells() + plane;
    CUDA_CHECK(cudaDeviceSynchronize());
    if (staged) {
      CUDA_CHECK(cudaMemcpy(host, low, bytes, cudaMemcpyDeviceToHost));
      CUDA_CHECK(cudaMemcpy(host + plane, high, bytes, cudaMemcpyDeviceToHost));
      low = host;
      high = host + plane;
      low_halo = host + 2 * plane;
      high_halo = host + 3 * plane;
    }
    MPI_Sendrecv(low, plane, MPI_DOUBLE, below, 0, high_halo, plane, MPI_DOUBLE, above, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(high, plane, MPI_DOUBLE, above, 0, low_halo, plane, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!staged) return;
    CUDA_CHECK(cudaMemcpy(v, low_halo, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(v + s.cells() + plane, high_halo, bytes, cudaMemcpyHostToDevice));
  }

  double dot(const double* u, const double* v) {
    constexpr int threads = 64 * 256;
    double sum = 0;
    dot_parts<<<64, 256>>>(u, v, parts, threads, s);
    sum_parts<<<1, 128>>>(parts, threads, sums, 128);
    sum_parts<<<1, 1>>>(sums, 128, parts, 1);
    if (staged) {
      CUDA_CHECK(cudaMemcpy(&sum, parts, sizeof sum, cudaMemcpyDeviceToHost));
      MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      return sum;
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    MPI_Allreduce(MPI_IN_PLACE, parts, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CUDA_CHECK(cudaMemcpy(&sum, parts, sizeof sum, cudaMemcpyDeviceToHost));
    return sum;
  }

  void precondition(const double* r, double* z) {
    CUDA_CHECK(cudaMemset(z, 0, s.length() * sizeof(double)));
    for (int colour = 0; colour < 8; ++colour) smooth<<<blocks(), 256>>>(r, z, s, colour);
    for (int colour = 7; colour >= 0; --colour) smooth<<<blocks(), 256>>>(r, z, s, colour);
  }
};

double* vector_of(const slab& s) {
  double* made = nullptr;
  CUDA_CHECK(cudaMalloc(&made, s.length() * sizeof(double)));
  CUDA_CHECK(cudaMemset(made, 0, s.length() * sizeof(double)));
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  program p;
  int n = 64, iterations = 50, staged = 0, local = 0, devices = 0;
  for (int o; (o = getopt(argc, argv, "n:I:s")) != -1;)
    (o == 'n' ? n : o == 'I' ? iterations : staged) = o == 's' ? 1 : std::atoi(optarg);
  MPI_Comm node;
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &local);
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  CUDA_CHECK(cudaSetDevice(local % devices));
  p.s = {n, p.rank == 0, p.rank == p.size - 1};
  p.staged = staged != 0;
  CUDA_CHECK(cudaMalloc(&p.parts, 64 * 256 * sizeof(double)));
  CUDA_CHECK(cudaMalloc(&p.sums, 128 * sizeof(double)));
  CUDA_CHECK(cudaMallocHost(&p.host, 4 * static_cast<std::size_t>(p.s.plane()) * sizeof(double)));

  double *x = vector_of(p.s), *r = vector_of(p.s), *z = vector_of(p.s), *d = vector_of(p.s);
  double* ad = vector_of(p.s);
  begin<<<p.blocks(), 256>>>(r, p.s);
  const double first = std::sqrt(p.dot(r, r));
  double rtz = 0, residual = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = -MPI_Wtime();
  int done = 0;
  for (; done < iterations && residual > 1e-12; ++done) {
    p.precondition(r, z);
    const double before = rtz;
    rtz = p.dot(r, z);
    combine<<<p.blocks(), 256>>>(1.0, z, done == 0 ? 0.0 : rtz / before, d, d, p.s);
    p.exchange(d);
    multiply<<<p.blocks(), 256>>>(d, ad, p.s);
    const double alpha = rtz / p.dot(d, ad);
    combine<<<p.blocks(), 256>>>(1.0, x, alpha, d, x, p.s);
    combine<<<p.blocks(), 256>>>(1.0, r, -alpha, ad, r, p.s);
    residual = std::sqrt(p.dot(r, r)) / first;
  }
  seconds += MPI_Wtime();

  std::vector<double> host(p.s.length());
  CUDA_CHECK(cudaMemcpy(host.data(), x, p.s.length() * sizeof(double), cudaMemcpyDeviceToHost));
  double worst = 0;  // the answer is 1 in every cell
  for (int i = 0; i < p.s.cells(); ++i)
    worst = std::fmax(worst, std::fabs(host[i + p.s.plane()] - 1.0));
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const bool right = worst <= 1e3 * residual + 1e-9;
  if (p.rank == 0)
    std::printf("cg, %d ranks of %d^3 cells, %s: %d iterations in %.6f s, residual %.3g, at most %.3g "
                "from the answer, %s\n", p.size, n, staged ? "staged by hand" : "device memory to MPI",
                done, seconds, residual, worst, right ? "right" : "WRONG");
  MPI_Finalize();
  return !right;
}
