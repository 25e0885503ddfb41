// SPDX-License-Identifier: BSD-3-Clause
// A graph: work that a stream of the emulated device has recorded in place of running it (a
// capture). Streams can run it as often as wanted. As on GPUs, a graph keeps the objects that were
// given to it until it is destroyed and every run of it has ended.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "device/emu/errors.hpp"

namespace telpher::device::emu {

class stream_state;

class graph_state : public std::enable_shared_from_this<graph_state> {
 public:
  ~graph_state();
  void add(std::function<void()> work) { work_.push_back(std::move(work)); }
  void keep(void* object, void (*release)(void*)) { kept_.push_back({object, release}); }
  error launch(stream_state& in) noexcept;

 private:
  struct kept {
    void* object;
    void (*release)(void*);
  };
  std::vector<std::function<void()>> work_;
  std::vector<kept> kept_;
};

}  // namespace telpher::device::emu
