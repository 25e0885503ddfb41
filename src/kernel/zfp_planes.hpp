// SPDX-License-Identifier: BSD-3-Clause
// ZFP's embedded coding of bit planes, with a budget of bits for each block. Planes are coded from
// the highest on. A plane consists of the bits of the n coefficients that were significant before,
// unchanged. Then, while coefficients remain: a one and the run of zeros up to the next coefficient
// that becomes significant, or a zero if there is none. A block that exceeds its budget is cut off.
//
// The code works on words: a run is one shift and one write, whatever its length. The bits of a
// tile of blocks lie in shared memory and are copied to and from the stream together, so that
// neighbouring work items access neighbouring words.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/bits.hpp"

namespace telpher::kernel::zfp {

/// The position of word `w` of a tile. Blocks are powers of two apart; one spare word after every
/// 32 spreads them over the banks of shared memory.
TELPHER_DEVICE unsigned spread(unsigned w) {
  return w + w / 32;
}
TELPHER_BOTH constexpr unsigned spread_size(unsigned words) {
  return words + words / 32 + 1;
}

/// Writes the bits of one block into a zeroed tile. The block may share its first and last word
/// with its neighbours.
class bit_sink {
 public:
  TELPHER_DEVICE bit_sink(std::uint32_t* tile, std::uint32_t first_bit, unsigned budget)
      : tile_(tile),
        first_(first_bit / 32),
        word_(first_bit / 32),
        filled_(first_bit % 32),
        left_(budget) {}

  TELPHER_DEVICE unsigned left() const { return left_; }

  /// Writes the lowest `n` (at most 64) bits of x, or as many as the budget allows. The bits above
  /// them must be 0.
  TELPHER_DEVICE void put(std::uint64_t x, unsigned n) {
    if (n > left_) {
      n = left_;
      x = low_bits(x, n);
    }
    left_ -= n;
    pending_ |= x << filled_;
    const std::uint64_t beyond = filled_ != 0 ? x >> (64 - filled_) : 0;
    filled_ += n;
    if (filled_ >= 32) flush();
    if (filled_ >= 32) {
      pending_ |= beyond << 32;
      flush();
    }
    // Bits beyond 64 exist only if both words were written.
  }

  TELPHER_DEVICE void finish() {
    if (filled_ != 0) or_shared(tile_ + spread(word_), static_cast<std::uint32_t>(pending_));
  }

 private:
  TELPHER_DEVICE void flush() {
    std::uint32_t* at = tile_ + spread(word_);
    if (word_ == first_)
      or_shared(at, static_cast<std::uint32_t>(pending_));
    else
      *at = static_cast<std::uint32_t>(pending_);
    ++word_;
    pending_ >>= 32;
    filled_ -= 32;
  }

  std::uint32_t* tile_;
  unsigned first_;
  unsigned word_;
  unsigned filled_;  // bits of `pending_`, below 32 between calls
  unsigned left_;
  std::uint64_t pending_ = 0;
};

/// Reads the bits of one block from a tile. Two words after the tile's end must be readable.
class bit_source {
 public:
  TELPHER_DEVICE bit_source(const std::uint32_t* tile, std::uint32_t first_bit, unsigned budget)
      : tile_(tile), at_(first_bit), left_(budget) {}

  TELPHER_DEVICE unsigned left() const { return left_; }

  /// The next 64 bits; those beyond the budget are meaningless.
  TELPHER_DEVICE std::uint64_t peek() const {
    const unsigned word = at_ / 32;
    const unsigned shift = at_ % 32;
    const std::uint64_t low = tile_[spread(word)];
    const std::uint64_t middle = tile_[spread(word + 1)];
    const std::uint64_t high = tile_[spread(word + 2)];
    const std::uint64_t both = low | middle << 32;
    return shift == 0 ? both : both >> shift | high << (64 - shift);
  }
  TELPHER_DEVICE void skip(unsigned n) {
    at_ += n;
    left_ -= n;
  }
  TELPHER_DEVICE std::uint64_t take(unsigned n) {
    const std::uint64_t x = low_bits(peek(), n);
    skip(n);
    return x;
  }

