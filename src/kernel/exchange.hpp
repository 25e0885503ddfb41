// SPDX-License-Identifier: BSD-3-Clause
// exchange: one rank's part of a collective, as a program that one kernel interprets (parameters in
// kernel.hpp). A program is a row of 64-bit words:
//   copy    kind | 1 << 8,       bytes, to, from
//   spread  kind | targets << 8, bytes, from, to…     several copies of one piece of plain memory
//   reduce  kind | sources << 8, bytes, to, from…     to = from[0] op from[1] op …, from the left
//   signal  kind | number << 16, peers                to each rank in the mask
//   wait    kind | number << 16, peers                for each rank in the mask
// Addresses are as mapped in this process; one with `packed_mark` names packed memory.
//
// Slices. Block b of n does slice b of every span: [units * b / n, units * (b + 1) / n) of its
// units of 64 bytes. The cut depends on the span's length only, so block b of a reader needs what
// block b of the writer wrote, and waits for no other block: not on its device and not on a peer's.
//
// Flags. flags[q][block * 64 + p] is written by rank p's block `block` only, and holds
// epoch << 16 | number of p's last signal to q. Numbers count a pair's signals in one call from 1,
// epochs grow with every call on the communicator, so a flag only grows (64 bits do not wrap) and
// needs no reset: number k has come when the flag is at least epoch << 16 | k.
//   signal  all work items' writes, barrier, system fence, then store (release, system scope)
//   wait    load (acquire, system scope) until it has come, then barrier
//
// Packed memory. A word of 8 bytes holds 4 bytes of data and the call's packed_epoch; whoever reads
// it waits until the epoch is the call's. Data and flag are one store, so there is neither fence
// nor signal. A word is written once and read by its owner only, in one call; the next call that
// uses it begins when all ranks have ended this one (coll/exchange/agreement.hpp), so it is never
// overwritten before it was read. Before the epoch wraps, the host clears the memory.
//
// Pauses. A driver's call that waits for the device (to free memory, say) holds up this process's
// other launches, and a kernel that waits for a peer's would wait for that call's end: two
// processes could wait for each other so for ever. So a kernel waits for a bounded time only. A
// block whose wait lasts longer writes down its place (the step, and how far each work item was in
// it; waits begin anew) and ends; the last block to end tells the host, which launches the kernel
// again. What is done stays done: no element is reduced twice. `stop` (the host's, after a failure
// elsewhere) makes a block pause at once, and the host does not go on.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"
#include "kernel/values.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

enum class exchange_op : std::uint8_t { copy = 1, spread, reduce, signal, wait };

constexpr std::uint64_t packed_mark = std::uint64_t{1} << 63;
constexpr std::uint64_t slice_unit = 64;

/// A work item has nothing left to do in a step.
constexpr std::uint64_t through = ~std::uint64_t{0};

/// The part of a span that a block does.
struct slice {
  std::uint64_t begin, bytes;
};
TELPHER_BOTH slice slice_of(std::uint64_t bytes, unsigned block, unsigned blocks) {
  const std::uint64_t units = (bytes + slice_unit - 1) / slice_unit;
  const std::uint64_t begin = units * block / blocks * slice_unit;
  const std::uint64_t end = units * (block + 1) / blocks * slice_unit;
  return {begin, (end < bytes ? end : bytes) - (begin < bytes ? begin : bytes)};
}

/// Whether a work item may go on waiting; looks at the clock and asks the host now and then.
class patience {
 public:
  TELPHER_DEVICE explicit patience(const exchange& p) : p_(p) {}
  TELPHER_DEVICE bool ends() {
    relax();
    if (++polls_ % polls_between_looks == 0) look();
    return over_;
  }

 private:
  static constexpr std::uint32_t polls_between_looks = 128;  // of some 0.5 us each

  TELPHER_DEVICE void look() {
    const std::uint64_t now = now_ns();
    if (since_ == 0) since_ = now;
    over_ =
        now - since_ >= p_.patience_ns || load_acquire_system(resolve(p_.stop)) == p_.done_value;
  }

  const exchange& p_;
  std::uint64_t since_ = 0;
  std::uint32_t polls_ = 0;
  bool over_ = false;
};

// --- operands ---

