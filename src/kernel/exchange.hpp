// SPDX-License-Identifier: BSD-3-Clause
// exchange: one rank's part of a collective, as a program that one kernel interprets (parameters in
// kernel.hpp). A program is a row of 64-bit words:
//   copy    kind | 1 << 8,       bytes, to, from
//   copies  kind | copies << 8,  (bytes, to, from)…   of packed memory, in any order
//   spread  kind | targets << 8, bytes, from, to…     several copies of one piece of plain memory
//   reduce  kind | sources << 8 | further << 16, bytes, to, from…, further to…
//                                                     to = from[0] op from[1] op …, from the left
//   fetch   kind | 2 << 8,       bytes, to, from, old  one value: old = to, where old is not 0;
//                                                     to = from op to
//   swap    kind | 3 << 8,       bytes, to, from, compare, old
//                                                     one value: old = to; if it is compare, to =
//                                                     from
//   signal  kind | lag << 8 | number << 16, peers     to each rank in the mask
//   wait    kind | lag << 8 | number << 16, peers     for each rank in the mask
//   meet    kind | number << 16, own rank             all blocks of this rank
//   await   kind | number << 16, host                 of the host, which stands for a rank
// Addresses are as mapped in this process; one with `packed_mark` names packed memory.
//
// Slices. Block b of n does slice b of every span: [units * b / n, units * (b + 1) / n) of its
// units of 64 bytes (in a replay with lines: of line_slice_unit bytes). The slices depend only on
// the span's length. So block b of a reader needs only what block b of the writer wrote, and waits
// for no other block, neither on its device nor on a peer's. Where a program uses other spans of
// the same memory later, blocks meet before.
//
// Flags. flags[q][block * 64 + p] is written by rank p's block `block` only. It holds epoch << 16 |
// number of p's last signal to q. Numbers count the signals from p to q in one call, from 1. Epochs
// grow with every call on the communicator, so a flag only grows (64 bits do not wrap) and needs no
// reset. Signal k has arrived when the flag is at least epoch << 16 | k.
//   signal  all work items' writes, barrier, then store (release, system scope). A signal with a
//           lag only says that the call before has ended here. Launches of one rank are in order,
//           so a relaxed store is enough.
//   wait    load (acquire, system scope) until the signal has arrived, then barrier. With a lag it
//           is the signal of the call that is `lag` calls before; the first calls do not wait.
//   meet    a signal of the block to its own rank, then a wait until each of the call's blocks has
//           made it: what any of them did before is seen by all.
//
// The host as a rank (coll/between/kernel_runner.hpp). Its flags lie in pinned memory, and no block
// is its own. Blocks signal to it as to any rank. It has one word for all blocks, where its own
// signal would be: flags[host][host], which grows like a flag.
//   await   load (acquire, system scope) until the host's signal has arrived, then barrier.
//
// Packed memory. A word of 8 bytes holds 4 bytes of data and the call's packed_epoch. The reader
// waits until the epoch is the call's. Data and flag are one store, so neither fence nor signal is
// needed (as in NCCL's LL protocol). In one call a word is written once and read only by its owner.
// The next call that uses it begins when all ranks have ended this one
// (coll/exchange/agreement.hpp), so a word is never overwritten before it was read. Before the
// epoch wraps, the host clears the memory.
//
// In CUDA a replay may have packed memory in lines of 128 bytes instead: 120 bytes of data and the
// call's 64-bit epoch. So a link carries little more than the data (kernel/exchange_lines.hpp).
//
// Pauses. A driver call that waits for the device (for example to free memory) blocks this
// process's other launches. If a kernel waited without a limit for a peer's kernel, and the peer's
// launch were blocked by such a call, two processes could wait for each other for ever. So a kernel
// waits for a bounded time. A block whose wait lasts longer saves its place (the step, and how far
// each work item was in it; waits start anew), says so in its word of `done`, and ends. When all
// blocks have ended, the host launches the kernel again. Completed work is not repeated: no element
// is reduced twice. The host sets `stop` after a failure elsewhere; a waiting block then pauses at
// its next look (exchange_operands.hpp, patience), and the host does not launch again.
//
// A kernel may stay on the device for later calls: kernel/exchange_stay.hpp.
//
// Replays. A launch that a stream or a graph repeats (coll/exchange/replay.hpp) finds the number of
// its call in device memory: calls[b] + 1, which block b stores there when its part has ended. The
// number is the epoch of flags and packed memory (packed words hold its lower 32 bits). Launches of
// one rank follow one another, and all ranks make the same ones, so the numbers agree. A replay
// waits without a limit. No host says whether all ranks have ended the call before, so:
//   without packed memory: the program begins with signals and waits among all ranks.
//   with packed memory: there are two halves, and call n uses program n % 2, which uses half n % 2.
//     So who writes in call n + 2 must know that the readers have ended call n. In collectives in
//     which no rank can end a call before all ranks have begun it, it knows: its own call n + 1 has
//     ended, so all ranks have begun call n + 1 and ended call n. In others a rank that reads
//     packed memory begins each call with a signal (lag 1), and who writes to it begins with a wait
//     for the reader's signal of the call before.
#pragma once

