// SPDX-License-Identifier: BSD-3-Clause
#include "device/emu/capture.hpp"

#include <utility>

#include "device/emu/streams.hpp"

using namespace telpher::device::emu;
using graph_handle = std::shared_ptr<graph_state>;

int telpher_emu_begin_capture(void* stream) {
  const auto s = streams::find_stream(stream);
  return s && s->begin_capture() ? 0 : 1;
}

void* telpher_emu_end_capture(void* stream) {
  const auto s = streams::find_stream(stream);
  graph_handle captured = s ? s->end_capture() : nullptr;
  return captured ? new graph_handle(std::move(captured)) : nullptr;
}

int telpher_emu_invalidate_capture(void* stream) {
  const auto s = streams::find_stream(stream);
  return s && s->invalidate_capture() ? 0 : 1;
}

int telpher_emu_launch_graph(void* graph, void* stream) {
  const auto s = streams::find_stream(stream);
  return s && (*static_cast<graph_handle*>(graph))->launch(*s) == error::success ? 0 : 1;
}

void telpher_emu_destroy_graph(void* graph) {
  delete static_cast<graph_handle*>(graph);
}
