// SPDX-License-Identifier: BSD-3-Clause
#include "codec/plan.hpp"

#include <algorithm>
#include <cmath>

#include "codec/choice.hpp"
#include "codec/codec.hpp"
#include "kernel/kernel.hpp"

namespace telpher::codec {
namespace {

using kernel::mpc_stream;
using kernel::zfp_array;

constexpr std::uint32_t header_bits(element kind) {
  return kind == element::f32 ? 9 : 12;
}

std::uint32_t values_of_block(const plan& p) {
  return 1u << (2 * p.dims);
}

// Uses the rows and planes of the choice if they divide the message, else one dimension.
void shape(const choice& c, std::uint64_t count, plan& p) {
  p.extent[0] = count;
  if (c.row == 0 || count % c.row != 0) return;
  const std::uint64_t rows = count / c.row;
  p.dims = 2;
  p.extent[0] = c.row;
  p.extent[1] = rows;
  if (c.column == 0 || rows % c.column != 0) return;
  p.dims = 3;
  p.extent[1] = c.column;
  p.extent[2] = rows / c.column;
}

std::size_t offsets_bytes(std::uint64_t chunks) {
  return (chunks + 2) / 2 * 8;  // + 2: the payload after them is aligned to 8 bytes
}

}  // namespace

const char* to_string(method m) noexcept {
  return m == method::zfp ? "zfp" : m == method::mpc ? "mpc" : "none";
}

plan plan_for(const choice& c, element kind, std::size_t bytes) noexcept {
  plan p;
  if (c.how == method::none || kind == element::none || bytes == 0 || bytes % size_of(kind) != 0)
    return {};
  const std::uint64_t count = bytes / size_of(kind);
  p.how = c.how;
  p.kind = kind;
  if (c.how == method::mpc) {
    p.extent[0] = count;
    p.detail = c.stride;
    return pieces(p) < 0xffffffffu / mpc_stream::slot_words ? p : plan{};
  }
  if (kind != element::f32 && kind != element::f64) return {};
  shape(c, count, p);
  const double bits = std::floor(values_of_block(p) * c.rate + 0.5);
  p.detail = std::max(static_cast<std::uint32_t>(bits), header_bits(kind));
  return sound(p, bytes, most_bytes(p)) && most_bytes(p) < bytes ? p : plan{};
}

std::uint64_t pieces(const plan& p) noexcept {
  if (p.how == method::mpc)
    return (plain_bytes(p) + mpc_stream::chunk_bytes - 1) / mpc_stream::chunk_bytes;
  std::uint64_t blocks = 1;
  for (int d = 0; d < p.dims; ++d) blocks *= (p.extent[d] + 3) / 4;
  return blocks;
}

std::size_t plain_bytes(const plan& p) noexcept {
  return p.extent[0] * p.extent[1] * p.extent[2] * size_of(p.kind);
}

std::size_t most_bytes(const plan& p) noexcept {
  if (p.how == method::zfp) return zfp_array::stream_words(pieces(p), p.detail) * 4;
  return offsets_bytes(pieces(p)) + pieces(p) * mpc_stream::slot_words * 4;
}

bool sound(const plan& p, std::size_t plain, std::size_t coded) noexcept {
  if (!the_coder()) return false;
  if (size_of(p.kind) == 0 || p.kind > element::word64 || p.dims < 1 || p.dims > 3) return false;
  std::uint64_t count = 1;
  for (int d = 0; d < 3; ++d) {
    if (p.extent[d] == 0 || (d >= p.dims && p.extent[d] != 1)) return false;
    if (__builtin_mul_overflow(count, p.extent[d], &count)) return false;
  }
  if (plain % size_of(p.kind) != 0 || count != plain / size_of(p.kind)) return false;
  if (p.how == method::zfp) {
    const bool floating = p.kind == element::f32 || p.kind == element::f64;
    const std::uint32_t most = values_of_block(p) * 8 * static_cast<std::uint32_t>(size_of(p.kind));
    return floating && p.detail >= header_bits(p.kind) && p.detail <= most &&
           coded == most_bytes(p);
  }
  return p.how == method::mpc && p.dims == 1 && p.detail >= 1 && coded % 4 == 0 &&
         coded >= offsets_bytes(pieces(p)) && coded <= most_bytes(p);
}

}  // namespace telpher::codec
