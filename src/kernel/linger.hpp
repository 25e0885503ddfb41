// SPDX-License-Identifier: BSD-3-Clause
// linger: the copier that stays for the next messages of a burst (parameters in kernel.hpp). One
// block.
//
// Protocol. Command number s lives in mailbox[s % depth]; numbers run 1, 2, …, 2^32 - 1, 1, … (0 is
// no number: a mailbox of zeros holds no command).
//   host    writes command s by write_command, each half with s in its last word and that word
//   last,
//           and only when s - depth is done. Either half may become visible first.
//   block   waits for number s: its readers load the halves of the next few commands, 16 bytes at a
//           time, and go on with the first so many that carry their numbers in both halves. Then:
//           acquire fence, broadcast through shared memory, all of their copies side by side,
//           system fence, done = the last of them, and the number after it becomes the next.
//   block   leaves after a command with `leave` set, or when no command came for patience_ns: it
//           stores gone = s (release, system scope), s being the first number it did not take, as
//           its last act. `done` is final before `gone` is set.
//   host    sets gone = 0 before each launch, and polls done and gone (acquire). If gone is g, the
//           numbers from g on were not taken, also if their commands were written in time: it
//           launches again with first_sequence = g. Commands stay in the mailbox, so nothing is
//           written twice.
// `done` and `gone` are written by the block only while it runs, by the host only before a launch.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

TELPHER_BOTH constexpr std::uint32_t next_sequence(std::uint32_t sequence) {
  return sequence == 0xffffffffu ? 1 : sequence + 1;
}

/// A half of linger_command as both halves are laid out.
struct linger_half {
  std::uint64_t address;  // from, to
  std::uint32_t number;   // bytes, leave
  std::uint32_t sequence;
};
static_assert(sizeof(linger_half) == 16 && 2 * sizeof(linger_half) == sizeof(linger_command));

/// Host side: writes command `sequence` to its slot. A half's last word goes after the rest of it;
/// a device reads a half from one cache line and so never sees the one without the other.
inline void write_command(linger_command* mailbox, std::uint32_t depth, std::uint32_t sequence,
                          void* to, const void* from, std::uint32_t bytes, bool leave) {
  auto* words = reinterpret_cast<std::uint64_t*>(mailbox + sequence % depth);
  const std::uint64_t mark = std::uint64_t{sequence} << 32;
  __atomic_store_n(words + 0, reinterpret_cast<std::uintptr_t>(from), __ATOMIC_RELAXED);
  __atomic_store_n(words + 1, mark | bytes, __ATOMIC_RELEASE);
  __atomic_store_n(words + 2, reinterpret_cast<std::uintptr_t>(to), __ATOMIC_RELAXED);
  __atomic_store_n(words + 3, mark | (leave ? 1u : 0u), __ATOMIC_RELEASE);
}

TELPHER_DEVICE linger_half load_half(const linger_command* command, unsigned which) {
  const word_pair pair = load_pair_system(reinterpret_cast<const std::uint8_t*>(command) +
                                          which * sizeof(linger_half));
  return {pair.low, static_cast<std::uint32_t>(pair.high),
          static_cast<std::uint32_t>(pair.high >> 32)};
}

/// Commands that the block takes at once, at most, and how many of their halves a reader loads.
template <class W>
constexpr unsigned linger_ahead = W::readers < 8 ? W::readers : 8;
template <class W>
constexpr unsigned halves_a_reader = 2 * linger_ahead<W> < W::readers ? 1 : 2;

/// Run by the readers together: waits for commands from `sequence` on and puts their halves in
/// `command`. How many there are; 0 when patience is at its end.
template <class W>
TELPHER_DEVICE unsigned await_commands(W w, const linger& p, std::uint32_t sequence,
                                       linger_half* command) {
  constexpr unsigned each = halves_a_reader<W>;
  const bool reads = w.id() * each < 2 * linger_ahead<W>;
  std::uint32_t wanted = sequence;
  for (unsigned i = 0; reads && i < w.id() * each / 2; ++i) wanted = next_sequence(wanted);
  const linger_command* slot = resolve(p.mailbox) + wanted % p.depth;
  const std::uint64_t start = now_ns();
  for (;;) {
    bool came = reads;
    for (unsigned i = w.id() * each; reads && i < (w.id() + 1) * each; ++i) {
      command[i] = load_half(slot, i % 2);
      came = came && command[i].sequence == wanted;
    }
    const unsigned count = w.readers_leading(came) * each / 2;
    if (count > 0) {
      fence_system();
      return count;
    }
    if (w.readers_agree(now_ns() - start > p.patience_ns)) return 0;
    relax();
  }
}

/// The block's work items in as many equal teams as there are commands, or some more: a power of 2.
template <class W>
TELPHER_DEVICE void copy_commands(W w, const linger_half* command, unsigned count) {
  unsigned teams = 1;
  while (teams < count) teams *= 2;
  const unsigned members = w.size() / teams, team = w.id() / members;
  if (team >= count) return;
  const auto from = reinterpret_cast<const std::uint8_t*>(command[2 * team].address);
  const auto to = reinterpret_cast<std::uint8_t*>(command[2 * team + 1].address);
  copy_span(w.id() % members, members, resolve(to), resolve(from), command[2 * team].number);
}

template <class W>
TELPHER_DEVICE void linger_body(W w, const linger& p) {
  TELPHER_SHARED(linger_half, command, [2 * linger_ahead<W>]);
  TELPHER_SHARED(unsigned, taken);
  std::uint32_t sequence = p.first_sequence;
  for (bool leave = false; !leave;) {
    if (w.id() < W::readers) {
      const unsigned count = await_commands(w, p, sequence, command);
      if (w.id() == 0) taken = count;
    }
    w.barrier();
    const unsigned count = taken;
    if (count == 0) break;
    copy_commands(w, command, count);
    leave = command[2 * count - 1].number != 0;
    std::uint32_t last = sequence;
    for (unsigned i = 1; i < count; ++i) last = next_sequence(last);
    w.publish();
    if (w.id() == 0) store_published(resolve(p.done), last);
    sequence = next_sequence(last);
  }
  if (w.id() == 0) store_release_system(resolve(p.gone), sequence);
}

}  // namespace telpher::kernel
