// SPDX-License-Identifier: BSD-3-Clause
// A send and a receive that were matched once (path/matched.hpp), started again and again in the
// order of streams. The host takes no part, so a launch may be replayed by a graph.
//
// Protocol. The sender counts messages that it has put, the receiver messages that it has taken.
// Each end keeps its own count. The receiver has an inbox of four slots; message n (from 0 on)
// uses slot n % 4.
//   matched_put    copies message n to its slot, fence, own = n + 1, and the receiver's
//                  peers = n + 1 (release, system scope). Then it waits until its peers >= n - 2
//                  (acquire): message n - 3 has been taken, so that the slot of message n + 1 is
//                  free. No other rank waits for anything that comes after this wait.
//   matched_take   begins with the sender's peers = n = own (release): what was launched before has
//                  taken n messages. It waits until peers > n (acquire), copies the slot to the
//                  program's buffer, own = n + 1.
// A message of at most `packed_limit` bytes travels in flagged words (flagged_bytes.hpp) with the
// mark 2n + 1: matched_take polls the words themselves. So matched_put needs neither a fence nor
// `peers` there, and no block waits for another one.
//
// A large message goes straight into the receiver's buffer if its receive has been started by then:
//   matched_put    of a receive that starts: direct = 0, the sender's opened = own + 1 = n + 1
//                  (release, system scope): what was launched before has read the buffer. Of a
//                  send: if opened > n (acquire, for a few looks), it copies to the buffer in place
//                  of the slot, and writes the receiver's direct = 1 before `peers`. The blocks of
//                  a message agree by `decided`, which the first one of them sets.
//   matched_take   copies nothing if direct is 1.
// A send never waits for the start of its receive, so programs have no new order to keep. `direct`
// always belongs to the message that matched_take awaits: the next message cannot go to the buffer
// before its receive has started, and that start comes after this take.
//
// A send that has been put is complete: to wait for it takes no kernel. The start of a send that is
// two messages ahead of the receives that have begun waits, and holds its stream. MPI allows that
// for a send without a receive (MPI-4.1, 3.5). A send whose receive has been started never waits.
//
// The last work item of a launch that may wait also writes the count to pinned memory, where the
// host finds whether a stream is still held (path/matched_room.hpp).
//
// Counts may pass 2^32: they are compared by their difference, and 2^32 is a multiple of 4. `own`
// and `arrivals` belong to the launches of one end, which follow one another. Each block reads
// `own` before it adds to `arrivals`; the last one to add writes it.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/copy_batch.hpp"
#include "kernel/flagged_bytes.hpp"
#include "kernel/kernel.hpp"

