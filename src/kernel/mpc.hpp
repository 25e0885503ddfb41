// SPDX-License-Identifier: BSD-3-Clause
// A lossless codec after MPC (A. Yang, H. Mukka, F. Hesaaraki, M. Burtscher, "MPC: A Massively
// Parallel Compression Algorithm for Scientific Data", IEEE CLUSTER 2015). Each word is predicted
// by the word `stride` before it. The differences are folded, so that small ones of either sign
// have leading zeros. Groups of words are transposed bit by bit, and words of zeros are left out.
//
// Each chunk of 4 KiB is coded separately: one mask word for each 32 words, which says which of
// them are present, then those words. Encoding takes three launches. mpc_encode writes every chunk
// to a slot of its own and its size to `offsets`. mpc_place (one block) turns sizes into offsets.
// mpc_gather moves the chunks together. The stream is `offsets` followed by the payload, so
// mpc_decode finds all chunks at once. Decoding never reads outside the stream, whatever the stream
// contains.
//
// Synchronisation: a thread block has one chunk in shared memory. Each step reads what the whole
// block wrote in the step before, after a barrier.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/bits.hpp"
#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel::mpc {

template <class U>
constexpr unsigned chunk_words = mpc_stream::chunk_bytes / sizeof(U);
template <class U>
constexpr unsigned masks = chunk_words<U> / 32;

/// Maps small differences of either sign to small numbers, and back.
template <class U>
TELPHER_DEVICE U fold(U difference) {
  constexpr unsigned top = 8 * sizeof(U) - 1;
  return difference << 1 ^ (U{0} - (difference >> top));
}
template <class U>
TELPHER_DEVICE U unfold(U folded) {
  return folded >> 1 ^ (U{0} - (folded & 1));
}

/// Transposes every group of W words of the chunk, by exchanging bits of two words at a time.
template <class U, unsigned width, class W>
TELPHER_DEVICE void transpose_chunk(W w, U* chunk) {
  constexpr U mask = stripes<U>(width);
  for (unsigned pair = w.id(); pair < chunk_words<U> / 2; pair += w.size()) {
    const unsigned upper = pair / width * 2 * width + pair % width;
    exchange_corners(chunk[upper], chunk[upper + width], width, mask);
  }
  w.barrier();
  if constexpr (width > 1) transpose_chunk<U, width / 2>(w, chunk);
}

/// first[m]: the number of words present before those of mask m.
template <class U, class W>
TELPHER_DEVICE void count_before(W w, const std::uint32_t* mask, std::uint32_t* first) {
  for (unsigned m = w.id(); m <= masks<U>; m += w.size()) {
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < m; ++i) sum += ones(mask[i]);
    first[m] = sum;
  }
  w.barrier();
}

TELPHER_DEVICE unsigned rank_of(const std::uint32_t* mask, const std::uint32_t* first, unsigned i) {
  return first[i / 32] + ones(low_bits(mask[i / 32], i % 32));
}

template <class U, class W>
TELPHER_DEVICE void encode(W w, const mpc_stream& p) {
  constexpr unsigned words = chunk_words<U>;
  TELPHER_SHARED(U, chunk, [words]);
  TELPHER_SHARED(std::uint32_t, mask, [masks<U>]);
  TELPHER_SHARED(std::uint32_t, first, [masks<U> + 1]);
  const U* values = resolve(static_cast<const U*>(p.values));
  for (std::uint64_t c = w.block(); c < p.chunks; c += w.blocks()) {
    for (unsigned i = w.id(); i < words; i += w.size()) {
      const std::uint64_t at = c * words + i;
      const U before = i >= p.stride && at < p.words ? values[at - p.stride] : 0;
      chunk[i] = at < p.words ? fold<U>(values[at] - before) : 0;
    }
    for (unsigned m = w.id(); m < masks<U>; m += w.size()) mask[m] = 0;
    w.barrier();
    transpose_chunk<U, 4 * sizeof(U)>(w, chunk);
    for (unsigned i = w.id(); i < words; i += w.size())
      if (chunk[i] != 0) or_shared(mask + i / 32, 1u << i % 32);
    w.barrier();
    count_before<U>(w, mask, first);
    std::uint32_t* slot = resolve(p.scratch) + c * mpc_stream::slot_words;
    for (unsigned m = w.id(); m < masks<U>; m += w.size()) slot[m] = mask[m];
    U* out = reinterpret_cast<U*>(slot + masks<U>);
    for (unsigned i = w.id(); i < words; i += w.size())
      if (chunk[i] != 0) out[rank_of(mask, first, i)] = chunk[i];
    if (w.id() == 0)
      resolve(p.offsets)[c] =
          static_cast<std::uint32_t>(masks<U> + first[masks<U>] * sizeof(U) / 4);
    w.barrier();
  }
}

