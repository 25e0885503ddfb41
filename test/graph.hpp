// SPDX-License-Identifier: BSD-3-Clause
// Captures of a stream, and the graphs that come of them, for tests: CUDA's by its driver, those of
// the emulated device by functions that its tests have.
#pragma once

#include <cstdio>

#include "cuda_driver.hpp"

namespace graphs {

/// 0 is success.
struct calls {
  int (*begin)(void* stream);
  void* (*end)(void* stream);  // the graph, ready to be launched, or null
  int (*launch)(void* graph, void* stream);
  void (*destroy)(void* graph);
};

class graph {
 public:
  /// The capture begins.
  graph(const calls& by, void* stream) : by_(by), captured_(by.begin(stream) ? nullptr : stream) {}
  ~graph() {
    if (captured_) end();
    if (made_) by_.destroy(made_);
  }
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  /// Ends the capture; true if there is a graph now.
  bool end() {
    if (captured_) made_ = by_.end(captured_);
    captured_ = nullptr;
    return made_ != nullptr;
  }
  bool launch(void* stream) { return made_ && by_.launch(made_, stream) == 0; }

 private:
  const calls& by_;
  void* captured_;  // while it is captured
  void* made_ = nullptr;
};

// --- CUDA's ---

struct cuda_graph {
  void* captured = nullptr;
  void* executable = nullptr;
};

inline int begin_cuda(void* stream) {
  constexpr int thread_local_mode = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
  return cuda_driver::call("cuStreamBeginCapture_v2", stream, thread_local_mode);
}

inline void destroy_cuda(void* graph) {
  const auto* const g = static_cast<cuda_graph*>(graph);
  if (g->executable) cuda_driver::call("cuGraphExecDestroy", g->executable);
  if (g->captured) cuda_driver::call("cuGraphDestroy", g->captured);
  delete g;
}

// A graph is instantiated in the calling thread's context.
inline void* end_cuda(void* stream) {
  const cuda_driver::current_context of_stream(stream);
  auto* const g = new cuda_graph;
  constexpr unsigned long long no_flags = 0;
  const int ended = cuda_driver::call("cuStreamEndCapture", stream, &g->captured);
  const int made = ended == 0 ? cuda_driver::call("cuGraphInstantiateWithFlags", &g->executable,
                                                  g->captured, no_flags)
                              : -1;
  if (made == 0) return g;
  std::fprintf(stderr, "the end of the capture gave error %d, its graph's instantiation %d\n",
               ended, made);
  destroy_cuda(g);
  return nullptr;
}

inline int launch_cuda(void* graph, void* stream) {
  return cuda_driver::call("cuGraphLaunch", static_cast<cuda_graph*>(graph)->executable, stream);
}

inline constexpr calls of_cuda{begin_cuda, end_cuda, launch_cuda, destroy_cuda};

}  // namespace graphs
