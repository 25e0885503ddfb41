// SPDX-License-Identifier: BSD-3-Clause
// zfp_encode and zfp_decode: between arrays of one, two or three dimensions and fixed-rate ZFP
// streams. One work item codes a block of 4^d values (parameters in kernel.hpp). The streams are
// bit for bit those of libzfp for the same array and rate, with one exception. Blocks of tiny
// values (below 2^-98 for float, 2^-962 for double) overflow libzfp's scale factor; they are coded
// here as the format says.
//
// A tile has as many blocks as a thread block has work items, a multiple of 32. So every tile
// starts at a whole 32-bit word of the stream, and no two thread blocks share a word.
// Synchronisation: a tile's words are zeroed, then written by all work items, then copied out. A
// barrier separates these steps, and the last one from the next tile.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"
#include "kernel/zfp_format.hpp"
#include "kernel/zfp_planes.hpp"

namespace telpher::kernel::zfp {

// --- a block's position in its array ---

struct block_place {
  std::uint64_t first;  // index of the block's first value
  unsigned extent[3];   // how much of it lies inside the array, 1 to 4; 1 for missing dimensions
};

TELPHER_DEVICE void divide(std::uint64_t& number, std::uint64_t by, std::uint64_t& rest) {
  if ((number | by) >> 32 == 0) {  // many times faster on GPUs
    const auto small = static_cast<std::uint32_t>(number);
    const auto divisor = static_cast<std::uint32_t>(by);
    number = small / divisor;
    rest = small % divisor;
  } else {
    rest = number % by;
    number /= by;
  }
}

TELPHER_DEVICE unsigned inside(std::uint64_t extent, std::uint64_t from) {
  return extent - from < 4 ? static_cast<unsigned>(extent - from) : 4;
}

template <int dims>
TELPHER_DEVICE block_place place_block(const zfp_array& a, std::uint64_t block) {
  if constexpr (dims == 1) return {4 * block, {inside(a.extent[0], 4 * block), 1, 1}};
  std::uint64_t x = 0, y = 0, rest = block;
  divide(rest, (a.extent[0] + 3) / 4, x);
  if constexpr (dims == 2) {
    return {4 * (rest * a.extent[0] + x),
            {inside(a.extent[0], 4 * x), inside(a.extent[1], 4 * rest), 1}};
  }
  divide(rest, (a.extent[1] + 3) / 4, y);
  return {4 * ((rest * a.extent[1] + y) * a.extent[0] + x),
          {inside(a.extent[0], 4 * x), inside(a.extent[1], 4 * y), inside(a.extent[2], 4 * rest)}};
}

/// The index of the value that replaces a missing one. The format repeats the last value, except
/// that the fourth value repeats the first.
TELPHER_DEVICE unsigned present(unsigned i, unsigned extent) {
  return i < extent ? i : i == 2 ? extent - 1 : 0;
}

template <class S>
struct alignas(16) quad {
  S value[4];
};

template <class S>
TELPHER_DEVICE bool is_aligned(const S* at) {
  return reinterpret_cast<std::uintptr_t>(at) % alignof(quad<S>) == 0;
}

/// Loads one row of four values, in wide accesses if the address allows.
template <class S>
TELPHER_DEVICE void load_row(const S* from, S* v) {
  if (is_aligned(from)) {
    const quad<S> q = *reinterpret_cast<const quad<S>*>(from);
    TELPHER_UNROLL
    for (unsigned i = 0; i < 4; ++i) v[i] = q.value[i];
  } else {
    TELPHER_UNROLL
    for (unsigned i = 0; i < 4; ++i) v[i] = from[i];
  }
}

template <class S>
TELPHER_DEVICE void store_row(S* to, const S* v) {
  if (is_aligned(to)) {
    *reinterpret_cast<quad<S>*>(to) = {{v[0], v[1], v[2], v[3]}};
  } else {
    TELPHER_UNROLL
    for (unsigned i = 0; i < 4; ++i) to[i] = v[i];
  }
}

template <int dims>
TELPHER_DEVICE bool is_full(const block_place& p) {
  return p.extent[0] == 4 && (dims < 2 || p.extent[1] == 4) && (dims < 3 || p.extent[2] == 4);
}

template <class S, int dims>
TELPHER_DEVICE void gather(const zfp_array& a, const block_place& p, const S* values, S* v) {
  const bool full = is_full<dims>(p);
  TELPHER_UNROLL
  for (unsigned row = 0; row < block_values(dims) / 4; ++row) {
    const std::uint64_t y = full ? row % 4 : present(row % 4, p.extent[1]);
    const std::uint64_t z = full ? row / 4 : present(row / 4, p.extent[2]);
    const S* from = values + p.first + (z * a.extent[1] + y) * a.extent[0];
    if (full) {
      load_row(from, v + 4 * row);
    } else {
      TELPHER_UNROLL
      for (unsigned x = 0; x < 4; ++x) v[4 * row + x] = from[present(x, p.extent[0])];
    }
  }
}

template <class S, int dims>
TELPHER_DEVICE void scatter(const zfp_array& a, const block_place& p, const S* v, S* values) {
  const bool full = is_full<dims>(p);
  TELPHER_UNROLL
  for (unsigned row = 0; row < block_values(dims) / 4; ++row) {
    const std::uint64_t y = row % 4, z = row / 4;
    S* to = values + p.first + (z * a.extent[1] + y) * a.extent[0];
    if (full) {
      store_row(to, v + 4 * row);
    } else if (y < p.extent[1] && z < p.extent[2]) {
      TELPHER_UNROLL
      for (unsigned x = 0; x < 4; ++x)
        if (x < p.extent[0]) to[x] = v[4 * row + x];
    }
  }
}

// --- one block ---

/// Encodes a block. Returns the exponent of the error bound (kernel.hpp), 0 if nothing is lost.
template <class S, int dims>
TELPHER_DEVICE std::uint32_t encode_block(const S* v, bit_sink& out) {
  using U = word_of<S>;
  constexpr unsigned values = block_values(dims);
  U largest = 0;
  TELPHER_UNROLL
  for (unsigned i = 0; i < values; ++i) {
    const U m = magnitude(v[i]);
    largest = m > largest ? m : largest;
  }
  const unsigned field = exponent_field<S>(largest);
  if (field == 0) return 0;
  const int e = static_cast<int>(field) - scalar<S>::bias;
  out.put(2 * std::uint64_t{field} + 1, 1 + scalar<S>::exponent_bits);
  U u[values];
  TELPHER_UNROLL
  for (unsigned i = 0; i < values; ++i) u[i] = to_fixed(v[i], e);
  transform<dims>(u);
  U ordered[values];
  TELPHER_UNROLL
  for (unsigned i = 0; i < values; ++i) ordered[i] = to_negabinary(u[place_of<dims>(i)]);
  turn_planes<U, values>(ordered);
  const unsigned lowest = width<U> - planes_of<S, dims>(e);
  const unsigned whole = encode_planes<U, values>(out, ordered, lowest);
  // The error of the missing planes, or the rounding to the type if that is larger.
  const int cut = e + 2 * (dims + 1) - static_cast<int>(whole);
  const int rounding = e - scalar<S>::mantissa_bits;
  return static_cast<std::uint32_t>((cut > rounding ? cut : rounding) + 1 +
                                    zfp_array::exponent_zero);
}

template <class S, int dims>
TELPHER_DEVICE void decode_block(bit_source& in, S* v) {
  using U = word_of<S>;
  constexpr unsigned values = block_values(dims);
  const auto header = static_cast<unsigned>(in.take(1 + scalar<S>::exponent_bits));
  if ((header & 1) == 0) {
    TELPHER_UNROLL
    for (unsigned i = 0; i < values; ++i) v[i] = 0;
    return;
  }
  const int e = static_cast<int>(header / 2) - scalar<S>::bias;
  U ordered[values];
  decode_planes<U, values>(in, ordered, width<U> - planes_of<S, dims>(e));
  turn_planes<U, values>(ordered);
  U u[values];
  TELPHER_UNROLL
  for (unsigned i = 0; i < values; ++i) u[place_of<dims>(i)] = from_negabinary(ordered[i]);
  untransform<dims>(u);
  TELPHER_UNROLL
  for (unsigned i = 0; i < values; ++i) v[i] = from_fixed<S>(u[i], e);
}

// --- the array, tile by tile ---

template <class S, int dims>
struct tile_of {
  static constexpr unsigned blocks = zfp_array::threads_for(dims);
  static constexpr unsigned most_words = blocks * block_values(dims) * sizeof(S) / 4;
  static constexpr unsigned room = spread_size(most_words + 2);
};

/// The number of words of a tile of `tile_words` at word `first`, at most up to the end of the
/// stream.
TELPHER_DEVICE unsigned words_here(const zfp_array& a, std::uint64_t first, unsigned tile_words) {
  const std::uint64_t rest = zfp_array::stream_words(a.blocks, a.block_bits) - first;
  return rest < tile_words ? static_cast<unsigned>(rest) : tile_words;
}

template <class S, int dims, class W>
TELPHER_DEVICE void encode(W w, const zfp_array& a) {
  using tile = tile_of<S, dims>;
  TELPHER_SHARED(std::uint32_t, words, [tile::room]);
  TELPHER_SHARED(std::uint32_t, worst);
  const S* values = resolve(static_cast<const S*>(a.values));
  std::uint32_t* stream = resolve(a.stream);
  const unsigned tile_words = tile::blocks / 32 * a.block_bits;
  std::uint32_t mine = 0;
  if (w.id() == 0) worst = 0;
  for (std::uint64_t t = w.block(); t * tile::blocks < a.blocks; t += w.blocks()) {
    for (unsigned i = w.id(); i < spread_size(tile_words); i += w.size()) words[i] = 0;
    w.barrier();
    for (unsigned in_tile = w.id(); in_tile < tile::blocks; in_tile += w.size()) {
      const std::uint64_t block = t * tile::blocks + in_tile;
      if (block >= a.blocks) break;
      S v[block_values(dims)];
      gather<S, dims>(a, place_block<dims>(a, block), values, v);
      bit_sink out(words, in_tile * a.block_bits, a.block_bits);
      const std::uint32_t bound = encode_block<S, dims>(v, out);
      out.finish();
      mine = bound > mine ? bound : mine;
    }
    w.barrier();
    const std::uint64_t first = t * tile_words;
    const unsigned count = words_here(a, first, tile_words);
    for (unsigned i = w.id(); i < count; i += w.size()) stream[first + i] = words[spread(i)];
    w.barrier();
  }
  if (mine != 0) raise_shared(&worst, mine);
  w.barrier();
  if (w.id() == 0 && a.worst != nullptr && worst != 0) raise_device(resolve(a.worst), worst);
}

template <class S, int dims, class W>
TELPHER_DEVICE void decode(W w, const zfp_array& a) {
  using tile = tile_of<S, dims>;
  TELPHER_SHARED(std::uint32_t, words, [tile::room]);
  S* values = resolve(static_cast<S*>(a.values));
  const std::uint32_t* stream = resolve(a.stream);
  const unsigned tile_words = tile::blocks / 32 * a.block_bits;
  for (std::uint64_t t = w.block(); t * tile::blocks < a.blocks; t += w.blocks()) {
    const std::uint64_t first = t * tile_words;
    const unsigned count = words_here(a, first, tile_words);
    for (unsigned i = w.id(); i < tile_words + 2; i += w.size())
      words[spread(i)] = i < count ? stream[first + i] : 0;
    w.barrier();
    for (unsigned in_tile = w.id(); in_tile < tile::blocks; in_tile += w.size()) {
      const std::uint64_t block = t * tile::blocks + in_tile;
      if (block >= a.blocks) break;
      bit_source in(words, in_tile * a.block_bits, a.block_bits);
      S v[block_values(dims)];
      decode_block<S, dims>(in, v);
      scatter<S, dims>(a, place_block<dims>(a, block), v, values);
    }
    w.barrier();
  }
}

}  // namespace telpher::kernel::zfp

namespace telpher::kernel {

#define TELPHER_ZFP(name, type, dims)                                             \
  template <class W>                                                              \
  TELPHER_DEVICE void zfp_encode_##name##_body(W w, const zfp_encode_##name& p) { \
    zfp::encode<type, dims>(w, p);                                                \
  }                                                                               \
  template <class W>                                                              \
  TELPHER_DEVICE void zfp_decode_##name##_body(W w, const zfp_decode_##name& p) { \
    zfp::decode<type, dims>(w, p);                                                \
  }
#include "kernel/zfp.def"
#undef TELPHER_ZFP

}  // namespace telpher::kernel
