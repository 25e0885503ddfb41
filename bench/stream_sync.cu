// SPDX-License-Identifier: BSD-3-Clause
// What it costs that Telpher waits for the program's work (TELPHER_SYNC): a hop of a ping-pong by
// MPI_Send and MPI_Recv, behind a kernel that writes the message, by
//   wait     cudaStreamSynchronize before MPI_Send
//   plain    nothing: right only where TELPHER_SYNC covers the stream
//   named    the same on a communicator whose stream telpher_stream_set names
// "idle" has no kernel. "default" has it in the legacy default stream, which TELPHER_SYNC=stream
// covers; the other rows have it in a stream of the program's, which is covered where it is named
// and by TELPHER_SYNC=device. In brackets: received messages that were not what the kernel wrote.
//
//   nvcc -O2 -std=c++20 -arch=native -I include -I MPI/include -o stream_sync bench/stream_sync.cu
//     -L MPI/lib -lmpi -lnccl
//   mpirun -n 2 env TELPHER_SYNC=... LD_PRELOAD=.../libtelpher-ABI.so ./stream_sync
#include "stream_timing.cuh"

namespace {

__global__ void write(unsigned long long* to, std::size_t words, unsigned long long value,
                      unsigned long long ns) {
  spin(ns);
  for (std::size_t i = threadIdx.x; i < words; i += blockDim.x) to[i] = value;
}

struct ping_pong {
  std::size_t bytes;
  cudaStream_t work;
  bool kernel;
  unsigned long long ns;
  unsigned long long *out = nullptr, *in = nullptr;
  unsigned long long value = 0;
  long wrong = 0;

  void send(const std::string& form, MPI_Comm comm) {
    if (kernel) write<<<1, 128, 0, work>>>(out, bytes / 8, ++value, ns);
    if (form == "wait") CHECK(cudaStreamSynchronize(work));
    CHECK(MPI_Send(out, static_cast<int>(bytes), MPI_BYTE, peer, 0, comm));
  }
  void receive(MPI_Comm comm) {
    CHECK(MPI_Recv(in, static_cast<int>(bytes), MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE));
  }
  void look() {
    unsigned long long last = 0;
    CHECK(cudaMemcpy(&last, in + bytes / 8 - 1, 8, cudaMemcpyDefault));
    wrong += kernel && last != value;
  }
};

void measure(const char* name, ping_pong p, MPI_Comm plain, MPI_Comm named) {
  CHECK(cudaMalloc(&p.out, p.bytes));
  CHECK(cudaMalloc(&p.in, p.bytes));
  std::map<std::string, double> us;
  std::string wrong;
  for (const std::string& form : forms) {
    const MPI_Comm comm = form == "named" ? named : plain;
    const auto step = [&] {
      if (rank == 0) p.send(form, comm);
      p.receive(comm);
      if (rank == 1) p.send(form, comm);
    };
    us[form] = time_of(form, 200, step) / 2;
    p.wrong = 0;
    for (int i = 0; i < 50; ++i) {
      step();
      p.look();
    }
    long all = 0;
    MPI_Allreduce(&p.wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    wrong += " " + std::to_string(all);
  }
  row(size_name(p.bytes) + ", " + name, us);
  if (rank == 0) std::printf("%26s [%s of 100 ]\n", "", wrong.c_str());
  CHECK(cudaFree(p.out));
  CHECK(cudaFree(p.in));
}

}  // namespace

int main(int argc, char** argv) {
  forms = {"wait", "plain", "named"};
  begin_pair(argc, argv);
  MPI_Comm plain, named, named_default;
  for (MPI_Comm* c : {&plain, &named, &named_default}) MPI_Comm_dup(MPI_COMM_WORLD, c);
  CHECK(TELPHER(telpher_stream_set)(named, stream));
  CHECK(TELPHER(telpher_stream_set)(named_default, nullptr));
  const char* const mode = std::getenv("TELPHER_SYNC");
  heading((std::string("TELPHER_SYNC=") + (mode ? mode : "auto") + ", us").c_str());
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20}) {
    measure("idle", {bytes, stream, false, 0}, plain, named);
    measure("kernel of 10 us", {bytes, stream, true, 10000}, plain, named);
    measure("default, 10 us", {bytes, nullptr, true, 10000}, plain, named_default);
  }
  for (MPI_Comm* c : {&plain, &named, &named_default}) MPI_Comm_free(c);
  end();
}
