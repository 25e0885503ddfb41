// SPDX-License-Identifier: BSD-3-Clause
// Graphs of the back end in use.
#pragma once

#include <string>

#include "emulated.hpp"
#include "graph.hpp"

namespace mpi_test {

/// Null where there is no way to capture.
inline const graphs::calls* graph_calls() {
  static const graphs::calls of_emu{emulated<int(void*)>("telpher_emu_begin_capture"),
                                    emulated<void*(void*)>("telpher_emu_end_capture"),
                                    emulated<int(void*, void*)>("telpher_emu_launch_graph"),
                                    emulated<void(void*)>("telpher_emu_destroy_graph"),
                                    emulated<int(void*)>("telpher_emu_invalidate_capture")};
  const std::string name = backend_name();
  return name == "emu" ? &of_emu : name == "sycl" ? nullptr : graphs::of_vendor();
}

class graph : public graphs::graph {
 public:
  explicit graph(void* stream) : graphs::graph(*graph_calls(), stream) {}
};

}  // namespace mpi_test
