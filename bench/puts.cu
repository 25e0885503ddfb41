// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets of device memory between two ranks with a device each, each complete at the target
// when its time ends, in microseconds:
//   put      MPI_Put and MPI_Win_flush        get      MPI_Get and MPI_Win_flush
//   message  half of an MPI_Send and MPI_Recv there and back
//   shmem    NVSHMEM's put from the host, and quiet       shmget   its get from the host
//   stream   its put and quiet in a stream, which is waited for
// Medians of rounds in which all take their turn; every form's bytes are checked. Multicast is off.
//
//   nvcc -O2 -std=c++20 -arch=native -I include -I MPI/include -I NVSHMEM/include -o puts bench/puts.cu
//     -L MPI/lib -lmpi -lnccl -L NVSHMEM/lib -l:libnvshmem_host.so.3
//   mpirun -n 2 env LD_PRELOAD=.../libtelpher-ABI.so ./puts [BYTES…]
// NVSHMEM: that of PyPI's nvidia-nvshmem-cu13, say, with NVSHMEM/lib in LD_LIBRARY_PATH.
#include "stream_nvshmem.cuh"

namespace {

const std::vector<std::string> ways = {"put", "get", "message", "shmem", "shmget", "stream"};

/// Memory for one size: `mine` is plain device memory, what others reach is a window's or NVSHMEM's.
class memory {
 public:
  explicit memory(std::size_t bytes) : bytes_(bytes), n_(static_cast<int>(bytes)) {
    CHECK(cudaMalloc(&mine_, bytes));
    CHECK(cudaMalloc(&window_, bytes));
    symmetric_ = static_cast<char*>(nvshmem_malloc(bytes));
    MPI_Win_create(window_, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
    MPI_Win_lock_all(0, win_);
  }
  ~memory() {
    MPI_Win_unlock_all(win_);
    MPI_Win_free(&win_);
    nvshmem_free(symmetric_);
    CHECK(cudaFree(window_));
    CHECK(cudaFree(mine_));
  }

  static bool reads(const std::string& way) { return way == "get" || way == "shmget"; }

  /// Of rank 0; for messages, of both.
  void by(const std::string& way) {
    if (way == "put") {
      CHECK(MPI_Put(mine_, n_, MPI_BYTE, 1, 0, n_, MPI_BYTE, win_));
      CHECK(MPI_Win_flush(1, win_));
    } else if (way == "get") {
      CHECK(MPI_Get(mine_, n_, MPI_BYTE, 1, 0, n_, MPI_BYTE, win_));
      CHECK(MPI_Win_flush(1, win_));
    } else if (way == "message") {
      if (rank == 0) CHECK(MPI_Send(mine_, n_, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
      CHECK(MPI_Recv(window_, n_, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      if (rank == 1) CHECK(MPI_Send(mine_, n_, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
    } else if (way == "shmem") {
      nvshmem_putmem(symmetric_, mine_, bytes_, 1);
      nvshmem_quiet();
    } else if (way == "shmget") {
      nvshmem_getmem(mine_, symmetric_, bytes_, 1);
    } else {
      nvshmemx_putmem_on_stream(symmetric_, mine_, bytes_, 1, stream);
      nvshmemx_quiet_on_stream(stream);
      CHECK(cudaStreamSynchronize(stream));
    }
  }

  void verify(const std::string& way, int round) {
    char* const remote = way == "put" || way == "get" || way == "message" ? window_ : symmetric_;
    const bool from_rank_1 = reads(way);
    CHECK(cudaMemset(mine_, from_rank_1 ? 0xee : round & 0xff, bytes_));
    CHECK(cudaMemset(remote, from_rank_1 ? round & 0xff : 0xee, bytes_));
    CHECK(cudaDeviceSynchronize());
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 || way == "message") by(way);
    MPI_Barrier(MPI_COMM_WORLD);
    const int looks = from_rank_1 ? 0 : 1;
    if (rank != looks) return;
    std::vector<char> got(bytes_);
    CHECK(cudaMemcpy(got.data(), from_rank_1 ? mine_ : remote, bytes_, cudaMemcpyDeviceToHost));
    if (std::any_of(got.begin(), got.end(), [&](char c) { return c != static_cast<char>(round); })) {
      std::fprintf(stderr, "%s of %zu bytes: wrong bytes\n", way.c_str(), bytes_);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  }

 private:
  std::size_t bytes_;
  int n_;
  char *mine_ = nullptr, *window_ = nullptr, *symmetric_ = nullptr;
  MPI_Win win_ = MPI_WIN_NULL;
};

/// Of one operation, as rank 0 sees it.
double time_us(memory& m, const std::string& way, int times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i)
    if (rank == 0 || way == "message") m.by(way);
  const std::chrono::duration<double, std::micro> all = std::chrono::steady_clock::now() - begin;
  return all.count() / times / (way == "message" ? 2 : 1);
}

void measure(std::size_t bytes) {
  constexpr int rounds = 7;
  memory m(bytes);
  std::map<std::string, std::vector<double>> us;
  for (const std::string& way : ways) m.verify(way, 1);
  for (int round = 0; round <= rounds; ++round)
    for (const std::string& way : ways) {
      const double t = time_us(m, way, bytes > 1 << 20 ? 20 : 200);
      if (round > 0) us[way].push_back(t);
    }
  for (const std::string& way : ways) m.verify(way, 2);
  std::map<std::string, double> medians;
  for (auto& [way, all] : us) {
    std::sort(all.begin(), all.end());
    medians[way] = all[all.size() / 2];
  }
  row(size_name(bytes), medians);
}

}  // namespace

int main(int argc, char** argv) {
  begin_pair(argc, argv);
  begin_nvshmem();
  forms = ways;
  heading("puts and gets, us");
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {8, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20};
  for (const std::size_t bytes : sizes) measure(bytes);
  nvshmemx_hostlib_finalize();
  end();
}
