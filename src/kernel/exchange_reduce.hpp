// SPDX-License-Identifier: BSD-3-Clause
// The reduce and fetch steps of an exchange program (protocol in exchange.hpp). In plain memory
// values are reduced in vectors of 16 bytes if all operands have the same offset from a 16-byte
// boundary, else one by one. Where an operand is packed memory they are reduced in groups that fill
// whole words, or in lines. A work item has read an element of all sources before it writes that
// element to the targets, so a target may be a source.
#pragma once

#include "kernel/exchange_lines.hpp"
#include "kernel/exchange_moves.hpp"
#include "kernel/values.hpp"

namespace telpher::kernel {

/// What a reduce step works on.
struct reduce_operands {
  std::uint64_t to;
  unsigned sources, further;  // numbers of them
  const std::uint64_t* from;  // sources, then further targets
  TELPHER_DEVICE const std::uint64_t* others() const { return from + sources; }
};
TELPHER_DEVICE reduce_operands operands_of(const std::uint64_t* step) {
  return {step[2], static_cast<unsigned>(step[0] >> 8 & 0xff),
          static_cast<unsigned>(step[0] >> 16 & 0xff), step + 3};
}

/// How many 16-byte vectors of each source a work item has in flight if there are at most two
/// sources. If there are more, it has half as many vectors of four sources in flight. A load over a
/// link takes a microsecond or more, so several are issued before the first is used. More vectors
/// of single bytes would need too many registers.
template <class T>
constexpr unsigned vectors_at_once = sizeof(T) == 1 ? 2 : 4;

/// The values that `bytes` bytes hold (those of a packed word, a word or a vector); at least one.
template <class T, std::size_t bytes>
struct values_of {
  static constexpr unsigned count = sizeof(T) >= bytes ? 1 : bytes / sizeof(T);
  using wide_type = typename wide<T>::type;

  template <class Op>
  TELPHER_DEVICE static void fold(wide_type* sum, const T* values, bool first) {
    TELPHER_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      const wide_type next = wide<T>::from(values[i]);
      sum[i] = first ? next : Op::apply(sum[i], next);
    }
  }
};

template <class Op, class T>
TELPHER_DEVICE void reduce_one(const reduce_operands& o, std::uint64_t byte) {
  auto sum = wide<T>::from(*reinterpret_cast<const T*>(plain(o.from[0]) + byte));
  for (unsigned s = 1; s < o.sources; ++s)
    sum = Op::apply(sum, wide<T>::from(*reinterpret_cast<const T*>(plain(o.from[s]) + byte)));
  const auto value = wide<T>::to(sum);
  assign(reinterpret_cast<T*>(plain(o.to) + byte), value);
  for (unsigned t = 0; t < o.further; ++t)
    assign(reinterpret_cast<T*>(plain(o.others()[t]) + byte), value);
}

/// Reduces vectors of 16 bytes from `first` to `end`, `step` bytes apart.
template <class Op, class T, unsigned vectors, unsigned sources_at_once>
TELPHER_DEVICE void reduce_vectors(const reduce_operands& o, std::uint64_t first,
                                   std::uint64_t step, std::uint64_t end) {
  using lanes = values_of<T, 16>;
  typename lanes::wide_type sum[vectors][lanes::count] = {};
  T values[lanes::count];
  for (unsigned s = 0; s < o.sources; s += sources_at_once) {
    decltype(load<bytes16>(plain(0))) raw[sources_at_once][vectors] = {};
    TELPHER_UNROLL
    for (unsigned k = 0; k < sources_at_once; ++k) TELPHER_UNROLL
    for (unsigned v = 0; v < vectors; ++v)
      if (s + k < o.sources && first + v * step < end)
        raw[k][v] = load<bytes16>(plain(o.from[s + k]) + first + v * step);
    TELPHER_UNROLL
    for (unsigned k = 0; k < sources_at_once; ++k) {
      if (s + k >= o.sources) break;
      TELPHER_UNROLL
      for (unsigned v = 0; v < vectors; ++v) {
        __builtin_memcpy(values, &raw[k][v], 16);
        lanes::template fold<Op>(sum[v], values, s + k == 0);
      }
    }
  }
  TELPHER_UNROLL
  for (unsigned v = 0; v < vectors; ++v) {
    if (first + v * step >= end) break;
    TELPHER_UNROLL
    for (unsigned i = 0; i < lanes::count; ++i) values[i] = wide<T>::to(sum[v][i]);
    decltype(load<bytes16>(plain(0))) result;
    __builtin_memcpy(&result, values, 16);
    store<bytes16>(plain(o.to) + first + v * step, result);
    for (unsigned t = 0; t < o.further; ++t)
      store<bytes16>(plain(o.others()[t]) + first + v * step, result);
  }
}

