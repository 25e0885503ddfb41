// SPDX-License-Identifier: BSD-3-Clause
// linger: a copier that stays on the device for the next message of a burst (parameters in
// kernel.hpp). One block.
//
// Protocol. Command number s is in mailbox[s % depth]. Numbers run 1, 2, ..., 2^32 - 1, 1, ... 0 is
// not used, so a mailbox of zeros holds no command.
//   host    writes command s by write_command, each half with s in its last word and that word
//           last, and only when s - depth is done. Either half may become visible first.
//   block   waits for number s: its command readers load both halves in one 32-byte transaction and
//           continue when both carry s. Then: broadcast through shared memory, copy by fresh_loads,
//           fence, done = s, and s becomes the next number.
//   block   leaves after a command that says `leave`, when no command came for patience_ns, or when
//           it has stayed for stay_ns, so that work that the device holds back meanwhile can run.
//           As its last act it stores gone = s (release, system scope), where s is the first number
//           that it did not take. `done` is final before `gone` is set.
//   host    sets gone = 0 before each launch, and polls done and gone (acquire). If gone is g,
//           numbers from g on were not taken, even if their commands were written in time. The host
//           launches again with first_sequence = g if it waits for one of them or has just written
//           another. Commands stay in the mailbox and are not written again.
// `done` and `gone` are written by the block only while it runs, by the host only before a launch.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

TELPHER_BOTH constexpr std::uint32_t next_sequence(std::uint32_t sequence) {
  return sequence == 0xffffffffu ? 1 : sequence + 1;
}

/// The common layout of both halves of a linger_command.
struct linger_half {
  std::uint64_t address;  // from, to
  std::uint32_t number;   // bytes, how
  std::uint32_t sequence;
};
static_assert(sizeof(linger_half) == 16 && 2 * sizeof(linger_half) == sizeof(linger_command));

/// Host side: writes command `sequence` to its slot. The last word of a half is written after the
/// rest. A device reads a half from one cache line, so it never sees the last word without the
/// rest.
inline void write_command(linger_command* mailbox, std::uint32_t depth, std::uint32_t sequence,
                          void* to, const void* from, std::uint32_t bytes, std::uint32_t how) {
  auto* words = reinterpret_cast<std::uint64_t*>(mailbox + sequence % depth);
  const std::uint64_t mark = std::uint64_t{sequence} << 32;
  __atomic_store_n(words + 0, reinterpret_cast<std::uintptr_t>(from), __ATOMIC_RELAXED);
  __atomic_store_n(words + 1, mark | bytes, __ATOMIC_RELEASE);
  __atomic_store_n(words + 2, reinterpret_cast<std::uintptr_t>(to), __ATOMIC_RELAXED);
  __atomic_store_n(words + 3, mark | how, __ATOMIC_RELEASE);
}

TELPHER_DEVICE linger_half load_half(const linger_command* command, unsigned which) {
  const word_pair pair = load_pair_system(reinterpret_cast<const std::uint8_t*>(command) +
                                          which * sizeof(linger_half));
  return {pair.low, static_cast<std::uint32_t>(pair.high),
          static_cast<std::uint32_t>(pair.high >> 32)};
}

/// Called by all command readers. Waits for `sequence` and puts its halves into `command`; false
/// when patience has ended.
template <class W>
TELPHER_DEVICE bool await_command(W w, const linger& p, std::uint32_t sequence,
                                  linger_half* command) {
  const linger_command* slot = resolve(p.mailbox) + sequence % p.depth;
  const std::uint64_t start = now_ns();
  for (;;) {
    bool mine = true;
    for (unsigned half = w.id(); half < 2; half += W::command_readers) {
      command[half] = load_half(slot, half);
      mine = mine && command[half].sequence == sequence;
    }
    if (w.readers_agree(W::command_readers, mine)) {
      fresh_loads::begin();
      return true;
    }
    if (w.readers_agree(W::command_readers, now_ns() - start > p.patience_ns)) return false;
    relax();
  }
}

template <class W>
TELPHER_DEVICE void linger_body(W w, const linger& p) {
  TELPHER_SHARED(linger_half, command, [2]);
  TELPHER_SHARED(bool, came);
  std::uint32_t sequence = p.first_sequence;
  const std::uint64_t begin = now_ns();
  for (;;) {
    if (w.id() < W::command_readers) {
      const bool one_came = await_command(w, p, sequence, command);
      // Take at least one command, so that repeated launches make progress.
      const bool time_left = sequence == p.first_sequence || now_ns() - begin <= p.stay_ns;
      if (w.id() == 0) came = one_came && time_left;
    }
    w.barrier();
    if (!came) break;
    const auto from = reinterpret_cast<const std::uint8_t*>(command[0].address);
    const auto to = reinterpret_cast<std::uint8_t*>(command[1].address);
    const std::uint32_t bytes = command[0].number;
    const std::uint32_t how = command[1].number;
    copy_span<fresh_loads>(w.id(), w.size(), resolve(to), resolve(from), bytes);
    if ((how & linger_command::near) != 0)
      w.publish_near();
    else
      w.publish();
    if (w.id() == 0) store_published(resolve(p.done), sequence);
    sequence = next_sequence(sequence);
    if ((how & linger_command::leave) != 0) break;
  }
  if (w.id() == 0) store_release_system(resolve(p.gone), sequence);
}

}  // namespace telpher::kernel
