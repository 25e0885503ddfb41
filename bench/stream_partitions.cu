// SPDX-License-Identifier: BSD-3-Clause
// An exchange of two ranks whose kernel finishes the faces part by part, as stencils and matrix
// products do: each of its blocks has its part of the bytes ready at another time. A step is this
// kernel and the exchange, by
//   matched  telpher_startall_enqueue and telpher_waitall_enqueue of matched messages behind the
//   kernel graph    those, in a graph nccl     ncclSend and ncclRecv of a group, behind the kernel
//   ncclgr   those, in a graph
//   parts    partitioned requests: each block marks its partition ready (telpher_pready_block)
//   partsgr  those, in a graph
// Medians of rounds in microseconds; every form's bytes are checked.
//
//   nvcc -O2 -std=c++20 -arch=native -I include -I MPI/include -o stream_partitions
//     bench/stream_partitions.cu -L MPI/lib -lmpi -lnccl
//   mpirun -n 2 env LD_PRELOAD=.../libtelpher-ABI.so ./stream_partitions
#include "stream_timing.cuh"
#include "telpher/device.h"

namespace {

constexpr int blocks = 16;

/// Block b writes its part after (b + 1) / blocks of the time. With a handle it marks it ready.
__global__ void produce(const telpher_device_partitions* parts, char* out, std::size_t bytes,
                        int value, unsigned long long ns) {
  const std::size_t part = bytes / blocks;
  char* const mine = out + blockIdx.x * part;
  spin(ns * (blockIdx.x + 1) / blocks);
  for (std::size_t i = threadIdx.x; i < part; i += blockDim.x)
    mine[i] = static_cast<char>(value + blockIdx.x);
  if (parts) telpher_pready_block(parts, blockIdx.x);
}

class exchange {
 public:
  explicit exchange(std::size_t bytes) : bytes_(bytes) {
    CHECK(cudaMalloc(&out_, bytes));
    CHECK(cudaMalloc(&in_, bytes));
    const int n = static_cast<int>(bytes);
    CHECK(TELPHER(telpher_matched_recv_init)(in_, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                                             &matched_[0]));
    CHECK(TELPHER(telpher_matched_send_init)(out_, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                                             &matched_[1]));
    CHECK(MPI_Precv_init(in_, blocks, n / blocks, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &parts_[0]));
    CHECK(MPI_Psend_init(out_, blocks, n / blocks, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &parts_[1]));
    CHECK(TELPHER(telpher_match)(2, matched_));
    CHECK(TELPHER(telpher_match)(2, parts_));
    CHECK(TELPHER(telpher_partitions_device)(parts_[1], &handle_));
  }
  ~exchange() {
    CHECK(cudaStreamSynchronize(stream));
    for (MPI_Request* list : {matched_, parts_})
      for (int i : {0, 1}) MPI_Request_free(&list[i]);
    CHECK(cudaFree(out_));
    CHECK(cudaFree(in_));
  }

  void step(const std::string& form, int value, int kernel_us) {
    const auto ns = static_cast<unsigned long long>(kernel_us) * 1000;
    const bool partitioned = form == "parts" || form == "partsgr";
    MPI_Request* const list = partitioned ? parts_ : matched_;
    if (partitioned) CHECK(TELPHER(telpher_startall_enqueue)(2, list, stream));
    produce<<<blocks, 256, 0, stream>>>(partitioned ? handle_ : nullptr, out_, bytes_, value, ns);
    if (form == "nccl" || form == "ncclgr") {
      CHECK(ncclGroupStart());
      CHECK(ncclRecv(in_, bytes_, ncclChar, peer, nccl, stream));
      CHECK(ncclSend(out_, bytes_, ncclChar, peer, nccl, stream));
      CHECK(ncclGroupEnd());
      return;
    }
    if (!partitioned) CHECK(TELPHER(telpher_startall_enqueue)(2, list, stream));
    CHECK(TELPHER(telpher_waitall_enqueue)(2, list, MPI_STATUSES_IGNORE, stream));
  }

  void verify(const std::string& form) {
    CHECK(cudaMemset(in_, 0xee, bytes_));
    CHECK(cudaDeviceSynchronize());
    MPI_Barrier(MPI_COMM_WORLD);
    step(form, 40 + rank, 5);
    CHECK(cudaStreamSynchronize(stream));
    std::vector<char> got(bytes_);
    CHECK(cudaMemcpy(got.data(), in_, bytes_, cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < bytes_; ++i)
      if (got[i] != static_cast<char>(40 + peer + i / (bytes_ / blocks))) {
        std::fprintf(stderr, "%s: wrong bytes\n", form.c_str());
        MPI_Abort(MPI_COMM_WORLD, 3);
      }
  }

 private:
  std::size_t bytes_;
  char *out_ = nullptr, *in_ = nullptr;
  MPI_Request matched_[2], parts_[2];  // receive, send
  const telpher_device_partitions* handle_ = nullptr;
};

void steps(std::size_t bytes, int kernel_us) {
  exchange one(bytes);
  std::map<std::string, double> us;
  for (const std::string& f : forms) {
    one.verify(f);
    us[f] = time_of(f, 200, [&] { one.step(f, 1, kernel_us); });
    one.verify(f);
  }
  row(std::to_string(kernel_us) + " us, " + size_name(bytes), us);
}

}  // namespace

int main(int argc, char** argv) {
  begin_pair(argc, argv);
  forms = {"matched", "graph", "nccl", "ncclgr", "parts", "partsgr"};
  produce<<<blocks, 256, 0, stream>>>(nullptr, nullptr, 0, 0, 1000);
  heading("a step, us: a kernel of");
  for (const int kernel_us : {10, 50, 200})
    for (const std::size_t bytes : {8192ul, 65536ul, 1048576ul, 8388608ul}) steps(bytes, kernel_us);
  end();
}
