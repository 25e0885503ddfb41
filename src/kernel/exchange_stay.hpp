// SPDX-License-Identifier: BSD-3-Clause
// How an exchange kernel stays on the device for later calls, which then need no launch. A later
// call may use fewer blocks: the first ones of the kernel.
//
// Protocol. The commands of one mailbox are numbered in order. A launch is told the smallest number
// that it may take (first_command); it is larger than all earlier ones.
//   host: writes command s when all earlier ones are done: every word of the command, and after
//     each word (release) the number beside it.
//   block 0: when its part of a call has ended, it waits for a number from s on. Its program
//     readers load the first entries together, 16 bytes at a time, never the number before the
//     word. They load the other entries if the numbers say so. If all numbers are equal, the
//     command is whole. If the kernel has other blocks, block 0 copies the command to the relay in
//     the same form. Then it runs the program, which is now in shared memory, like the one of the
//     launch.
//   block b: waits for the relay as block 0 waits for the mailbox, but without a time limit. It may
//     miss commands. That is harmless: before the next command is given, the host waits for every
//     block that has a part in this one, and commands without a part need not be seen. It may look
//     while another command is being written, so pairs in the relay are stored whole.
//   block 0 leaves when told to (a length of 0), when no command came for stay_ns, and after a call
//     in which it paused. It waits until all blocks have ended their parts of all calls (each adds
//     1 to arrivals). Then it relays a command to leave, sets arrivals to 0, and as its last act
//     stores gone = first_command (release). A block b that paused leaves at once.
//   host: polls done, and gone while it waits for a command's end. If the kernel is gone and the
//     command is not done, the command was not and will never be taken, and the host launches the
//     call. After a pause the host tells the kernel to leave before it launches again.
// The mailbox is written by the host only, the relay and `gone` by block 0 only. A command is
// overwritten only when it is done, or when the kernel that was to take it has gone or was told to
// leave. A later launch is in the same stream, so it cannot read before that kernel has ended, and
// it waits for a larger number.
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

/// Loads a part of a command into `words`. Returns the number beside the words if it is the same
/// for the whole part, else 0.
template <class W>
TELPHER_DEVICE std::uint64_t read_part(W w, const exchange_command* from, unsigned part,
                                       std::uint64_t* words) {
  std::uint64_t seen = 0;
  bool mine = true;
  for (unsigned i = w.id(); i < exchange_command::first_part; i += W::program_readers) {
    const unsigned entry = part * exchange_command::first_part + i;
    const word_pair pair = load_pair_system(&from->at[entry]);
    words[entry] = pair.low;
    mine = mine && pair.high != 0 && (seen == 0 || seen == pair.high);
    seen = pair.high;
  }
  const std::uint64_t first = w.of_first(seen);
  return w.readers_agree(W::program_readers, mine && seen == first) ? first : 0;
}

/// Called by all program readers. Returns the number of the next command from `number` on, or 0 if
/// none came in time.
template <class W>
TELPHER_DEVICE std::uint64_t await_call(W w, const exchange_command* from, std::uint64_t number,
                                        std::uint64_t stay_ns, std::uint64_t* command) {
  const std::uint64_t start = now_ns();
  for (unsigned polls = 1;; ++polls) {
    const std::uint64_t mark = read_part(w, from, 0, command);
    const std::uint64_t seen = mark & ~exchange_command::two_parts;
    if (seen >= number && (seen == mark || read_part(w, from, 1, command) == mark)) {
      fence_system();
      return mark;
    }
    const bool late = polls % 4 == 0 && now_ns() - start > stay_ns;
    if (w.readers_agree(W::program_readers, late)) return 0;
    relax();
  }
}

/// Called by all program readers.
template <class W>
TELPHER_DEVICE void relay_call(W w, const exchange& p, std::uint64_t mark,
                               const std::uint64_t* command) {
  const bool two = (mark & exchange_command::two_parts) != 0;
  const unsigned entries = two ? exchange_command::entries : exchange_command::first_part;
  for (unsigned i = w.id(); i < entries; i += W::program_readers)
    store_pair_system(&resolve(p.relay)->at[i], {command[i], mark});
}

/// Waits for a command from `number` on and sets `number` to the one after it; false if the block
/// has to leave.
template <class W>
TELPHER_DEVICE bool next_call(W w, const exchange& p, std::uint64_t& number, std::uint64_t* command,
                              exchange_call& c) {
  TELPHER_SHARED(std::uint64_t, taken);
  if (w.id() < W::program_readers) {
    const bool first = w.block() == 0;
    const std::uint64_t mark = await_call(w, first ? resolve(p.next) : resolve(p.relay), number,
                                          first ? p.stay_ns : ~std::uint64_t{0}, command);
    if (first && w.blocks() > 1 && mark != 0) relay_call(w, p, mark, command);
    if (w.id() == 0) taken = mark;
  }
  w.barrier();
  if (taken == 0 || static_cast<std::uint32_t>(command[0]) == 0) return false;
  number = (taken & ~exchange_command::two_parts) + 1;
  c.code = command + exchange_command::heading;
  c.words = static_cast<std::uint32_t>(command[0]);
  c.packed_epoch = static_cast<std::uint32_t>(command[0] >> 32);
  c.done_value = static_cast<std::uint32_t>(command[1]);
  c.blocks = static_cast<std::uint32_t>(command[1] >> 32);
  c.epoch = command[2];
  return true;
}

/// Notes that a block has ended its part of a call.
template <class W>
TELPHER_DEVICE void arrive(W w, const exchange& p) {
  if (w.id() == 0 && w.blocks() > 1) fetch_add_device(resolve(p.arrivals), 1);
}

/// A block's last act. Block 0 waits until all parts have ended and tells the other blocks and the
/// host.
template <class W>
TELPHER_DEVICE void leave(W w, const exchange& p, std::uint64_t number, std::uint32_t parts) {
  if (w.block() != 0) return;
  if (w.blocks() > 1 && w.id() < W::program_readers) {
    while (load_acquire_system(resolve(p.arrivals)) != parts) relax();
    for (unsigned i = w.id(); i < exchange_command::first_part; i += W::program_readers)
      store_pair_system(&resolve(p.relay)->at[i], {0, number});
  }
  w.barrier();  // all readers have seen the counter
  if (w.id() != 0) return;
  *resolve(p.arrivals) = 0;
  store_release_system(resolve(p.gone), p.first_command);
}

}  // namespace telpher::kernel
