// SPDX-License-Identifier: BSD-3-Clause
// A message from one stream to another one, moved by two kernels (mpi/stream_messages.hpp has the
// protocol of the hosts). inbox_put stores its bytes in flagged words to cells of the receiver's
// inbox. Whoever reads the mark has the data, so there is no fence and no other flag. inbox_take
// first waits for an order of its host: which cell, which mark, how many bytes; or that the host
// has moved the message. The host may change an order that names a cell to `moved_by_host`, if the
// words will not come: then the kernel ends without them.
#pragma once

#include "kernel/flagged_bytes.hpp"
#include "kernel/kernel.hpp"

namespace telpher::kernel {

/// The share of one of the blocks that put a message.
template <class W>
TELPHER_DEVICE void put_message(W w, const inbox_put& p, unsigned block, unsigned blocks) {
  put_flagged(resolve(static_cast<std::uint8_t*>(p.place)),
              resolve(static_cast<const std::uint8_t*>(p.from)), p.bytes, p.mark,
              block * w.size() + w.id(), blocks * w.size());
  w.barrier();  // all have read
  admit_next_launch();
  if (w.id() == 0) store_relaxed_system(resolve(p.sent) + block, 1u);
}

template <class W>
TELPHER_DEVICE void inbox_put_body(W w, const inbox_put& p) {
  put_message(w, p, w.block(), w.blocks());
}

template <class W>
TELPHER_DEVICE void inbox_put_all_body(W w, const inbox_put_all& p) {
  put_message(w, p.each[w.block() / p.share], w.block() % p.share, p.share);
}

/// By one work item.
TELPHER_DEVICE std::uint64_t await_order(const inbox_take& p) {
  const std::uint64_t* const order = resolve(p.order);
  std::uint64_t found = load_acquire_system(order);
  if (found == 0) store_relaxed_system(resolve(p.reached), std::uint64_t{1});
  for (; found == 0; found = load_acquire_system(order)) relax();
  return found;
}

/// The share of one of the blocks that take a message.
template <class W>
TELPHER_DEVICE void take_message(W w, const inbox_take& p, unsigned block, unsigned blocks) {
  TELPHER_SHARED(std::uint64_t, order);
  if (w.id() == 0) order = await_order(p);
  w.barrier();
  const std::uint64_t mine = order;
  if (mine != inbox_take::moved_by_host) {
    const inbox_take::arrival a = inbox_take::read(mine);
    take_flagged(resolve(static_cast<std::uint8_t*>(p.to)),
                 resolve(static_cast<const std::uint8_t*>(p.inbox)) + a.cell * p.cell_bytes,
                 a.bytes, a.mark, block * w.size() + w.id(), blocks * w.size(),
                 [&] { return load_acquire_system(resolve(p.order)) != mine; });
  }
  w.barrier();  // all have read the cell
  admit_next_launch();
  if (w.id() == 0) store_relaxed_system(resolve(p.over) + block, 1u);
}

template <class W>
TELPHER_DEVICE void inbox_take_body(W w, const inbox_take& p) {
  take_message(w, p, w.block(), w.blocks());
}

template <class W>
TELPHER_DEVICE void inbox_take_all_body(W w, const inbox_take_all& p) {
  take_message(w, p.each[w.block() / p.share], w.block() % p.share, p.share);
}

}  // namespace telpher::kernel
