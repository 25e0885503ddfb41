// SPDX-License-Identifier: BSD-3-Clause
// A kernel with several threads per block against the same kernel with one.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "block_of_threads.hpp"
#include "check.hpp"
#include "kernel/cpu.hpp"

namespace kernel = telpher::kernel;
using kernel::id;

using bytes = std::vector<std::uint8_t>;

inline bytes noise(std::size_t size, unsigned seed) {
  std::minstd_rand random(seed);
  bytes made(size);
  for (auto& b : made) b = static_cast<std::uint8_t>(random() >> 8);
  return made;
}

template <class T>
bytes bytes_of(const std::vector<T>& values) {
  bytes out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

/// A Trial has memory with the same content each time, `parameters` for it, `blocks()`, and
/// result(): what a launch leaves in that memory.
template <class Trial, class Body>
void same_as_one_item(id k, const char* name, Body body) {
  for (const unsigned items : {2u, 5u, 8u})
    for (unsigned variant = 0; variant < Trial::variants; ++variant) {
      Trial expected(variant), got(variant);
      for (unsigned b = 0; b < expected.blocks(); ++b)
        kernel::cpu_kernel_of(k).run_block(&expected.parameters, b, expected.blocks());
      block_of_threads::run([&](block_of_threads::work w) { body(w, got.parameters); },
                            got.blocks(), items);
      if (expected.result() != got.result())
        check::fail(__FILE__, __LINE__,
                    std::string(name) + " with " + std::to_string(items) + " items, variant " +
                        std::to_string(variant));
    }
}
