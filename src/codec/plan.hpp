// SPDX-License-Identifier: BSD-3-Clause
// What is to be done to one message: plain data that travels in a ticket and that a receiver can
// check. A plan says nothing about memory; codec.hpp carries it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace telpher::codec {

enum class method : std::uint8_t {
  none = 0,
  zfp,  // lossy, of fixed rate: the size is known beforehand
  mpc,  // lossless: the size is known when it is done
};
const char* to_string(method m) noexcept;

/// What a message consists of, as the codecs see it.
enum class element : std::uint8_t { none = 0, f32, f64, word32, word64 };
constexpr std::size_t size_of(element e) noexcept {
  return e == element::f32 || e == element::word32 ? 4 : e == element::none ? 0 : 8;
}

struct choice;

struct plan {
  method how = method::none;
  element kind = element::none;
  std::uint8_t dims = 1;  // of zfp
  std::uint8_t unused = 0;
  std::uint32_t detail = 0;  // zfp: bits of a block; mpc: distance of the predicting word
  std::uint64_t extent[3] = {1, 1, 1};  // elements; the product is all of them

  explicit operator bool() const noexcept { return how != method::none; }
};
static_assert(std::is_trivially_copyable_v<plan> && sizeof(plan) == 32);

/// How `bytes` of elements are compressed by a choice; method none if they cannot be, or not to
/// fewer bytes.
plan plan_for(const choice& c, element kind, std::size_t bytes) noexcept;

/// The message's bytes before, and the most after compression. For zfp the latter is exact.
std::size_t plain_bytes(const plan& p) noexcept;
std::size_t most_bytes(const plan& p) noexcept;

/// Blocks of zfp, chunks of mpc.
std::uint64_t pieces(const plan& p) noexcept;

/// Whether a plan that came from elsewhere can be carried out for that many bytes before and after.
bool sound(const plan& p, std::size_t plain, std::size_t coded) noexcept;

}  // namespace telpher::codec