namespace telpher::kernel {

/// The part of a block in a piece.
template <class W>
struct matched_share {
  const matched_pieces::piece& piece;
  unsigned blocks;      // of the piece
  std::uint64_t index;  // of this work item among those of the piece
  std::uint64_t workers;
};

template <class W>
TELPHER_DEVICE matched_share<W> share_of(W w, const matched_pieces& p) {
  const unsigned i = piece_of(p, w.block());
  const unsigned blocks = p.first_block[i + 1] - p.first_block[i];
  return {p.pieces[i], blocks, std::uint64_t{w.block() - p.first_block[i]} * w.size() + w.id(),
          std::uint64_t{blocks} * w.size()};
}

TELPHER_DEVICE std::uint8_t* slot_of(const matched_pieces::piece& p, std::uint32_t message) {
  return resolve(static_cast<std::uint8_t*>(p.inbox)) + message % matched_pieces::slots * p.stride;
}

/// After a barrier behind each block's share: true for one work item of the block that comes last.
template <class W>
TELPHER_DEVICE bool is_last(W w, const matched_share<W>& s) {
  if (w.id() != 0) return false;
  if (s.blocks == 1) return true;
  std::uint32_t* const arrivals = &resolve(s.piece.end)->arrivals;
  if (fetch_add_device(arrivals, 1) != s.blocks - 1) return false;
  *arrivals = 0;
  return true;
}

/// By one work item: waits until the peer's count is `least`.
TELPHER_DEVICE void await_peer(const matched_words* end, std::uint32_t least) {
  while (static_cast<std::int32_t>(load_acquire_system(&end->peers) - least) < 0) relax();
}

// --- straight into the buffer ---

/// A receive that starts.
template <class W>
TELPHER_DEVICE void open_buffer(W w, const matched_share<W>& s) {
  if (w.id() != 0) return;
  matched_words* const end = resolve(s.piece.end);
  end->direct = 0;
  store_release_system(&resolve(s.piece.peer)->opened, end->own + 1);
}

TELPHER_DEVICE bool is_open(const matched_words* end, std::uint32_t n) {
  return static_cast<std::int32_t>(load_acquire_system(&end->opened) - (n + 1)) >= 0;
}

/// By one work item of each block: whether message n goes to the buffer, for all blocks alike.
TELPHER_DEVICE bool goes_direct(matched_words* end, std::uint32_t n) {
  constexpr int most_looks = 4;  // the start may be on its way
  bool open = is_open(end, n);
  for (int looks = 1; looks < most_looks && !open; ++looks) {
    relax();
    open = is_open(end, n);
  }
  const std::uint32_t number = (n + 1) << 1;  // in the upper bits; the lowest one tells
  std::uint32_t before = load_acquire_system(&end->decided);
  if ((before ^ number) > 1) {
    const std::uint32_t found = exchange_if_device(&end->decided, before, number | open);
    before = found == before ? number | open : found;
  }
  return before & 1;
}

// --- packed ---

TELPHER_DEVICE bool is_packed(const matched_pieces::piece& p) {
  return p.bytes <= matched_pieces::packed_limit;
}

TELPHER_DEVICE std::uint32_t mark_of(std::uint32_t message) {
  return 2 * message + 1;
}

template <class W>
TELPHER_DEVICE void put_packed(const matched_share<W>& s, std::uint32_t n) {
  put_flagged(slot_of(s.piece, n), resolve(static_cast<const std::uint8_t*>(s.piece.buffer)),
              s.piece.bytes, mark_of(n), s.index, s.workers);
}

template <class W>
TELPHER_DEVICE void take_packed(const matched_share<W>& s, std::uint32_t n) {
  take_flagged(resolve(static_cast<std::uint8_t*>(s.piece.buffer)), slot_of(s.piece, n),
               s.piece.bytes, mark_of(n), s.index, s.workers, [] { return false; });
}

// --- the kernels ---

template <class W>
TELPHER_DEVICE void matched_put_body(W w, const matched_put& p) {
  TELPHER_SHARED(bool, direct);
  const matched_share<W> s = share_of(w, p);
  if (!s.piece.inbox) return open_buffer(w, s);
  matched_words* const end = resolve(s.piece.end);
  const std::uint32_t n = end->own;
  const bool packed = is_packed(s.piece);
  if (packed) {
    put_packed(s, n);
    w.barrier();  // all have read `own`
  } else {
    if (w.id() == 0) direct = s.piece.target && goes_direct(end, n);
    w.barrier();
    copy_span(s.index, s.workers,
              direct ? resolve(static_cast<std::uint8_t*>(s.piece.target)) : slot_of(s.piece, n),
              resolve(static_cast<const std::uint8_t*>(s.piece.buffer)), s.piece.bytes);
    w.publish();
  }
  admit_next_launch();
  if (!is_last(w, s)) return;
  end->own = n + 1;
  if (!packed) {
    matched_words* const peer = resolve(s.piece.peer);
    if (direct) store_published(&peer->direct, 1);
    fence_system();  // behind the other blocks' fences
    store_published(&peer->peers, n + 1);
  }
  await_peer(end, n - 2);
  store_relaxed_system(resolve(s.piece.ended), n + 1);
}

template <class W>
TELPHER_DEVICE void matched_take_body(W w, const matched_take& p) {
  TELPHER_SHARED(bool, direct);
  const matched_share<W> s = share_of(w, p);
  matched_words* const end = resolve(s.piece.end);
  const std::uint32_t n = end->own;
  if (s.index == s.workers - 1) store_release_system(&resolve(s.piece.peer)->peers, n);
  if (is_packed(s.piece)) {
    take_packed(s, n);
  } else {
    if (w.id() == 0) {
      await_peer(end, n + 1);
      direct = load_acquire_system(&end->direct) != 0;
    }
    w.barrier();
    if (!direct)
      copy_span(s.index, s.workers, resolve(static_cast<std::uint8_t*>(s.piece.buffer)),
                slot_of(s.piece, n), s.piece.bytes);
  }
  w.barrier();  // all have read `own`
  admit_next_launch();
  if (!is_last(w, s)) return;
  end->own = n + 1;
  store_relaxed_system(resolve(s.piece.ended), n + 1);
}

}  // namespace telpher::kernel
