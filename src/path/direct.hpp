// SPDX-License-Identifier: BSD-3-Clause
// direct: between nodes, if the host MPI itself accepts device pointers (Cray MPICH, an Open MPI
// over a GPU-aware UCX). The data phase of a message then passes the program's buffers to the host
// MPI. It uses the exchange of path/rdma.hpp: ticket, reply, and the sender's choice, which says
// `direct`.
//
// TELPHER_DIRECT=auto uses it if the host MPIs of all ranks say that they accept memory of their
// devices, and if it was measured to be faster than blocks: the sender decides for each message and
// tries both first (path/measured_choice.hpp). `on` uses it for every message, without asking the
// host MPI.
#pragma once

#include <cstddef>
#include <memory>

#include "path/rdma.hpp"

namespace telpher::path {

class direct {
 public:
  /// Collective over `control`: either all ranks use it or none.
  static void start(MPI_Comm control) noexcept;
  /// Whether messages may use this path.
  static bool serves() noexcept;
  /// Whether the host MPIs of all ranks say that they take memory of their devices, so that
  /// collectives may pass it as well (coll/handover.hpp). The same at all ranks.
  static bool host_says_so() noexcept;
  /// The sender's choice for a message, which is asked once: not blocks but the program's buffer.
  static bool wanted(std::size_t bytes) noexcept;
  /// How long it took, by this path or in blocks.
  static void learn(std::size_t bytes, bool by_this, std::uint64_t ns) noexcept;
};

/// Either end of a message. Everything has been passed to the host MPI when the object is made.
std::unique_ptr<mover> send_direct(const wire& w, const region& from) noexcept;
std::unique_ptr<mover> receive_direct(const wire& w, const region& to) noexcept;

}  // namespace telpher::path
