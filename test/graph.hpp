// SPDX-License-Identifier: BSD-3-Clause
// Captures of a stream, and the graphs that come of them, for tests: CUDA's by its driver, HIP's by
// its runtime, those of the emulated device by functions that its tests have.
#pragma once

#include <cstdio>
#include <string>

#include "cuda_driver.hpp"

namespace graphs {

/// 0 is success.
struct calls {
  int (*begin)(void* stream);
  void* (*end)(void* stream);  // the graph, ready to be launched, or null
  int (*launch)(void* graph, void* stream);
  void (*destroy)(void* graph);
  int (*invalidate)(void* stream);  // a capture; by a call that is not allowed there
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
  bool invalidate() { return captured_ && by_.invalidate(captured_) == 0; }
  bool launch(void* stream) { return made_ && by_.launch(made_, stream) == 0; }

 private:
  const calls& by_;
  void* captured_;  // while it is captured
  void* made_ = nullptr;
};

// --- CUDA's ---

struct vendor_graph {
  void* captured = nullptr;
  void* executable = nullptr;
};

inline constexpr int thread_local_mode = 1;  // of a capture; the same number for both vendors

/// What a capture has ended with: the graph, or null after saying why there is none.
inline void* made_of(vendor_graph* g, int ended, int made, void (*destroy)(void*)) {
  if (made == 0) return g;
  std::fprintf(stderr, "the end of the capture gave error %d, its graph's instantiation %d\n",
               ended, made);
  destroy(g);
  return nullptr;
}

inline int begin_cuda(void* stream) {
  return cuda_driver::call("cuStreamBeginCapture_v2", stream, thread_local_mode);
}

inline void destroy_cuda(void* graph) {
  const auto* const g = static_cast<vendor_graph*>(graph);
  if (g->executable) cuda_driver::call("cuGraphExecDestroy", g->executable);
  if (g->captured) cuda_driver::call("cuGraphDestroy", g->captured);
  delete g;
}

// A graph is instantiated in the calling thread's context.
inline void* end_cuda(void* stream) {
  const cuda_driver::current_context of_stream(stream);
  auto* const g = new vendor_graph;
  constexpr unsigned long long no_flags = 0;
  const int ended = cuda_driver::call("cuStreamEndCapture", stream, &g->captured);
  const int made = ended == 0 ? cuda_driver::call("cuGraphInstantiateWithFlags", &g->executable,
                                                  g->captured, no_flags)
                              : -1;
  return made_of(g, ended, made, destroy_cuda);
}

inline int launch_cuda(void* graph, void* stream) {
  return cuda_driver::call("cuGraphLaunch", static_cast<vendor_graph*>(graph)->executable, stream);
}

// Fails, as it should.
inline int invalidate_cuda(void* stream) {
  return cuda_driver::call("cuStreamSynchronize", stream) == 0;
}

inline constexpr calls of_cuda{begin_cuda, end_cuda, launch_cuda, destroy_cuda, invalidate_cuda};

// --- HIP's ---

template <class... Arguments>
int call_hip(const char* name, Arguments... arguments) {
  static void* const opened = [] {
    void* found = nullptr;
    for (const char* version : {"7", "6", "5"})
      if (!found)
        found = dlopen((std::string("libamdhip64.so.") + version).c_str(), RTLD_NOW | RTLD_NOLOAD);
    return found;
  }();
  void* const found = opened ? dlsym(opened, name) : nullptr;
  return found ? reinterpret_cast<int (*)(Arguments...)>(found)(arguments...) : -1;
}

inline int begin_hip(void* stream) {
  return call_hip("hipStreamBeginCapture", stream, thread_local_mode);
}

inline void destroy_hip(void* graph) {
  const auto* const g = static_cast<vendor_graph*>(graph);
  if (g->executable) call_hip("hipGraphExecDestroy", g->executable);
  if (g->captured) call_hip("hipGraphDestroy", g->captured);
  delete g;
}

inline void* end_hip(void* stream) {
  auto* const g = new vendor_graph;
  void* const nothing = nullptr;
  const int ended = call_hip("hipStreamEndCapture", stream, &g->captured);
  const int made = ended == 0 ? call_hip("hipGraphInstantiate", &g->executable, g->captured,
                                         nothing, nothing, std::size_t{0})
                              : -1;
  return made_of(g, ended, made, destroy_hip);
}

inline int launch_hip(void* graph, void* stream) {
  return call_hip("hipGraphLaunch", static_cast<vendor_graph*>(graph)->executable, stream);
}

inline int invalidate_hip(void* stream) {
  return call_hip("hipStreamSynchronize", stream) == 0;
}

inline constexpr calls of_hip{begin_hip, end_hip, launch_hip, destroy_hip, invalidate_hip};

/// Of the vendor whose driver is loaded: streams of the HIP back end over CUDA are CUDA's.
inline const calls* of_vendor() {
  return cuda_driver::loaded() ? &of_cuda : &of_hip;
}

}  // namespace graphs
