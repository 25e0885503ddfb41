// SPDX-License-Identifier: BSD-3-Clause
// A collective (of floats, sums) of ranks with a device each, in the order of streams: what one
// costs of many that follow each other, by
//   wait     the stream is waited for, then the MPI call
//   enqueue  telpher_<name>_enqueue
//   enqgr    that, in a graph
//   matched  telpher_start_enqueue and telpher_wait_enqueue of the persistent form, matched
//   graph    those, in a graph
//   nccl     NCCL's in the stream
//   ncclgr   that, in a graph
// Medians of rounds in which all take their turn, in microseconds; every form's results are
// checked. BYTES are those of the longest vector of a rank. The MPI must have the persistent
// collectives of MPI-4.
//
//   nvcc -O2 -std=c++20 -arch=native -I include -I MPI/include -o stream_collective
//     bench/stream_collective.cu -L MPI/lib -lmpi -lnccl
//   mpirun -n RANKS env LD_PRELOAD=.../libtelpher-ABI.so ./stream_collective [NAME [BYTES…]]
// NAME: allreduce, bcast, allgather, alltoall or reduce_scatter_block.
#include "stream_timing.cuh"

namespace {

#define WORLD MPI_COMM_WORLD
#define NULL_INFO MPI_INFO_NULL

/// Of n floats, or of blocks of b = n / ranks.
struct operation {
  const char* name;
  void (*init)(const float* in, float* out, int n, int b, MPI_Request* made);
  void (*call)(const float* in, float* out, int n, int b);
  void (*enqueue)(const float* in, float* out, int n, int b);
  void (*by_nccl)(const float* in, float* out, int n, int b);
  bool block_in, block_out;  // the vector has one block only
  float (*result)(int i, int b);  // what lies at an element of it
};

int round_now = 0;

/// What rank `of` gives at an element.
float value(int of, int i) {
  return static_cast<float>((i * 7ll + 31 * of + round_now) % 1000);
}
float sum_at(int i) {
  float all = 0;  // exact: small whole numbers
  for (int of = 0; of < ranks; ++of) all += value(of, i);
  return all;
}

const operation operations[] = {
    {"allreduce",
     [](const float* in, float* out, int n, int, MPI_Request* made) {
       CHECK(MPI_Allreduce_init(in, out, n, MPI_FLOAT, MPI_SUM, WORLD, NULL_INFO, made));
     },
     [](const float* in, float* out, int n, int) {
       CHECK(MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, WORLD));
     },
     [](const float* in, float* out, int n, int) {
       CHECK(TELPHER(telpher_allreduce_enqueue)(in, out, n, MPI_FLOAT, MPI_SUM, WORLD, stream));
     },
     [](const float* in, float* out, int n, int) {
       CHECK(ncclAllReduce(in, out, static_cast<std::size_t>(n), ncclFloat, ncclSum, nccl, stream));
     },
     false, false, [](int i, int) { return sum_at(i); }},
    {"bcast",
     [](const float*, float* out, int n, int, MPI_Request* made) {
       CHECK(MPI_Bcast_init(out, n, MPI_FLOAT, 0, WORLD, NULL_INFO, made));
     },
     [](const float*, float* out, int n, int) { CHECK(MPI_Bcast(out, n, MPI_FLOAT, 0, WORLD)); },
     [](const float*, float* out, int n, int) {
       CHECK(TELPHER(telpher_bcast_enqueue)(out, n, MPI_FLOAT, 0, WORLD, stream));
     },
     [](const float*, float* out, int n, int) {
       CHECK(ncclBroadcast(out, out, static_cast<std::size_t>(n), ncclFloat, 0, nccl, stream));
     },
     false, false, [](int i, int) { return value(0, i); }},
    {"allgather",
     [](const float* in, float* out, int, int b, MPI_Request* made) {
       CHECK(MPI_Allgather_init(in, b, MPI_FLOAT, out, b, MPI_FLOAT, WORLD, NULL_INFO, made));
     },
     [](const float* in, float* out, int, int b) {
       CHECK(MPI_Allgather(in, b, MPI_FLOAT, out, b, MPI_FLOAT, WORLD));
     },
     [](const float* in, float* out, int, int b) {
       CHECK(
           TELPHER(telpher_allgather_enqueue)(in, b, MPI_FLOAT, out, b, MPI_FLOAT, WORLD, stream));
     },
     [](const float* in, float* out, int, int b) {
       CHECK(ncclAllGather(in, out, static_cast<std::size_t>(b), ncclFloat, nccl, stream));
     },
     true, false, [](int i, int b) { return value(i / b, i % b); }},
    {"alltoall",
     [](const float* in, float* out, int, int b, MPI_Request* made) {
       CHECK(MPI_Alltoall_init(in, b, MPI_FLOAT, out, b, MPI_FLOAT, WORLD, NULL_INFO, made));
     },
     [](const float* in, float* out, int, int b) {
       CHECK(MPI_Alltoall(in, b, MPI_FLOAT, out, b, MPI_FLOAT, WORLD));
     },
     [](const float* in, float* out, int, int b) {
       CHECK(TELPHER(telpher_alltoall_enqueue)(in, b, MPI_FLOAT, out, b, MPI_FLOAT, WORLD, stream));
     },
     [](const float* in, float* out, int, int b) {
       const auto block = static_cast<std::size_t>(b);
       CHECK(ncclGroupStart());
       for (int r = 0; r < ranks; ++r) {
         CHECK(ncclSend(in + r * b, block, ncclFloat, r, nccl, stream));
         CHECK(ncclRecv(out + r * b, block, ncclFloat, r, nccl, stream));
       }
       CHECK(ncclGroupEnd());
     },
     false, false, [](int i, int b) { return value(i / b, rank * b + i % b); }},
    {"reduce_scatter_block",
     [](const float* in, float* out, int, int b, MPI_Request* made) {
       CHECK(MPI_Reduce_scatter_block_init(in, out, b, MPI_FLOAT, MPI_SUM, WORLD, NULL_INFO, made));
     },
     [](const float* in, float* out, int, int b) {
       CHECK(MPI_Reduce_scatter_block(in, out, b, MPI_FLOAT, MPI_SUM, WORLD));
     },
     [](const float* in, float* out, int, int b) {
       CHECK(TELPHER(telpher_reduce_scatter_block_enqueue)(in, out, b, MPI_FLOAT, MPI_SUM, WORLD,
                                                           stream));
     },
     [](const float* in, float* out, int, int b) {
       CHECK(ncclReduceScatter(in, out, static_cast<std::size_t>(b), ncclFloat, ncclSum, nccl,
                               stream));
     },
     false, true, [](int i, int b) { return sum_at(rank * b + i); }},
};

