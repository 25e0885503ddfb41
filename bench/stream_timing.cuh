// SPDX-License-Identifier: BSD-3-Clause
// What the programs that time work in the order of streams share: ranks with a device each, one
// stream, NCCL beside us; steps that are repeated one by one or in a graph; rows of a table.
#pragma once
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <mpi.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
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

/// Keeps the work items that call it busy.
__device__ inline void spin(unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < ns);
}

inline int rank = -1, ranks = 0, peer = -1;
inline cudaStream_t stream;
inline ncclComm_t nccl;

inline bool in_graph(const std::string& form) {
  return form == "graph" || form.ends_with("gr");
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

inline std::vector<std::string> forms = {"wait",  "enqueue", "matched",
                                               "graph", "nccl",    "ncclgr"};

/// Leaves the forms that the program's arguments name, if they name any.
inline void keep_forms(int count, char** names) {
  if (count < 2) return;
  std::erase_if(forms, [&](const std::string& f) {
    return std::find(names + 1, names + count, f) == names + count;
  });
}

inline void heading(const char* what) {
  if (rank != 0) return;
  std::printf("%-26s", what);
  for (const std::string& f : forms) std::printf("%10s", f.c_str());
  std::printf("\n");
}

inline void row(const std::string& name, std::map<std::string, double>& us) {
  if (rank != 0) return;
  std::printf("%-26s", name.c_str());
  for (const std::string& f : forms) std::printf("%10.2f", us[f]);
  std::printf("\n");
  std::fflush(stdout);
}

inline std::string size_name(std::size_t bytes) {
  return bytes >= 1 << 20   ? std::to_string(bytes >> 20) + " MB"
         : bytes >= 1 << 10 ? std::to_string(bytes >> 10) + " KB"
                            : std::to_string(bytes) + " B";
}

inline void begin(int& argc, char**& argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(cudaSetDevice(rank));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ncclUniqueId id;
  if (rank == 0) CHECK(ncclGetUniqueId(&id));
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  CHECK(ncclCommInitRank(&nccl, ranks, id, rank));
}

inline void begin_pair(int& argc, char**& argv) {
  begin(argc, argv);
  if (ranks != 2) MPI_Abort(MPI_COMM_WORLD, 1);
  peer = 1 - rank;
}

inline void end() {
  CHECK(ncclCommDestroy(nccl));
  CHECK(cudaStreamDestroy(stream));
  MPI_Finalize();
}
