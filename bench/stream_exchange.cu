// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of two ranks, each with a device of its own, in the order of streams: what a hop of a
// ping-pong costs, and a step of a program that runs a kernel and exchanges two faces with the
// other rank, by
//   wait     the stream is waited for, then MPI_Startall and MPI_Waitall
//   enqueue  telpher_startall_enqueue and telpher_waitall_enqueue of persistent requests
//   matched  the same of requests that telpher_match has matched
//   graph    those, in a graph
//   nccl     ncclSend and ncclRecv of a group, in the stream
//   ncclgr   those, in a graph
// Medians of rounds in which all take their turn, in microseconds; every form's bytes are checked.
//
//   nvcc -O2 -std=c++20 -arch=native -I include -I MPI/include -o stream_exchange
//     bench/stream_exchange.cu -L MPI/lib -lmpi -lnccl
//   mpirun -n 2 env LD_PRELOAD=.../libtelpher-ABI.so ./stream_exchange
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <mpi.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "telpher/stream.h"

#define CHECK(call)                                                              \
  do {                                                                           \
    const int code_ = static_cast<int>(call);                                    \
    if (code_ != 0) {                                                            \
      std::fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, code_); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                              \
    }                                                                            \
  } while (0)

template <class F>
F* telpher(const char* name) {
  auto* const found = reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
  if (!found) {
    std::fprintf(stderr, "the process has no %s: preload Telpher\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return found;
}
#define TELPHER(name) (telpher<decltype(name)>(#name))

namespace {

int rank = -1, peer = -1;
cudaStream_t stream;
ncclComm_t nccl;

__global__ void compute(unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < ns);
}

struct face {
  char *out = nullptr, *in = nullptr;
  MPI_Request plain[2], matched[2];  // receive, send
};

/// Two faces, and all the forms of their exchange.
class exchange {
 public:
  exchange(std::size_t bytes, int faces) : bytes_(bytes), faces_(static_cast<std::size_t>(faces)) {
    for (std::size_t i = 0; i < faces_.size(); ++i) {
      face& f = faces_[i];
      const int n = static_cast<int>(bytes), tag = static_cast<int>(i);
      CHECK(cudaMalloc(&f.out, bytes));
      CHECK(cudaMalloc(&f.in, bytes));
      CHECK(MPI_Recv_init(f.in, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &f.plain[0]));
      CHECK(MPI_Send_init(f.out, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &f.plain[1]));
      CHECK(TELPHER(telpher_matched_recv_init)(f.in, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                                               &f.matched[0]));
      CHECK(TELPHER(telpher_matched_send_init)(f.out, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                                               &f.matched[1]));
    }
    for (const face& f : faces_) {
      plain_.insert(plain_.end(), f.plain, f.plain + 2);
      matched_.insert(matched_.end(), f.matched, f.matched + 2);
    }
    CHECK(TELPHER(telpher_match)(count(), matched_.data()));
  }
  ~exchange() {
    CHECK(cudaStreamSynchronize(stream));
    for (auto* list : {&plain_, &matched_})
      for (MPI_Request& r : *list) MPI_Request_free(&r);
    for (const face& f : faces_) {
      CHECK(cudaFree(f.out));
      CHECK(cudaFree(f.in));
    }
  }

  void by(const std::string& form) {
    if (form == "wait") {
      CHECK(cudaStreamSynchronize(stream));
      CHECK(MPI_Startall(count(), plain_.data()));
      CHECK(MPI_Waitall(count(), plain_.data(), MPI_STATUSES_IGNORE));
    } else if (form == "enqueue" || form == "matched" || form == "graph") {
      auto& list = form == "enqueue" ? plain_ : matched_;
      CHECK(TELPHER(telpher_startall_enqueue)(count(), list.data(), stream));
      CHECK(TELPHER(telpher_waitall_enqueue)(count(), list.data(), MPI_STATUSES_IGNORE, stream));
    } else {
      CHECK(ncclGroupStart());
      for (const face& f : faces_) {
        CHECK(ncclRecv(f.in, bytes_, ncclChar, peer, nccl, stream));
        CHECK(ncclSend(f.out, bytes_, ncclChar, peer, nccl, stream));
      }
      CHECK(ncclGroupEnd());
    }
  }

  /// One end's half of a ping-pong: `which` is 0 for a receive, 1 for a send.
  void half(const std::string& form, int which) {
    face& f = faces_[0];
    if (form == "wait") {
      CHECK(cudaStreamSynchronize(stream));
      CHECK(MPI_Start(&f.plain[which]));
      CHECK(MPI_Wait(&f.plain[which], MPI_STATUS_IGNORE));
    } else if (form == "enqueue" || form == "matched" || form == "graph") {
      MPI_Request* const r = form == "enqueue" ? &f.plain[which] : &f.matched[which];
      CHECK(TELPHER(telpher_start_enqueue)(*r, stream));
      CHECK(TELPHER(telpher_wait_enqueue)(r, MPI_STATUS_IGNORE, stream));
    } else if (which == 0) {
      CHECK(ncclRecv(f.in, bytes_, ncclChar, peer, nccl, stream));
    } else {
      CHECK(ncclSend(f.out, bytes_, ncclChar, peer, nccl, stream));
    }
  }

  void verify(const std::string& form, int round) {
    for (const face& f : faces_) {
      CHECK(cudaMemset(f.out, (round + 3 * rank) & 0xff, bytes_));
      CHECK(cudaMemset(f.in, 0xee, bytes_));
    }
    CHECK(cudaDeviceSynchronize());
    MPI_Barrier(MPI_COMM_WORLD);
    by(form);
    CHECK(cudaStreamSynchronize(stream));
    std::vector<char> got(bytes_);
    for (const face& f : faces_) {
      CHECK(cudaMemcpy(got.data(), f.in, bytes_, cudaMemcpyDeviceToHost));
      for (const char c : got)
        if (c != static_cast<char>((round + 3 * peer) & 0xff)) {
          std::fprintf(stderr, "%s: wrong bytes\n", form.c_str());
          MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
  }

 private:
  int count() const { return static_cast<int>(2 * faces_.size()); }

  std::size_t bytes_;
  std::vector<face> faces_;
  std::vector<MPI_Request> plain_, matched_;
};

bool in_graph(const std::string& form) {
  return form == "graph" || form == "ncclgr";
}

/// Steps that are repeated: one by one, or so many in a graph that is launched again and again.
template <class Step>
double time_of(const std::string& form, int steps, Step step) {
  constexpr int in_one = 10, rounds = 7;
  cudaGraphExec_t graph = nullptr;
  if (in_graph(form)) {
    cudaGraph_t made;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < in_one; ++i) step();
    CHECK(cudaStreamEndCapture(stream, &made));
    CHECK(cudaGraphInstantiate(&graph, made, 0));
    CHECK(cudaGraphDestroy(made));
  }
  std::vector<double> all;
  for (int r = 0; r <= rounds; ++r) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    if (graph)
      for (int i = 0; i < steps / in_one; ++i) CHECK(cudaGraphLaunch(graph, stream));
    else
      for (int i = 0; i < steps; ++i) step();
    CHECK(cudaStreamSynchronize(stream));
    const std::chrono::duration<double, std::micro> t = std::chrono::steady_clock::now() - begin;
    if (r > 0) all.push_back(t.count() / steps);
  }
  if (graph) CHECK(cudaGraphExecDestroy(graph));
  std::sort(all.begin(), all.end());
  double mine = all[all.size() / 2], most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

const std::vector<std::string> forms = {"wait", "enqueue", "matched", "graph", "nccl", "ncclgr"};

void heading(const char* what) {
  if (rank != 0) return;
  std::printf("%-26s", what);
  for (const std::string& f : forms) std::printf("%10s", f.c_str());
  std::printf("\n");
}

void row(const std::string& name, std::map<std::string, double>& us) {
  if (rank != 0) return;
  std::printf("%-26s", name.c_str());
  for (const std::string& f : forms) std::printf("%10.2f", us[f]);
  std::printf("\n");
  std::fflush(stdout);
}

std::string size_name(std::size_t bytes) {
  return bytes >= 1 << 20   ? std::to_string(bytes >> 20) + " MB"
         : bytes >= 1 << 10 ? std::to_string(bytes >> 10) + " KB"
                            : std::to_string(bytes) + " B";
}

void hops(std::size_t bytes) {
  exchange one(bytes, 1);
  std::map<std::string, double> us;
  for (const std::string& f : forms) {
    one.verify(f, 1);
    us[f] = time_of(f, 200,
                    [&] {
                      one.half(f, rank == 0 ? 1 : 0);
                      one.half(f, rank == 0 ? 0 : 1);
                    }) /
            2;
    one.verify(f, 2);
  }
  row(size_name(bytes), us);
}

void steps(std::size_t bytes, int kernel_us) {
  exchange two(bytes, 2);
  std::map<std::string, double> us;
  for (const std::string& f : forms) {
    us[f] = time_of(f, 200, [&] {
      compute<<<1, 32, 0, stream>>>(static_cast<unsigned long long>(kernel_us) * 1000);
      two.by(f);
    });
    two.verify(f, 3);
  }
  row(std::to_string(kernel_us) + " us, faces of " + size_name(bytes), us);
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0, ranks = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) MPI_Abort(MPI_COMM_WORLD, 1);
  peer = 1 - rank;
  CHECK(cudaSetDevice(rank));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ncclUniqueId id;
  if (rank == 0) CHECK(ncclGetUniqueId(&id));
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  CHECK(ncclCommInitRank(&nccl, 2, id, rank));
  compute<<<1, 32, 0, stream>>>(1000);
  heading("a hop of a ping-pong, us");
  for (const std::size_t bytes : {8ul, 1024ul, 8192ul, 65536ul, 1048576ul, 4194304ul}) hops(bytes);
  heading("a step, us: a kernel of");
  for (const int kernel_us : {10, 50, 200})
    for (const std::size_t bytes : {8192ul, 65536ul, 1048576ul}) steps(bytes, kernel_us);
  CHECK(ncclCommDestroy(nccl));
  CHECK(cudaStreamDestroy(stream));
  MPI_Finalize();
}