TELPHER_DEVICE bool is_packed(std::uint64_t operand) {
  return (operand & packed_mark) != 0;
}
TELPHER_DEVICE std::uint8_t* plain(std::uint64_t operand) {
  return resolve(reinterpret_cast<std::uint8_t*>(static_cast<std::uintptr_t>(operand)));
}
/// The packed word that holds the payload bytes from `byte` (a multiple of 4) on.
TELPHER_DEVICE std::uint64_t* packed_word(std::uint64_t operand, std::uint64_t byte) {
  return resolve(reinterpret_cast<std::uint64_t*>(
             static_cast<std::uintptr_t>(operand & ~packed_mark))) +
         byte / 4;
}
/// False: patience ended first.
TELPHER_DEVICE bool await_word(const std::uint64_t* at, std::uint64_t seen, std::uint32_t epoch,
                               patience& p, std::uint32_t& word) {
  while (static_cast<std::uint32_t>(seen >> 32) != epoch) {
    if (p.ends()) return false;
    seen = load_relaxed_system(at);
  }
  word = static_cast<std::uint32_t>(seen);
  return true;
}
TELPHER_DEVICE void store_word(std::uint64_t* at, std::uint32_t data, std::uint32_t epoch) {
  store_relaxed_system(at, std::uint64_t{epoch} << 32 | data);
}

// --- copy ---

/// Up to 4 bytes; the rest of the word is 0.
TELPHER_DEVICE std::uint32_t load_few(const std::uint8_t* from, std::uint64_t bytes) {
  if (bytes >= 4 && reinterpret_cast<std::uintptr_t>(from) % 4 == 0)
    return load<std::uint32_t>(from);
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4 && i < bytes; ++i)
    word |= static_cast<std::uint32_t>(from[i]) << 8 * i;
  return word;
}
TELPHER_DEVICE void store_few(std::uint8_t* to, std::uint32_t word, std::uint64_t bytes) {
  if (bytes >= 4 && reinterpret_cast<std::uintptr_t>(to) % 4 == 0)
    return store<std::uint32_t>(to, word);
  for (unsigned i = 0; i < 4 && i < bytes; ++i) to[i] = static_cast<std::uint8_t>(word >> 8 * i);
}

// Steps of packed memory begin at `at` (0, or where the work item paused) and answer where it
// paused, or the slice's end.
template <class W>
TELPHER_DEVICE_CALL std::uint64_t copy_packed(W w, const exchange& p, std::uint64_t to,
                                              std::uint64_t from, slice s, std::uint64_t at) {
  patience waiting(p);
  for (at += at == 0 ? std::uint64_t{w.id()} * 4 : 0; at < s.bytes;
       at += std::uint64_t{w.size()} * 4) {
    const std::uint64_t byte = s.begin + at, left = s.bytes - at;
    std::uint32_t word = 0;
    if (is_packed(from)) {
      const std::uint64_t* source = packed_word(from, byte);
      if (!await_word(source, load_relaxed_system(source), p.packed_epoch, waiting, word))
        return at;
    } else {
      word = load_few(plain(from) + byte, left);
    }
    if (is_packed(to))
      store_word(packed_word(to, byte), word, p.packed_epoch);
    else
      store_few(plain(to) + byte, word, left);
  }
  return through;
}

template <class W>
TELPHER_DEVICE_CALL std::uint64_t copy_step(W w, const exchange& p, const std::uint64_t* step,
                                            std::uint64_t begin) {
  const slice s = slice_of(step[1], w.block(), w.blocks());
  const std::uint64_t to = step[2], from = step[3];
  if (is_packed(to) || is_packed(from)) return copy_packed(w, p, to, from, s, begin);
  copy_span(w.id(), w.size(), plain(to) + s.begin, plain(from) + s.begin, s.bytes);
  return through;
}

/// All addresses have the same distance to a 16-byte boundary.
TELPHER_DEVICE bool aligned_alike(std::uint64_t to, const std::uint64_t* others, unsigned n) {
  std::uint64_t apart = 0;
  for (unsigned i = 0; i < n; ++i) apart |= others[i] ^ to;
  return apart % 16 == 0;
}