class collective {
 public:
  collective(const operation& what, std::size_t bytes)
      : what_(what), block_(static_cast<int>(bytes / sizeof(float)) / ranks) {
    const bool blocks = what.block_in || what.block_out || std::string(what.name) == "alltoall";
    count_ = blocks ? block_ * ranks : static_cast<int>(bytes / sizeof(float));
    CHECK(cudaMalloc(&in_, bytes));
    CHECK(cudaMalloc(&out_, bytes));
    what.init(in_, out_, count_, block_, &matched_);
    CHECK(TELPHER(telpher_match)(1, &matched_));
  }
  ~collective() {
    CHECK(cudaStreamSynchronize(stream));
    MPI_Request_free(&matched_);
    CHECK(cudaFree(in_));
    CHECK(cudaFree(out_));
  }
  bool empty() const { return count_ == 0; }

  void by(const std::string& form) {
    if (form == "wait") {
      CHECK(cudaStreamSynchronize(stream));
      what_.call(in_, out_, count_, block_);
    } else if (form == "enqueue" || form == "enqgr") {
      what_.enqueue(in_, out_, count_, block_);
    } else if (form == "matched" || form == "graph") {
      CHECK(TELPHER(telpher_start_enqueue)(matched_, stream));
      CHECK(TELPHER(telpher_wait_enqueue)(&matched_, MPI_STATUS_IGNORE, stream));
    } else {
      what_.by_nccl(in_, out_, count_, block_);
    }
  }

  void verify(const std::string& form, int round) {
    round_now = round;
    std::vector<float> host(static_cast<std::size_t>(what_.block_in ? block_ : count_));
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = value(rank, static_cast<int>(i));
    const std::size_t given = host.size() * sizeof(float);
    CHECK(cudaMemcpy(in_, host.data(), given, cudaMemcpyHostToDevice));
    host.resize(static_cast<std::size_t>(what_.block_out ? block_ : count_));
    CHECK(cudaMemset(out_, 0xee, host.size() * sizeof(float)));
    if (rank == 0 && std::string(what_.name) == "bcast")
      CHECK(cudaMemcpy(out_, in_, given, cudaMemcpyDeviceToDevice));
    CHECK(cudaDeviceSynchronize());
    MPI_Barrier(WORLD);
    by(form);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host.data(), out_, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < host.size(); ++i) {
      if (host[i] == what_.result(static_cast<int>(i), block_)) continue;
      std::fprintf(stderr, "%s by %s: wrong at %zu\n", what_.name, form.c_str(), i);
      MPI_Abort(WORLD, 3);
    }
  }

 private:
  const operation& what_;
  int block_, count_ = 0;
  float *in_ = nullptr, *out_ = nullptr;
  MPI_Request matched_ = MPI_REQUEST_NULL;
};

void measure(const operation& what, std::size_t bytes) {
  collective one(what, bytes);
  if (one.empty()) return;
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
  forms.insert(forms.begin() + 2, "enqgr");
  const std::string name = argc > 1 ? argv[1] : "allreduce";
  std::vector<std::size_t> sizes;
  for (int i = 2; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {8,       64,      512,      4 << 10, 32 << 10, 256 << 10,
                              2 << 20, 16 << 20, 64 << 20};
  for (const operation& o : operations) {
    if (o.name != name) continue;
    heading((name + ", us").c_str());
    for (const std::size_t bytes : sizes) measure(o, bytes);
  }
  end();
}
