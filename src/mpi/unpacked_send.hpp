// SPDX-License-Identifier: BSD-3-Clause
// Sends of types with gaps whose bytes stay where the program has them, and no kernel packs them as
// a whole. On a node the receiver's device takes them from there (path ipc_unpack). Between nodes
// the blocks of the message are packed one by one (path pipelined).
#pragma once

#include "mpi/pt2pt.hpp"
#include "path/table.hpp"
#include "ticket/send.hpp"

namespace telpher::mpi {

/// As the table of paths wants to know it. `peer` is a rank of the world, or negative.
path::send_end end_of(ticket::message& m, pt2pt::send_mode mode, int peer) noexcept;

/// Leaves the message that way, if that is possible and pays: `m.payload` names the first block.
bool leave_unpacked(const pt2pt::send_args& a, const datatype::layout& l,
                    ticket::message& m) noexcept;

/// Packs a message that was left so and whose work before has ended; `m.ready` says when it is
/// done.
status pack_after_all(ticket::message& m) noexcept;

}  // namespace telpher::mpi
