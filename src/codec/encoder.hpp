// SPDX-License-Identifier: BSD-3-Clause
// coder::encode for one message, in pooled memory.
#pragma once

#include "codec/codec.hpp"
#include "memory/memory.hpp"

namespace telpher::codec {

class encoder {
 public:
  struct result_of {
    memory::buffer data;  // device memory
    std::size_t bytes;
    std::optional<int> error_exponent;
  };
  encoder(const memory::place& where, const plan& p) noexcept : where_(where), plan_(p) {}

  status start(const void* from, device::stream s) noexcept;
  /// To be called when the stream has completed the work of start().
  result_of finish() noexcept;

 private:
  memory::place where_;
  plan plan_;
  memory::buffer output_, workspace_, report_;
};

}  // namespace telpher::codec
