// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"

namespace telpher::kernel {

template <class W>
TELPHER_DEVICE void add_word_body(W w, const add_word& p) {
  if (w.block() == 0 && w.id() == 0) add_release_system(resolve(p.word), p.value);
}

}  // namespace telpher::kernel