// What all targets get is read once.
template <class W>
TELPHER_DEVICE_CALL void spread_step(W w, const std::uint64_t* step) {
  const slice s = slice_of(step[1], w.block(), w.blocks());
  const auto targets = static_cast<unsigned>(step[0] >> 8 & 0xff);
  const std::uint8_t* from = plain(step[2]) + s.begin;
  const std::uint64_t vectors = s.bytes / 16, step_vectors = w.size();
  std::uint64_t done = 0;
  if (step[2] % 16 == 0 && aligned_alike(step[2], step + 3, targets)) {  // slices begin so too
    constexpr unsigned at_once = 4;
    for (std::uint64_t first = w.id(); first < vectors; first += at_once * step_vectors) {
      decltype(load<bytes16>(from)) values[at_once] = {};
      TELPHER_UNROLL
      for (unsigned v = 0; v < at_once; ++v)
        if (first + v * step_vectors < vectors)
          values[v] = load<bytes16>(from + (first + v * step_vectors) * 16);
      for (unsigned t = 0; t < targets; ++t) {
        std::uint8_t* to = plain(step[3 + t]) + s.begin;
        TELPHER_UNROLL
        for (unsigned v = 0; v < at_once; ++v)
          if (first + v * step_vectors < vectors)
            store<bytes16>(to + (first + v * step_vectors) * 16, values[v]);
      }
    }
    done = vectors * 16;
  }
  for (unsigned t = 0; t < targets; ++t)
    copy_span(w.id(), w.size(), plain(step[3 + t]) + s.begin + done, from + done, s.bytes - done);
}

// --- reduce ---

/// Of 16 bytes, for each work item. What crosses a link takes a microsecond or more: that many
/// loads are under way before the first is used. Single bytes would need too many registers.
template <class T>
constexpr unsigned vectors_at_once = sizeof(T) == 1 ? 2 : 4;

/// As many values as fill packed words, or a 16-byte access.
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
TELPHER_DEVICE void reduce_one(std::uint8_t* to, const std::uint64_t* sources, unsigned n,
                               std::uint64_t byte) {
  auto sum = wide<T>::from(*reinterpret_cast<const T*>(plain(sources[0]) + byte));
  for (unsigned s = 1; s < n; ++s)
    sum = Op::apply(sum, wide<T>::from(*reinterpret_cast<const T*>(plain(sources[s]) + byte)));
  assign(reinterpret_cast<T*>(to + byte), wide<T>::to(sum));
}

