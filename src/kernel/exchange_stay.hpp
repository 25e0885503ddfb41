// SPDX-License-Identifier: BSD-3-Clause
// How an exchange kernel of one block stays on the device for the calls after its own, which then
// need no launch. Only programs of packed memory are given to it.
//
// Protocol. Commands have numbers, in the order in which one lane gives them; a launch is told the
// number of the first that it is to take (first_command), which no earlier launch was told.
//   host    writes command s when all earlier ones are done: every word of the command, and after
//           it (release) the number beside it.
//   block   when a call has ended (done, which host and block know from exchange.hpp): waits for
//           number s. Its program readers load the first entries together, 16 bytes at a time, the
//           number not before the word; the other entries if the numbers say so. All numbers right:
//           fence, and the program in shared memory is run as the launch's own.
//   block   leaves when told to (a length of 0), when no command came for stay_ns, and after a call
//           that paused: it stores gone = first_command (release), its last act.
//   host    polls done, and gone while it waits for a command's end. Gone and not done: the command
//           was not taken, or will never be, and the host launches the call.
// The mailbox is written by the host only, `gone` by the block only, `done` by the block before
// `gone`. A command is overwritten only when it was done, or when the kernel that was to take it
// has gone or has been told to leave: a later launch is in the same stream, so it cannot read
// before that kernel has ended, and waits for a larger number.
#pragma once

#include "kernel/exchange_moves.hpp"

namespace telpher::kernel {

/// Host side. `words` are the heading and the program, at most `entries`.
inline void write_command(exchange_command& to, std::uint64_t number, const std::uint64_t* words,
                          unsigned count) {
  const bool two = count > exchange_command::first_part;
  const unsigned entries = two ? exchange_command::entries : exchange_command::first_part;
  const std::uint64_t mark = number | (two ? exchange_command::two_parts : 0);
  for (unsigned i = entries; i-- > 0;) {
    __atomic_store_n(&to.at[i].word, i < count ? words[i] : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&to.at[i].number, mark, __ATOMIC_RELEASE);
  }
}

/// Loads a part of a command into `words`; true if all of it carries one of the two numbers.
template <class W>
TELPHER_DEVICE bool read_part(W w, const exchange_command* from, unsigned part,
                              std::uint64_t number, std::uint64_t* words, bool& two) {
  bool mine = true;
  two = false;
  for (unsigned i = w.id(); i < exchange_command::first_part; i += W::program_readers) {
    const unsigned entry = part * exchange_command::first_part + i;
    const word_pair pair = load_pair_system(&from->at[entry]);
    words[entry] = pair.low;
    mine = mine && (pair.high & ~exchange_command::two_parts) == number;
    two = two || (pair.high & exchange_command::two_parts) != 0;
  }
  return w.readers_agree(W::program_readers, mine);
}

/// Run by the program readers together; false when no command came in time.
template <class W>
TELPHER_DEVICE bool await_call(W w, const exchange& p, std::uint64_t number,
                               std::uint64_t* command) {
  const exchange_command* from = resolve(p.next);
  const std::uint64_t start = now_ns();
  for (;;) {
    bool two = false, known = true;
    if (read_part(w, from, 0, number, command, two)) {
      while (two && !read_part(w, from, 1, number, command, known)) relax();
      fence_system();
      return true;
    }
    if (w.readers_agree(W::program_readers, now_ns() - start > p.stay_ns)) return false;
    relax();
  }
}

/// Waits for command `number`; false if the kernel is to leave.
template <class W>
TELPHER_DEVICE bool next_call(W w, const exchange& p, std::uint64_t number, std::uint64_t* command,
                              exchange_call& c) {
  TELPHER_SHARED(bool, came);
  if (w.id() < W::program_readers) {
    const bool one = await_call(w, p, number, command);
    if (w.id() == 0) came = one;
  }
  w.barrier();
  const bool stays = came && static_cast<std::uint32_t>(command[0]) != 0;
  c = {command + exchange_command::heading, static_cast<std::uint32_t>(command[0]),
       static_cast<std::uint32_t>(command[0] >> 32), static_cast<std::uint32_t>(command[1])};
  return stays;
}

}  // namespace telpher::kernel
