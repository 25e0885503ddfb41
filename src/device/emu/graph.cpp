// SPDX-License-Identifier: BSD-3-Clause
#include "device/emu/graph.hpp"

#include "device/emu/streams.hpp"

namespace telpher::device::emu {

graph_state::~graph_state() {
  for (const kept& k : kept_) k.release(k.object);
}

error graph_state::launch(stream_state& in) noexcept {
  for (const auto& one : work_) {
    const error e = in.enqueue([&one, self = shared_from_this()] { one(); });
    if (e != error::success) return e;
  }
  return error::success;
}

}  // namespace telpher::device::emu
