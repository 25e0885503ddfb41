// SPDX-License-Identifier: BSD-3-Clause
// The exchange kernel for languages whose kernels may not wait (SYCL). It runs programs that
// consist of reductions of plain memory, in the encoding of exchange.hpp. Leaving out the other
// steps saves most of the run-time compiler's time.
#pragma once

#include "kernel/exchange.hpp"

namespace telpher::kernel {

template <class Op, class T, class W>
TELPHER_DEVICE void run_reductions(W w, const exchange& p) {
  const std::uint64_t* code = p.long_code ? resolve(p.long_code) : p.code;
  for (std::uint32_t at = 0; at < p.code_words;) {
    const std::uint64_t* step = code + at;
    reduce_plain<Op, T>(w, operands_of(step), slice_of(step[1], w.block(), w.blocks()));
    w.barrier();
    at += words_of(step);
  }
  end_exchange(w, p, p.done_value);
}

}  // namespace telpher::kernel
