// SPDX-License-Identifier: BSD-3-Clause
// Inboxes: device memory at a receiver, one for each sender of its node whose small messages it
// receives in the order of streams. The sender's kernel puts a message into it, in flagged words; a
// message takes one cell, or several in a row. The receiver says how large they are.
// mpi/stream_messages.hpp has the protocol; kernel/inbox.hpp has the kernels.
//
// The receiver makes an inbox when its program first receives from that sender in a stream, and
// tells of it in its segment (inbox_card). From then on the sender may use it. Only the sender
// deals out the cells. They are free again when the receiver has stored done in the slot of their
// message. Each message has a mark of its own, so words of an earlier one are not taken for those
// of a later one.
//
// All under the progress lock.
#pragma once

#include <memory>
#include <optional>

#include "kernel/kernel.hpp"
#include "path/segment.hpp"
#include "path/transfer.hpp"

namespace telpher::path {

// --- the receiver's side ---

struct inbox {
  memory::place where;
  const std::byte* base;
  std::uint64_t cell_bytes;
};

/// This rank's inbox for messages of a rank of the node, which is the sender-th of `ranks`; made if
/// there is none. Null: there can be none, or it is on another device than `where`.
const inbox* inbox_for(own_segment& own, std::size_t sender, const memory::place& where,
                       std::size_t ranks) noexcept;

/// Moves what has arrived in the inbox to `to`, for a receive that is not in a stream: a kernel of
/// ours takes it.
result<std::unique_ptr<transfer>> take_from_inbox(std::size_t sender,
                                                  const kernel::inbox_take::arrival& a,
                                                  const region& to) noexcept;

// --- the sender's side ---

/// A message's place in a receiver's inbox.
struct inbox_cells {
  std::byte* at = nullptr;  // as kernels of the sender's device reach it
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t mark = 0;
};

/// Free cells for a message of `bytes` from `where` to a rank of the node, whose segment is
/// `receiver`. `own`: this rank's place among those of the node. would_block: there is not so much
/// room in a row now. not_supported: there is no inbox, or a call has waited for room in vain since
/// the last cells came free.
result<inbox_cells> take_cells(const segment& receiver, int peer, std::size_t own,
                               const memory::place& where, std::size_t bytes) noexcept;
/// The caller has waited for room in vain.
void note_no_room(int peer) noexcept;
void give_cells(int peer, const inbox_cells& cells) noexcept;

/// Blocks and threads of the kernels that put or take so many bytes.
int inbox_blocks(std::size_t bytes) noexcept;
int inbox_threads(std::size_t bytes) noexcept;

/// At the job's start and end.
void start_inboxes() noexcept;
void close_inboxes() noexcept;

}  // namespace telpher::path
