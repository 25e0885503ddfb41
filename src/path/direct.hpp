// SPDX-License-Identifier: BSD-3-Clause
// direct: off the node, where the host MPI takes device pointers itself (Cray MPICH, an Open MPI
// over a GPU-aware UCX): the message's data phase hands it the program's buffers. It rides on the
// exchange of path/rdma.hpp: ticket, reply, and the sender's grant, which here says `direct`.
//
// TELPHER_DIRECT=auto takes it where the host MPIs of all ranks say that they take the memory of
// their devices, and where it was measured to be faster than blocks: the sender decides for each
// message, and tries both ways first (path/measured_choice.hpp). `on` takes the user's word.
#pragma once

#include <cstddef>
#include <memory>

#include "path/measured_choice.hpp"
#include "path/rdma.hpp"

namespace telpher::path {

class direct {
 public:
  /// Collective over `control`: all ranks take it, or none.
  static void start(MPI_Comm control) noexcept;
  /// Whether messages may go this way.
  static bool serves() noexcept;
  /// The sender's choice between blocks (first) and the program's buffer (second).
  static measured_choice::way choose(std::size_t bytes) noexcept;
  static void learn(std::size_t bytes, measured_choice::way chosen, std::uint64_t ns) noexcept;
};

/// Either end: everything is with the host MPI when made.
std::unique_ptr<mover> send_direct(const wire& w, const region& from) noexcept;
std::unique_ptr<mover> receive_direct(const wire& w, const region& to) noexcept;

}  // namespace telpher::path