/// All vectors of a work item, the `own`-th of `items`.
template <class Op, class T, unsigned vectors, unsigned sources_at_once>
TELPHER_DEVICE void reduce_row(const reduce_operands& o, std::uint64_t own, std::uint64_t items,
                               std::uint64_t begin, std::uint64_t number) {
  for (std::uint64_t i = own; i < number; i += vectors * items)
    reduce_vectors<Op, T, vectors, sources_at_once>(o, begin + i * 16, items * 16,
                                                    begin + number * 16);
}

template <class Op, class T, class W>
TELPHER_DEVICE void reduce_plain(W w, const reduce_operands& o, slice s) {
  const std::uint64_t end = s.begin + s.bytes;
  std::uint64_t head = s.bytes, vectors = 0;
  if constexpr (is_dense<T>::value) {
    // Values of 16 bytes may lie at 8 modulo 16: then a vector would hold two halves.
    const bool whole_values = (o.to + s.begin) % (sizeof(T) < 16 ? sizeof(T) : 16) == 0;
    if (whole_values && aligned_alike(o.to, o.from, o.sources + o.further)) {
      head = (16 - (o.to + s.begin) % 16) % 16;
      if (head > s.bytes) head = s.bytes;
      vectors = (s.bytes - head) / 16;
    }
  }
  const std::uint64_t own = w.id(), step = w.size(), first = s.begin + head;
  for (std::uint64_t i = own; i < head / sizeof(T); i += step)
    reduce_one<Op, T>(o, s.begin + i * sizeof(T));
  if constexpr (is_dense<T>::value) {
    constexpr unsigned at_once = vectors_at_once<T>;
    if (o.sources <= 2)
      reduce_row<Op, T, at_once, 2>(o, own, step, first, vectors);
    else
      reduce_row<Op, T, at_once / 2, 4>(o, own, step, first, vectors);
  }
  for (std::uint64_t at = first + vectors * 16 + own * sizeof(T); at < end; at += step * sizeof(T))
    reduce_one<Op, T>(o, at);
}

template <class T>
struct packed_group {
  using lanes = values_of<T, 4>;
  static constexpr std::uint64_t bytes = lanes::count * sizeof(T);
  static constexpr unsigned words = bytes / 4;
};

/// Loads values of a plain source; those behind the end are 0.
template <class T>
TELPHER_DEVICE void load_values(T* values, std::uint64_t from, std::uint64_t byte,
                                std::uint64_t left) {
  using group = packed_group<T>;
  TELPHER_UNROLL
  for (unsigned i = 0; i < group::lanes::count; ++i)
    values[i] = i * sizeof(T) < left ? reinterpret_cast<const T*>(plain(from) + byte)[i] : T{};
}

template <class T>
TELPHER_DEVICE void store_values(std::uint32_t epoch, std::uint64_t to, std::uint64_t byte,
                                 std::uint64_t left, const T* values) {
  using group = packed_group<T>;
  if (is_packed(to)) {
    std::uint32_t words[group::words];
    __builtin_memcpy(words, values, group::bytes);
    TELPHER_UNROLL
    for (unsigned k = 0; k < group::words; ++k)
      store_word(packed_word(to, byte) + k, words[k], epoch);
    return;
  }
  TELPHER_UNROLL
  for (unsigned i = 0; i < group::lanes::count; ++i)
    if (i * sizeof(T) < left) assign(reinterpret_cast<T*>(plain(to) + byte) + i, values[i]);
}

