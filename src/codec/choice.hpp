// SPDX-License-Identifier: BSD-3-Clause
// Which codec a user wants, from the setting TELPHER_COMPRESSION or the communicator info key
// `telpher_compression`. The text is a list of entries with ';' between them, each for one kind of
// element or, without a name in front, for all that the codec can take:
//
//   off                                  nothing is compressed
//   zfp:rate=8                           float and double, 8 bits a value
//   zfp:rate=8,nx=512,ny=512             as an array with rows of 512 and planes of 512 rows
//   mpc:stride=3                         every type of 4 or 8 bytes, predicted by the third before
//   float=zfp:rate=8;double=mpc          by type; `other` are the integers
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codec/plan.hpp"

namespace telpher::codec {

struct choice {
  method how = method::none;
  double rate = 16;          // zfp: bits of one value
  std::uint64_t row = 0;     // zfp: values of a row; 0: one dimension
  std::uint64_t column = 0;  // zfp: rows of a plane; 0: two dimensions
  std::uint32_t stride = 1;  // mpc
};

struct choices {
  choice f32, f64, other;

  const choice& of(element kind) const noexcept {
    return kind == element::f32 ? f32 : kind == element::f64 ? f64 : other;
  }
  bool any() const noexcept {
    return f32.how != method::none || f64.how != method::none || other.how != method::none;
  }
};

/// Equal for equal choices, and hardly ever for others.
std::uint64_t fingerprint(const choices& c) noexcept;

/// Reads such a text. Gives "" or what is wrong with it, and leaves `out` alone then.
std::string parse(std::string_view text, choices& out);

/// What TELPHER_COMPRESSION says, read at the first call; a text that is wrong is logged as an
/// error and compresses nothing.
const choices& configured() noexcept;

}  // namespace telpher::codec
