// SPDX-License-Identifier: BSD-3-Clause
// The codec that a user wants, from the setting TELPHER_COMPRESSION or the communicator info key
// `telpher_compression`. The text is a list of entries separated by ';'. Each entry is for one kind
// of element or, without a name in front, for all that the codec supports:
//
//   off                                  nothing is compressed
//   zfp:rate=8                           float and double, 8 bits a value
//   zfp:rate=8,nx=512,ny=512             as an array with rows of 512 and planes of 512 rows
//   mpc:stride=3                         every type of 4 or 8 bytes; each value is predicted by the
//                                        third one before it
//   float=zfp:rate=8;double=mpc          by type; `other` are the integers
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codec/plan.hpp"

namespace telpher::codec {

struct choice {
  method how = method::none;
  double rate = 16;          // zfp: bits per value
  std::uint64_t row = 0;     // zfp: values per row; 0: one dimension
  std::uint64_t column = 0;  // zfp: rows per plane; 0: two dimensions
  std::uint32_t stride = 1;  // mpc
};

struct choices {
  choice f32, f64, other;

  const choice& for_kind(element kind) const noexcept {
    return kind == element::f32 ? f32 : kind == element::f64 ? f64 : other;
  }
  bool any() const noexcept {
    return f32.how != method::none || f64.how != method::none || other.how != method::none;
  }
};

/// Equal for equal choices; differs for others with high probability.
std::uint64_t fingerprint(const choices& c) noexcept;

/// Parses such a text. Returns "", or what is wrong with it; then `out` is unchanged. In a build
/// without codecs all but `off` is wrong.
std::string parse(std::string_view text, choices& out);

/// The choices of TELPHER_COMPRESSION, read at the first call. An invalid text is logged as an
/// error, and nothing is compressed.
const choices& configured() noexcept;

}  // namespace telpher::codec
