// SPDX-License-Identifier: BSD-3-Clause
// A send and a receive that were matched once (path/matched.hpp), started again and again in the
// order of streams. The host takes no part, so a launch may be replayed by a graph.
//
// Protocol. The sender counts messages that it has put, the receiver messages that it has taken.
// Each end keeps its own count, and writes it to `peers` of the other end. The receiver has an
// inbox of two slots; message n (from 0 on) uses slot n % 2.
//   matched_put    waits until peers >= n - 1 (acquire): message n - 2 has left its slot. Copies
//                  message n there, fence, own = n + 1, and the receiver's peers = n + 1 (release,
//                  system scope).
//   matched_take   waits until peers > own = n (acquire), copies the slot to the program's buffer,
//                  fence, own = n + 1, and the sender's peers = n + 1.
// A send that has been put is complete: to wait for it takes no kernel. The start of one that would
// be two messages ahead waits, as a send without a receive may (MPI-4.1, 3.5); it is never the
// start that belongs to a receive which has been started. Counts may pass 2^32: they are compared
// by their difference. `own` and `arrivals` belong to the launches of one end, which follow one
// another. Each block reads `own` before it adds to `arrivals`; the last one to add writes it.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/copy_batch.hpp"
#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"

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

/// After a block's share of message `n`: the last block counts it, here and at the peer.
template <class W>
TELPHER_DEVICE void count_message(W w, const matched_share<W>& s, std::uint32_t n) {
  w.publish();
  if (w.id() != 0) return;
  matched_words* const end = resolve(s.piece.end);
  if (s.blocks > 1) {
    if (fetch_add_device(&end->arrivals, 1) != s.blocks - 1) return;
    end->arrivals = 0;
    fence_system();
  }
  end->own = n + 1;
  store_published(resolve(s.piece.peer), n + 1);
}

/// Waits until the peer's count is `least`.
template <class W>
TELPHER_DEVICE void await_peer(W w, const matched_words* end, std::uint32_t least) {
  if (w.id() == 0)
    while (static_cast<std::int32_t>(load_acquire_system(&end->peers) - least) < 0) relax();
  w.barrier();
}

template <class W>
TELPHER_DEVICE void matched_put_body(W w, const matched_put& p) {
  const matched_share<W> s = share_of(w, p);
  const matched_words* const end = resolve(s.piece.end);
  const std::uint32_t n = end->own;
  await_peer(w, end, n - 1);
  copy_span(s.index, s.workers, slot_of(s.piece, n),
            resolve(static_cast<const std::uint8_t*>(s.piece.buffer)), s.piece.bytes);
  count_message(w, s, n);
}

template <class W>
TELPHER_DEVICE void matched_take_body(W w, const matched_take& p) {
  const matched_share<W> s = share_of(w, p);
  const matched_words* const end = resolve(s.piece.end);
  const std::uint32_t n = end->own;
  await_peer(w, end, n + 1);
  copy_span(s.index, s.workers, resolve(static_cast<std::uint8_t*>(s.piece.buffer)),
            slot_of(s.piece, n), s.piece.bytes);
  count_message(w, s, n);
}

}  // namespace telpher::kernel
