// SPDX-License-Identifier: BSD-3-Clause
// An allreduce (sum of floats) of ranks with a device each, in the order of streams: what one costs
// of many that follow each other, by
//   wait     the stream is waited for, then MPI_Allreduce
//   enqueue  telpher_allreduce_enqueue
//   matched  telpher_start_enqueue and telpher_wait_enqueue of MPI_Allreduce_init, matched
//   graph    those, in a graph
//   nccl     ncclAllReduce in the stream
//   ncclgr   that, in a graph
// Medians of rounds in which all take their turn, in microseconds; every form's sums are checked.
// The MPI must have the persistent collectives of MPI-4.
//
//   nvcc -O2 -std=c++20 -arch=native -I include -I MPI/include -o stream_collective
//     bench/stream_collective.cu -L MPI/lib -lmpi -lnccl
//   mpirun -n RANKS env LD_PRELOAD=.../libtelpher-ABI.so ./stream_collective [BYTES…]
#include "stream_timing.cuh"

namespace {

class sum {
 public:
  explicit sum(std::size_t bytes) : count_(static_cast<int>(bytes / sizeof(float))) {
    CHECK(cudaMalloc(&in_, bytes));
    CHECK(cudaMalloc(&out_, bytes));
    CHECK(MPI_Allreduce_init(in_, out_, count_, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                             &matched_));
    CHECK(TELPHER(telpher_match)(1, &matched_));
  }
  ~sum() {
    CHECK(cudaStreamSynchronize(stream));
    MPI_Request_free(&matched_);
    CHECK(cudaFree(in_));
    CHECK(cudaFree(out_));
  }

  void by(const std::string& form) {
    if (form == "wait") {
      CHECK(cudaStreamSynchronize(stream));
      CHECK(MPI_Allreduce(in_, out_, count_, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    } else if (form == "enqueue") {
      CHECK(TELPHER(telpher_allreduce_enqueue)(in_, out_, count_, MPI_FLOAT, MPI_SUM,
                                               MPI_COMM_WORLD, stream));
    } else if (form == "matched" || form == "graph") {
      CHECK(TELPHER(telpher_start_enqueue)(matched_, stream));
      CHECK(TELPHER(telpher_wait_enqueue)(&matched_, MPI_STATUS_IGNORE, stream));
    } else {
      CHECK(ncclAllReduce(in_, out_, count_, ncclFloat, ncclSum, nccl, stream));
    }
  }

  void verify(const std::string& form, int round) {
    const auto n = static_cast<std::size_t>(count_);
    const auto value = [&](int of, std::size_t i) {
      return static_cast<float>((i * 7 + 31u * of + round) % 1000);
    };
    std::vector<float> host(n);
    for (std::size_t i = 0; i < n; ++i) host[i] = value(rank, i);
    CHECK(cudaMemcpy(in_, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out_, 0xee, n * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    MPI_Barrier(MPI_COMM_WORLD);
    by(form);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host.data(), out_, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < n; ++i) {
      float all = 0;  // exact: small whole numbers
      for (int of = 0; of < ranks; ++of) all += value(of, i);
      if (host[i] == all) continue;
      std::fprintf(stderr, "%s: wrong sum at %zu\n", form.c_str(), i);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  }

 private:
  int count_;
  float *in_ = nullptr, *out_ = nullptr;
  MPI_Request matched_ = MPI_REQUEST_NULL;
};

void sums(std::size_t bytes) {
  sum one(bytes);
  std::map<std::string, double> us;
  for (const std::string& f : forms) {
    one.verify(f, 1);
    us[f] = time_of(f, bytes > 1 << 20 ? 50 : 200, [&] { one.by(f); });
    one.verify(f, 2);
  }
  row(size_name(bytes), us);
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  heading("an allreduce, us");
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {8,       64,      512,      4 << 10, 32 << 10, 256 << 10,
                              2 << 20, 16 << 20, 64 << 20};
  for (const std::size_t bytes : sizes) sums(bytes);
  end();
}