template <class Op, class T, class W>
TELPHER_DEVICE std::uint64_t reduce_packed(W w, const exchange& p, const exchange_call& c,
                                           const reduce_operands& o, slice part, std::uint64_t at) {
  constexpr unsigned sources_at_once = 4;
  using group = packed_group<T>;
  patience waiting(p, c);
  for (at += at == 0 ? w.id() * group::bytes : 0; at < part.bytes; at += w.size() * group::bytes) {
    const std::uint64_t byte = part.begin + at, left = part.bytes - at;
    typename group::lanes::wide_type sum[group::lanes::count] = {};
    T values[group::lanes::count];
    for (unsigned first = 0; first < o.sources; first += sources_at_once) {
      std::uint64_t seen[sources_at_once][group::words];
      TELPHER_UNROLL
      for (unsigned s = 0; s < sources_at_once; ++s)
        if (first + s < o.sources && is_packed(o.from[first + s])) TELPHER_UNROLL
      for (unsigned k = 0; k < group::words; ++k)
        seen[s][k] = load_relaxed_system(packed_word(o.from[first + s], byte) + k);
      TELPHER_UNROLL
      for (unsigned s = 0; s < sources_at_once; ++s) {
        if (first + s >= o.sources) break;
        const std::uint64_t source = o.from[first + s];
        if (is_packed(source)) {
          std::uint32_t words[group::words];
          TELPHER_UNROLL
          for (unsigned k = 0; k < group::words; ++k)
            if (!await_word(packed_word(source, byte) + k, seen[s][k], c.packed_epoch, waiting,
                            words[k]))
              return at;
          __builtin_memcpy(values, words, group::bytes);
        } else {
          load_values(values, source, byte, left);
        }
        group::lanes::template fold<Op>(sum, values, first + s == 0);
      }
    }
    TELPHER_UNROLL
    for (unsigned i = 0; i < group::lanes::count; ++i) values[i] = wide<T>::to(sum[i]);
    store_values(c.packed_epoch, o.to, byte, left, values);
    for (unsigned k = 0; k < o.further; ++k)
      store_values(c.packed_epoch, o.others()[k], byte, left, values);
  }
  return through;
}

// --- over lines ---

/// The values of a word; `bytes` of it are the slice's.
template <class T>
TELPHER_DEVICE void store_values_of(std::uint8_t* to, std::uint64_t word, std::uint32_t bytes) {
  if constexpr (is_dense<T>::value) {
    store_word_of(to, word, bytes);
  } else if (bytes > 0) {
    T value;
    static_assert(sizeof value == sizeof word);
    __builtin_memcpy(&value, &word, sizeof value);
    assign(reinterpret_cast<T*>(to), value);
  }
}

