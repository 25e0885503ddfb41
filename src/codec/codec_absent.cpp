// SPDX-License-Identifier: BSD-3-Clause
// Used in builds without codecs (TELPHER_CODECS=OFF).
#include "codec/codec.hpp"

namespace telpher::codec {

const coder* the_coder() noexcept {
  return nullptr;
}

}  // namespace telpher::codec