 private:
  const std::uint32_t* tile_;
  std::uint32_t at_;
  unsigned left_;
};

/// Writes one plane. `n` is the number of significant coefficients, updated.
template <unsigned values>
TELPHER_DEVICE void encode_plane(bit_sink& out, std::uint64_t plane, unsigned& n) {
  out.put(low_bits(plane, n), n);
  std::uint64_t rest = n < 64 ? plane >> n : 0;
  while (n < values && out.left() != 0) {
    if (rest == 0) {
      out.put(0, 1);
      return;
    }
    const unsigned zeros = trailing_zeros(rest);
    // The last coefficient needs no one of its own: one more becomes significant, and only this one
    // is left.
    const bool last = n + zeros == values - 1;
    out.put(last ? 1 : 1 | std::uint64_t{2} << zeros, zeros + (last ? 1 : 2));
    n += zeros + 1;
    rest = rest >> zeros >> 1;
  }
}

template <unsigned values>
TELPHER_DEVICE std::uint64_t decode_plane(bit_source& in, unsigned& n) {
  std::uint64_t plane = in.take(n < in.left() ? n : in.left());
  while (n < values && in.left() != 0) {
    const std::uint64_t ahead = in.peek();
    if ((ahead & 1) == 0) {
      in.skip(1);
      break;
    }
    const unsigned room = values - 1 - n;
    const unsigned most = in.left() - 1 < room ? in.left() - 1 : room;
    const unsigned zeros = trailing_zeros(ahead >> 1 | std::uint64_t{1} << most);
    in.skip(1 + zeros + (zeros < most ? 1 : 0));
    n += zeros;
    plane |= std::uint64_t{1} << n;
    ++n;
  }
  return plane;
}

/// A block's words after transposition. Of W planes of `values` bits, word r holds planes r, r +
/// rows, ..., where rows = min(values, W). With more values than W, plane r is in words r and r +
/// W.
template <class U, unsigned values>
struct plane_layout {
  static constexpr unsigned bits = 8 * sizeof(U);
  static constexpr unsigned rows = values < bits ? values : bits;
  static constexpr unsigned halves = values / rows;  // 2 if there are 64 values of 32 bits
  static constexpr unsigned slices = bits / rows;
  // Unrolling 64 times takes compilers minutes; a loop that is not unrolled indexes its planes in
  // memory.
  static constexpr int unrolled = rows <= 32 ? static_cast<int>(rows) : 1;
  static_assert(halves <= 2);
};

template <class U, unsigned values>
TELPHER_DEVICE void turn_planes(U* u) {
  using layout = plane_layout<U, values>;
  TELPHER_UNROLL
  for (unsigned h = 0; h < layout::halves; ++h)
    transpose_bits<U, layout::rows>(u + h * layout::rows);
}

/// Encodes the planes of a transposed block, from the highest to `lowest`. Returns how many were
/// certainly written completely.
template <class U, unsigned values>
TELPHER_DEVICE unsigned encode_planes(bit_sink& out, const U* u, unsigned lowest) {
  using layout = plane_layout<U, values>;
  U words[values];
  TELPHER_UNROLL
  for (unsigned i = 0; i < values; ++i) words[i] = u[i];
  unsigned n = 0;
  unsigned whole = 0;
  for (unsigned slice = layout::slices; slice-- > 0;) {
    TELPHER_UNROLL_BY(layout::unrolled)
    for (unsigned r = layout::rows; r-- > 0;) {
      if (out.left() == 0 || slice * layout::rows + r < lowest) return whole;
      std::uint64_t plane = words[r] >> (slice * layout::rows);
      if constexpr (layout::slices > 1) plane = low_bits(plane, values);
      if constexpr (layout::halves > 1)
        plane |= std::uint64_t{words[layout::rows + r]} << layout::rows;
      encode_plane<values>(out, plane, n);
      whole += out.left() != 0;
    }
  }
  return whole;
}

template <class U, unsigned values>
TELPHER_DEVICE void read_planes(bit_source& in, U* words, unsigned lowest) {
  using layout = plane_layout<U, values>;
  unsigned n = 0;
  for (unsigned slice = layout::slices; slice-- > 0;) {
    TELPHER_UNROLL_BY(layout::unrolled)
    for (unsigned r = layout::rows; r-- > 0;) {
      if (in.left() == 0 || slice * layout::rows + r < lowest) return;
      const std::uint64_t plane = decode_plane<values>(in, n);
      words[r] |= static_cast<U>(plane) << (slice * layout::rows);
      if constexpr (layout::halves > 1)
        words[layout::rows + r] |= static_cast<U>(plane >> layout::rows);
    }
  }
}

template <class U, unsigned values>
TELPHER_DEVICE void decode_planes(bit_source& in, U* u, unsigned lowest) {
  U words[values];
  TELPHER_UNROLL
  for (unsigned i = 0; i < values; ++i) words[i] = 0;
  read_planes<U, values>(in, words, lowest);
  TELPHER_UNROLL
  for (unsigned i = 0; i < values; ++i) u[i] = words[i];
}

}  // namespace telpher::kernel::zfp