/// Where the slice ends within a line, or a flag stands in place of values, the work item reduces
/// what it finds there, too; the result is not stored as data.
template <class Op, class T, class W>
TELPHER_DEVICE void reduce_lines(W w, std::uint64_t epoch, const reduce_operands& o, slice s) {
  constexpr unsigned sources_at_once = 4;
  using lanes = values_of<T, 8>;
  const line_row row({w.id(), w.size()}, s);
  for (std::uint32_t pass = row.first(); pass < row.end(); pass += row.step()) {
    const line_part at = row.part(pass);
    typename lanes::wide_type sum[2][lanes::count] = {};
    T values[lanes::count];
    for (unsigned first = 0; first < o.sources; first += sources_at_once) {
      word_pair seen[sources_at_once];
      const std::uint8_t* awaited[sources_at_once] = {};
      w.join_warp();  // as in copy_lines
      TELPHER_UNROLL
      for (unsigned k = 0; k < sources_at_once; ++k)
        if (first + k < o.sources) seen[k] = load_part(at, o.from[first + k], awaited[k]);
      await_parts(w, epoch, row.has_flag(), awaited, seen);
      TELPHER_UNROLL
      for (unsigned k = 0; k < sources_at_once; ++k) {
        if (first + k >= o.sources) break;
        __builtin_memcpy(values, &seen[k].low, sizeof values);
        lanes::template fold<Op>(sum[0], values, first + k == 0);
        __builtin_memcpy(values, &seen[k].high, sizeof values);
        lanes::template fold<Op>(sum[1], values, first + k == 0);
      }
    }
    std::uint64_t words[2];
    TELPHER_UNROLL
    for (unsigned v = 0; v < 2; ++v) {
      TELPHER_UNROLL
      for (unsigned i = 0; i < lanes::count; ++i) values[i] = wide<T>::to(sum[v][i]);
      __builtin_memcpy(&words[v], values, sizeof values);
    }
    for (unsigned t = 0; t <= o.further; ++t) {
      const std::uint64_t to = t == 0 ? o.to : o.others()[t - 1];
      if (is_packed(to)) {
        store_packed_part(w, epoch, row.has_flag(), at, to, {words[0], words[1]});
      } else {
        store_values_of<T>(plain(to) + at.plain, words[0], at.bytes[0]);
        store_values_of<T>(plain(to) + at.plain + line_part::apart, words[1], at.bytes[1]);
      }
    }
  }
}

// The rank that gives the program has exclusive access to the target, as for a swap. Both loads are
// under way before the first is used.
template <class Op, class T, class W>
TELPHER_DEVICE void fetch_step(W w, const std::uint64_t* step) {
  if (w.id() != 0 || w.block() != 0) return;
  T* const to = reinterpret_cast<T*>(plain(step[2]));
  const T held = *to, given = *reinterpret_cast<const T*>(plain(step[3]));
  if (step[4] != 0) assign(reinterpret_cast<T*>(plain(step[4])), held);
  assign(to, wide<T>::to(Op::apply(wide<T>::from(given), wide<T>::from(held))));
}

template <class Op, class T>
struct reduction {
  template <class W>
  TELPHER_DEVICE static std::uint64_t run(W w, const exchange& p, const exchange_call& c,
                                          const std::uint64_t* step, std::uint64_t begin) {
    if (static_cast<exchange_op>(step[0] & 0xff) == exchange_op::fetch) {
      fetch_step<Op, T>(w, step);
      return through;
    }
    const reduce_operands o = operands_of(step);
    const slice s = slice_of(step[1], w.block(), c.blocks);
    bool packed = is_packed(o.to);
    for (unsigned i = 0; i < o.sources + o.further; ++i) packed = packed || is_packed(o.from[i]);
    if (packed) return reduce_packed<Op, T>(w, p, c, o, s, begin);
    reduce_plain<Op, T>(w, o, s);
    return through;
  }
  /// Where packed memory is in lines; of types that lie within a word.
  template <class W>
  TELPHER_DEVICE static void run_in_lines(W w, const exchange_call& c, const std::uint64_t* step) {
    if constexpr (8 % sizeof(T) == 0)
      reduce_lines<Op, T>(w, c.epoch, operands_of(step), line_slice(step[1], w.block(), c.blocks));
  }
};

/// In place of a reduction, for programs that only move data: its one step is the swap, which the
/// kernels of reductions do not have.
struct no_reduction {
  template <class W>
  TELPHER_DEVICE static std::uint64_t run(W w, const exchange&, const exchange_call&,
                                          const std::uint64_t* step, std::uint64_t) {
    swap_step(w, step);
    return through;
  }
  template <class W>
  TELPHER_DEVICE static void run_in_lines(W, const exchange_call&, const std::uint64_t*) {}
};

}  // namespace telpher::kernel
