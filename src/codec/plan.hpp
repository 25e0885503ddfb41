// SPDX-License-Identifier: BSD-3-Clause
// How one message is compressed: trivially copyable data that travels in a ticket and that the
// receiver checks. A plan names no memory; codec.hpp executes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace telpher::codec {

enum class method : std::uint8_t {
  none = 0,
  zfp,  // lossy, fixed rate: the size is known in advance
  mpc,  // lossless: the size is known afterwards
};
const char* to_string(method m) noexcept;

/// The element type of a message, as the codecs see it.
enum class element : std::uint8_t { none = 0, f32, f64, word32, word64 };
constexpr std::size_t size_of(element e) noexcept {
  return e == element::f32 || e == element::word32 ? 4 : e == element::none ? 0 : 8;
}

struct choice;

struct plan {
  method how = method::none;
  element kind = element::none;
  std::uint8_t dims = 1;  // for zfp
  std::uint8_t unused = 0;
  std::uint32_t detail = 0;             // zfp: bits per block; mpc: distance to the predicting word
  std::uint64_t extent[3] = {1, 1, 1};  // in elements; their product is the number of elements

  explicit operator bool() const noexcept { return how != method::none; }
};
static_assert(std::is_trivially_copyable_v<plan> && sizeof(plan) == 32);

/// The plan to compress `bytes` of elements by a choice. Method none if that is impossible or would
/// not save bytes.
plan plan_for(const choice& c, element kind, std::size_t bytes) noexcept;

/// The message's size before compression, and the largest size after it. For zfp the latter is
/// exact.
std::size_t plain_bytes(const plan& p) noexcept;
std::size_t most_bytes(const plan& p) noexcept;

/// The number of zfp's blocks or mpc's chunks.
std::uint64_t pieces(const plan& p) noexcept;

/// Whether a plan from another process is valid for these sizes before and after compression, and
/// this build can execute it.
bool sound(const plan& p, std::size_t plain, std::size_t coded) noexcept;

}  // namespace telpher::codec