/// Vectors of 16 bytes from `first` on, `step` bytes apart, before `end`.
template <class Op, class T>
TELPHER_DEVICE void reduce_vectors(std::uint8_t* to, const std::uint64_t* sources, unsigned n,
                                   std::uint64_t first, std::uint64_t step, std::uint64_t end) {
  constexpr unsigned vectors = vectors_at_once<T>, sources_at_once = 2;
  using lanes = values_of<T, 16>;
  typename lanes::wide_type sum[vectors][lanes::count] = {};
  T values[lanes::count];
  for (unsigned s = 0; s < n; s += sources_at_once) {
    decltype(load<bytes16>(to)) raw[sources_at_once][vectors] = {};
    TELPHER_UNROLL
    for (unsigned k = 0; k < sources_at_once; ++k) TELPHER_UNROLL
    for (unsigned v = 0; v < vectors; ++v)
      if (s + k < n && first + v * step < end)
        raw[k][v] = load<bytes16>(plain(sources[s + k]) + first + v * step);
    TELPHER_UNROLL
    for (unsigned k = 0; k < sources_at_once; ++k) {
      if (s + k >= n) break;
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
    decltype(load<bytes16>(to)) result;
    __builtin_memcpy(&result, values, 16);
    store<bytes16>(to + first + v * step, result);
  }
}

template <class Op, class T, class W>
TELPHER_DEVICE void reduce_plain(W w, std::uint64_t target, const std::uint64_t* sources,
                                 unsigned n, slice s) {
  std::uint8_t* to = plain(target);
  const std::uint64_t end = s.begin + s.bytes;
  std::uint64_t head = s.bytes, vectors = 0;
  if constexpr (is_dense<T>::value) {
    if (aligned_alike(target, sources, n)) {
      head = (16 - (target + s.begin) % 16) % 16;
      if (head > s.bytes) head = s.bytes;
      vectors = (s.bytes - head) / 16;
    }
  }
  const std::uint64_t own = w.id(), step = w.size();
  for (std::uint64_t i = own; i < head / sizeof(T); i += step)
    reduce_one<Op, T>(to, sources, n, s.begin + i * sizeof(T));
  if constexpr (is_dense<T>::value)
    for (std::uint64_t i = own; i < vectors; i += vectors_at_once<T> * step)
      reduce_vectors<Op, T>(to, sources, n, s.begin + head + i * 16, step * 16,
                            s.begin + head + vectors * 16);
  for (std::uint64_t at = s.begin + head + vectors * 16 + own * sizeof(T); at < end;
       at += step * sizeof(T))
    reduce_one<Op, T>(to, sources, n, at);
}

template <class T>
struct packed_group {
  using lanes = values_of<T, 4>;
  static constexpr std::uint64_t bytes = lanes::count * sizeof(T);
  static constexpr unsigned words = bytes / 4;
};

/// Values of a plain source; those behind the end are 0.
template <class T>
TELPHER_DEVICE void load_values(T* values, std::uint64_t from, std::uint64_t byte,
                                std::uint64_t left) {
  using group = packed_group<T>;
  TELPHER_UNROLL
  for (unsigned i = 0; i < group::lanes::count; ++i)
    values[i] = i * sizeof(T) < left ? reinterpret_cast<const T*>(plain(from) + byte)[i] : T{};
}

template <class T>
TELPHER_DEVICE void store_values(const exchange& p, std::uint64_t to, std::uint64_t byte,
                                 std::uint64_t left, const T* values) {
  using group = packed_group<T>;
  if (is_packed(to)) {
    std::uint32_t words[group::words];
    __builtin_memcpy(words, values, group::bytes);
    TELPHER_UNROLL
    for (unsigned k = 0; k < group::words; ++k)
      store_word(packed_word(to, byte) + k, words[k], p.packed_epoch);
    return;
  }
  TELPHER_UNROLL
  for (unsigned i = 0; i < group::lanes::count; ++i)
    if (i * sizeof(T) < left) assign(reinterpret_cast<T*>(plain(to) + byte) + i, values[i]);
}

template <class Op, class T, class W>
TELPHER_DEVICE std::uint64_t reduce_packed(W w, const exchange& p, std::uint64_t to,
                                           const std::uint64_t* sources, unsigned n, slice part,
                                           std::uint64_t at) {
  constexpr unsigned sources_at_once = 4;
  using group = packed_group<T>;
  patience waiting(p);
  for (at += at == 0 ? w.id() * group::bytes : 0; at < part.bytes; at += w.size() * group::bytes) {
    const std::uint64_t byte = part.begin + at, left = part.bytes - at;
    typename group::lanes::wide_type sum[group::lanes::count] = {};
    T values[group::lanes::count];
    for (unsigned first = 0; first < n; first += sources_at_once) {
      std::uint64_t seen[sources_at_once][group::words];
      TELPHER_UNROLL
      for (unsigned s = 0; s < sources_at_once; ++s)
        if (first + s < n && is_packed(sources[first + s])) TELPHER_UNROLL
      for (unsigned k = 0; k < group::words; ++k)
        seen[s][k] = load_relaxed_system(packed_word(sources[first + s], byte) + k);
      TELPHER_UNROLL
      for (unsigned s = 0; s < sources_at_once; ++s) {
        if (first + s >= n) break;
        const std::uint64_t source = sources[first + s];
        if (is_packed(source)) {
          std::uint32_t words[group::words];
          TELPHER_UNROLL
          for (unsigned k = 0; k < group::words; ++k)
            if (!await_word(packed_word(source, byte) + k, seen[s][k], p.packed_epoch, waiting,
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
    store_values(p, to, byte, left, values);
  }
  return through;
}

template <class Op, class T>
struct reduction {
  template <class W>
  TELPHER_DEVICE static std::uint64_t run(W w, const exchange& p, const std::uint64_t* step,
                                          std::uint64_t begin) {
    const auto n = static_cast<unsigned>(step[0] >> 8 & 0xff);
    const slice s = slice_of(step[1], w.block(), w.blocks());
    bool packed = is_packed(step[2]);
    for (unsigned i = 0; i < n; ++i) packed = packed || is_packed(step[3 + i]);
    if (packed) return reduce_packed<Op, T>(w, p, step[2], step + 3, n, s, begin);
    reduce_plain<Op, T>(w, step[2], step + 3, n, s);
    return through;
  }
};

/// For programs that only move data.
struct no_reduction {
  template <class W>
  TELPHER_DEVICE static std::uint64_t run(W, const exchange&, const std::uint64_t*, std::uint64_t) {
    return through;
  }
};

// --- signal and wait ---

template <class W>
TELPHER_DEVICE_CALL void signal_step(W w, const exchange& p, std::uint64_t number,
                                     std::uint64_t peers) {
  w.publish();
  w.barrier();  // the fence comes before any of the stores
  for (unsigned peer = w.id(); peer < exchange::most_ranks; peer += w.size())
    if (peers >> peer & 1)
      store_release_system(resolve(p.flags[peer]) + w.block() * exchange::most_ranks + p.me,
                           p.epoch << 16 | number);
}

template <class W>
TELPHER_DEVICE_CALL std::uint64_t wait_step(W w, const exchange& p, std::uint64_t number,
                                            std::uint64_t peers) {
  patience waiting(p);
  const std::uint64_t wanted = p.epoch << 16 | number;
  for (unsigned peer = w.id(); peer < exchange::most_ranks; peer += w.size()) {
    if (!(peers >> peer & 1)) continue;
    const std::uint64_t* flag = resolve(p.flags[p.me]) + w.block() * exchange::most_ranks + peer;
    while (load_acquire_system(flag) < wanted)
      if (waiting.ends()) return 0;
  }
  return through;
}

// --- the interpreter ---

/// The last block to end says so to the host; whether any paused it says before.
template <class W>
TELPHER_DEVICE_CALL void end_exchange(W w, const exchange& p, bool pauses = false) {
  constexpr std::uint32_t paused_block = 1u << 16;
  w.publish();
  if (w.id() != 0) return;
  if (w.blocks() > 1) {
    std::uint32_t* arrivals = resolve(p.arrivals);
    const std::uint32_t before = fetch_add_device(arrivals, pauses ? paused_block + 1 : 1);
    if (before % paused_block != w.blocks() - 1) return;
    pauses = pauses || before >= paused_block;
    *arrivals = 0;
    fence_system();
  }
  *resolve(p.paused) = pauses ? 1 : 0;
  store_release_system(resolve(p.done), p.done_value);
}

/// One step from `begin` on, for a work item; where it paused, or `through`.
template <class Reduction, class W>
TELPHER_DEVICE std::uint64_t run_step(W w, const exchange& p, const std::uint64_t* step,
                                      std::uint64_t begin) {
  switch (static_cast<exchange_op>(step[0] & 0xff)) {
    case exchange_op::signal:
      signal_step(w, p, step[0] >> 16, step[1]);
      return through;
    case exchange_op::wait:
      return wait_step(w, p, step[0] >> 16, step[1]);
    case exchange_op::copy:
      return copy_step(w, p, step, begin);
    case exchange_op::spread:
      spread_step(w, step);
      return through;
    case exchange_op::reduce:
      break;
  }
  return Reduction::run(w, p, step, begin);
}

TELPHER_DEVICE std::uint32_t words_of(const std::uint64_t* step) {
  const auto kind = static_cast<exchange_op>(step[0] & 0xff);
  const bool moves = kind != exchange_op::signal && kind != exchange_op::wait;
  return moves ? 3 + static_cast<std::uint32_t>(step[0] >> 8 & 0xff) : 2;
}

template <class Reduction, class W>
TELPHER_DEVICE void run_exchange(W w, const exchange& p) {
  const std::uint64_t* code = p.long_code ? resolve(p.long_code) : p.code;
  exchange_place* place = p.places ? resolve(p.places) + w.block() : nullptr;
  std::uint32_t at = p.again ? place->word : 0;
  std::uint64_t begin = p.again && at < p.code_words ? place->offset[w.id()] : 0;
  bool pauses = false;
  while (at < p.code_words) {
    const std::uint64_t reached = run_step<Reduction>(w, p, code + at, begin);
    begin = 0;
    // All have ended the step: the next one may read what other work items wrote.
    if (!w.all(reached == through)) {
      place->offset[w.id()] = reached;
      pauses = true;
      break;
    }
    at += words_of(code + at);
  }
  if (place && w.id() == 0) place->word = at;
  end_exchange(w, p, pauses);
}

template <class W>
TELPHER_DEVICE void exchange_body(W w, const exchange& p) {
  run_exchange<no_reduction>(w, p);
}

}  // namespace telpher::kernel