#include "kernel/exchange_reduce.hpp"
#include "kernel/exchange_stay.hpp"

namespace telpher::kernel {

// --- signal and wait ---

template <class W>
TELPHER_DEVICE_CALL void signal_step(W w, const exchange& p, const exchange_call& c,
                                     std::uint64_t number, std::uint64_t lag, std::uint64_t peers) {
  if (lag == 0) w.settle();
  for (unsigned peer = w.id(); peer < exchange::most_ranks; peer += w.size()) {
    if (!(peers >> peer & 1)) continue;
    std::uint64_t* flag = resolve(p.flags[peer]) + w.block() * exchange::most_ranks + p.me;
    if (lag == 0)
      store_release_system(flag, c.epoch << 16 | number);
    else
      store_relaxed_system(flag, c.epoch << 16 | number);
  }
}

template <class W>
TELPHER_DEVICE_CALL std::uint64_t wait_step(W w, const exchange& p, const exchange_call& c,
                                            std::uint64_t number, std::uint64_t lag,
                                            std::uint64_t peers) {
  if (c.epoch <= lag) return through;
  patience waiting(p, c);
  const std::uint64_t wanted = (c.epoch - lag) << 16 | number;
  for (unsigned peer = w.id(); peer < exchange::most_ranks; peer += w.size()) {
    if (!(peers >> peer & 1)) continue;
    const std::uint64_t* flag = resolve(p.flags[p.me]) + w.block() * exchange::most_ranks + peer;
    while (load_acquire_system(flag) < wanted)
      if (waiting.ends()) return 0;
  }
  return through;
}

/// Returns 0 where the block has to pause before the others have come.
template <class W>
TELPHER_DEVICE_CALL std::uint64_t meet_step(W w, const exchange& p, const exchange_call& c,
                                            std::uint64_t number) {
  std::uint64_t* const flags = resolve(p.flags[p.me]) + p.me;
  const std::uint64_t wanted = c.epoch << 16 | number;
  w.settle();
  if (w.id() == 0) store_release_system(flags + w.block() * exchange::most_ranks, wanted);
  patience waiting(p, c);
  for (unsigned block = w.id(); block < c.blocks; block += w.size())
    while (load_acquire_system(flags + block * exchange::most_ranks) < wanted)
      if (waiting.ends()) return 0;
  return through;
}

template <class W>
TELPHER_DEVICE_CALL std::uint64_t await_step(W w, const exchange& p, const exchange_call& c,
                                             std::uint64_t number, std::uint64_t host) {
  if (w.id() != 0) return through;
  patience waiting(p, c);
  const std::uint64_t* const word = resolve(p.flags[host]) + host;
  while (load_acquire_system(word) < (c.epoch << 16 | number))
    if (waiting.ends()) return 0;
  return through;
}

// --- the interpreter ---

/// Reports that a block's part of a call has ended or paused.
template <class W>
TELPHER_DEVICE void end_exchange(W w, const exchange& p, std::uint32_t done_value,
                                 bool pauses = false) {
  w.publish();
  if (w.id() == 0)
    store_published(resolve(p.done) + w.block(), exchange::ended(done_value, pauses));
}

/// begin_replay finds the number of the call, end_replay stores it. The host learns from `done`
/// only which calls are over: no data is behind that word.
template <class W>
TELPHER_DEVICE void begin_replay(W w, const exchange& p, exchange_call& c) {
  const std::uint64_t* const calls = resolve(p.calls) + 2 * w.block();
  c.epoch = calls[0] + 1;
  c.of_graphs = static_cast<std::uint32_t>(calls[1]) + p.of_graph;
  c.packed_epoch = static_cast<std::uint32_t>(c.epoch);
  c.code += c.epoch % p.programs * c.words;
  w.barrier();  // all have read the number, which may be written at once
}
template <class W>
TELPHER_DEVICE void end_replay(W w, const exchange& p, const exchange_call& c) {
  admit_next_launch();
  if (w.id() != 0) return;
  std::uint64_t* const calls = resolve(p.calls) + 2 * w.block();
  calls[0] = c.epoch;
  if (p.of_graph) calls[1] = c.of_graphs;
  store_relaxed_system(resolve(p.done) + w.block(), exchange::replays(c.epoch, c.of_graphs));
}

/// One step for a work item, starting at `begin`. Returns where it paused, or `through`.
template <class Reduction, class W>
TELPHER_DEVICE std::uint64_t run_step(W w, const exchange& p, const exchange_call& c,
                                      const std::uint64_t* step, std::uint64_t begin) {
  switch (static_cast<exchange_op>(step[0] & 0xff)) {
    case exchange_op::signal:
      signal_step(w, p, c, step[0] >> 16, step[0] >> 8 & 0xff, step[1]);
      return through;
    case exchange_op::wait:
      return wait_step(w, p, c, step[0] >> 16, step[0] >> 8 & 0xff, step[1]);
    case exchange_op::meet:
      return meet_step(w, p, c, step[0] >> 16);
    case exchange_op::await:
      return await_step(w, p, c, step[0] >> 16, step[1]);
    case exchange_op::copy:
      return copy_step(w, p, c, step, begin);
    case exchange_op::copies:
      return copies_step(w, p, c, step, begin);
    case exchange_op::spread:
      spread_step(w, slice_of(step[1], w.block(), c.blocks), step);
      return through;
    case exchange_op::reduce:
    case exchange_op::fetch:
    case exchange_op::swap:
      break;
  }
  return Reduction::run(w, p, c, step, begin);
}

TELPHER_DEVICE std::uint32_t words_of(const std::uint64_t* step) {
  const auto operands = static_cast<std::uint32_t>(step[0] >> 8 & 0xff);
  switch (static_cast<exchange_op>(step[0] & 0xff)) {
    case exchange_op::signal:
    case exchange_op::wait:
    case exchange_op::meet:
    case exchange_op::await:
      return 2;
    case exchange_op::copies:
      return 1 + 3 * operands;
    default:
      return 3 + operands + static_cast<std::uint32_t>(step[0] >> 16 & 0xff);
  }
}

/// A block's part of one call, from the start or from the block's saved place; false if the block
/// pauses.
template <class Reduction, class W>
TELPHER_DEVICE bool run_call(W w, const exchange& p, const exchange_call& c, bool again) {
  exchange_place* place = p.places ? resolve(p.places) + w.block() : nullptr;
  std::uint32_t at = again ? place->word : 0;
  if (again && at >= c.words) return true;  // it had finished when other blocks paused
  std::uint64_t begin = again ? place->offset[w.id()] : 0;
  bool ended = true;
  while (at < c.words) {
    const std::uint64_t reached = run_step<Reduction>(w, p, c, c.code + at, begin);
    begin = 0;
    // All have ended the step, so the next one may read what other work items wrote.
    if (!w.all(reached == through)) {
      place->offset[w.id()] = reached;
      ended = false;
      break;
    }
    at += words_of(c.code + at);
  }
  if (place && w.id() == 0) place->word = at;
  return ended;
}

template <class Reduction, class W>
TELPHER_DEVICE void run_step_in_lines(W w, const exchange& p, const exchange_call& c,
                                      const std::uint64_t* step) {
  switch (static_cast<exchange_op>(step[0] & 0xff)) {
    case exchange_op::signal:
      return signal_step(w, p, c, step[0] >> 16, step[0] >> 8 & 0xff, step[1]);
    case exchange_op::wait:
      wait_step(w, p, c, step[0] >> 16, step[0] >> 8 & 0xff, step[1]);
      return;
    case exchange_op::meet:  // replays have neither
    case exchange_op::await:
      return;
    case exchange_op::copy:
    case exchange_op::copies:
      return copies_in_lines(w, c.epoch, c.blocks, step);
    case exchange_op::spread:
      return spread_step(w, line_slice(step[1], w.block(), c.blocks), step);
    case exchange_op::reduce:
    case exchange_op::fetch:
    case exchange_op::swap:
      return Reduction::run_in_lines(w, c, step);
  }
}

/// A block's part of a replay whose packed memory is in lines. A function of its own, so that the
/// other form has the registers that it needs.
template <class Reduction, class W>
TELPHER_DEVICE_CALL void run_replay_in_lines(W w, const exchange& p, const exchange_call& c) {
  for (std::uint32_t at = 0; at < c.words; at += words_of(c.code + at)) {
    run_step_in_lines<Reduction>(w, p, c, c.code + at);
    w.barrier();
  }
  end_replay(w, p, c);
}

template <class Reduction, class W>
TELPHER_DEVICE void run_exchange(W w, const exchange& p) {
  TELPHER_SHARED(std::uint64_t, command, [exchange_command::entries]);
  exchange_call c{p.long_code ? resolve(p.long_code) : p.code,
                  p.code_words,
                  p.packed_epoch,
                  p.done_value,
                  w.blocks(),
                  p.epoch};
  if (p.calls) begin_replay(w, p, c);
  if constexpr (has_lines)
    if (p.format == packed_format::lines) return run_replay_in_lines<Reduction>(w, p, c);
  std::uint64_t number = p.first_command;
  std::uint32_t parts = 0;  // of all calls
  bool again = p.again != 0, stays = true;
  while (stays) {
    bool ended = true;
    if (w.block() < c.blocks) {
      ended = run_call<Reduction>(w, p, c, again);
      if (p.calls)
        end_replay(w, p, c);
      else
        end_exchange(w, p, c.done_value, !ended);
      if (p.next) arrive(w, p);
    } else if (p.next) {
      w.barrier();  // all work items have read the previous command, which next_call overwrites
    }
    parts += c.blocks;
    again = false;
    stays = ended && p.next && next_call(w, p, number, command, c);
  }
  if (p.next) leave(w, p, number, parts);
}

template <class W>
TELPHER_DEVICE void exchange_body(W w, const exchange& p) {
  run_exchange<no_reduction>(w, p);
}

}  // namespace telpher::kernel
