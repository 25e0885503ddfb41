// SPDX-License-Identifier: BSD-3-Clause
// graph_hold: an operation of MPI's in a graph (stream/proxy.hpp), where graphs can hold no writes
// of words and no waits for them. It says that the stream is there, waits until the operation is
// over, and takes that word back for the next replay. One block.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"

namespace telpher::kernel {

template <class W>
TELPHER_DEVICE void graph_hold_body(W w, const graph_hold& p) {
  if (w.id() != 0) return;
  std::uint32_t* const over = resolve(p.over);
  store_release_system(resolve(p.reached), 1);
  while (load_acquire_system(over) == 0) relax();
  store_release_system(over, 0);
}

}  // namespace telpher::kernel