template <class U, class W>
TELPHER_DEVICE void decode(W w, const mpc_stream& p) {
  constexpr unsigned words = chunk_words<U>;
  TELPHER_SHARED(U, chunk, [2][words]);
  TELPHER_SHARED(std::uint32_t, mask, [masks<U>]);
  TELPHER_SHARED(std::uint32_t, first, [masks<U> + 1]);
  U* values = resolve(static_cast<U*>(p.values));
  for (std::uint64_t c = w.block(); c < p.chunks; c += w.blocks()) {
    const std::uint64_t from = resolve(p.offsets)[c];
    const std::uint32_t* in = resolve(p.payload) + from;
    for (unsigned m = w.id(); m < masks<U>; m += w.size())
      mask[m] = from + m < p.payload_words ? in[m] : 0;
    w.barrier();
    count_before<U>(w, mask, first);
    for (unsigned i = w.id(); i < words; i += w.size()) {
      const std::uint64_t at = masks<U> + rank_of(mask, first, i) * (sizeof(U) / 4);
      const bool there = (mask[i / 32] >> i % 32 & 1) != 0 && from % (sizeof(U) / 4) == 0 &&
                         from + at + sizeof(U) / 4 <= p.payload_words;
      chunk[0][i] = there ? *reinterpret_cast<const U*>(in + at) : 0;
    }
    w.barrier();
    transpose_chunk<U, 4 * sizeof(U)>(w, chunk[0]);
    for (unsigned i = w.id(); i < words; i += w.size()) chunk[0][i] = unfold(chunk[0][i]);
    w.barrier();
    // Prefix sums over every stride-th word, doubling the distance: no work item waits for a
    // neighbour.
    unsigned now = 0;
    for (unsigned distance = p.stride; distance < words; distance *= 2, now = 1 - now) {
      for (unsigned i = w.id(); i < words; i += w.size())
        chunk[1 - now][i] = chunk[now][i] + (i >= distance ? chunk[now][i - distance] : 0);
      w.barrier();
    }
    for (unsigned i = w.id(); i < words && c * words + i < p.words; i += w.size())
      values[c * words + i] = chunk[now][i];
    w.barrier();
  }
}

}  // namespace telpher::kernel::mpc

namespace telpher::kernel {

template <class W>
TELPHER_DEVICE void mpc_encode_32_body(W w, const mpc_encode_32& p) {
  mpc::encode<std::uint32_t>(w, p);
}
template <class W>
TELPHER_DEVICE void mpc_encode_64_body(W w, const mpc_encode_64& p) {
  mpc::encode<std::uint64_t>(w, p);
}
template <class W>
TELPHER_DEVICE void mpc_decode_32_body(W w, const mpc_decode_32& p) {
  mpc::decode<std::uint32_t>(w, p);
}
template <class W>
TELPHER_DEVICE void mpc_decode_64_body(W w, const mpc_decode_64& p) {
  mpc::decode<std::uint64_t>(w, p);
}

/// Each work item sums a run of sizes, one work item adds up the sums, and each writes its run of
/// offsets.
template <class W>
TELPHER_DEVICE void mpc_place_body(W w, const mpc_place& p) {
  TELPHER_SHARED(std::uint32_t, sums, [mpc_place::most_threads]);
  if (w.block() != 0) return;
  std::uint32_t* offsets = resolve(p.offsets);
  const std::uint64_t run = (p.chunks + w.size() - 1) / w.size();
  const std::uint64_t begin = w.id() * run;
  const std::uint64_t end = begin + run < p.chunks ? begin + run : p.chunks;
  std::uint32_t sum = 0;
  for (std::uint64_t c = begin; c < end; ++c) sum += offsets[c];
  sums[w.id()] = sum;
  w.barrier();
  if (w.id() == 0) {
    std::uint32_t total = 0;
    for (unsigned i = 0; i < w.size(); ++i) {
      const std::uint32_t own = sums[i];
      sums[i] = total;
      total += own;
    }
    offsets[p.chunks] = total;
  }
  w.barrier();
  std::uint32_t offset = sums[w.id()];
  for (std::uint64_t c = begin; c < end; ++c) {
    const std::uint32_t own = offsets[c];
    offsets[c] = offset;
    offset += own;
  }
}

template <class W>
TELPHER_DEVICE void mpc_gather_body(W w, const mpc_gather& p) {
  const std::uint32_t* offsets = resolve(p.offsets);
  for (std::uint64_t c = w.block(); c < p.chunks; c += w.blocks()) {
    const std::uint32_t* from = resolve(p.scratch) + c * mpc_stream::slot_words;
    copy_span(w.id(), w.size(), reinterpret_cast<std::uint8_t*>(resolve(p.payload) + offsets[c]),
              reinterpret_cast<const std::uint8_t*>(from),
              std::uint64_t{4} * (offsets[c + 1] - offsets[c]));
  }
}

}  // namespace telpher::kernel
