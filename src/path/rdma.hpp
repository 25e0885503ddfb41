// SPDX-License-Identifier: BSD-3-Clause
// rdma: off the node, one-sided through net/fabric. It rides on the pipelined path's exchange:
//
//   ticket (announces)  →
//                       ←  reply: where the receiver's memory can be written, if it can
//   grant               →  how the bytes go; from here on both know:
//     blocks               the pipelined path, as ever
//     read                 the receiver reads the sender's registered memory, says `finished`
//     write                the sender stages blocks on the host and writes them into the receiver's
//                          registered memory, then says `finished`
//     direct               path/direct.hpp
//
// The sender alone decides, with one message, so it can still hurry (and grant `blocks`) as long as
// it has not granted anything else; nobody ever touches memory that its owner may have taken back.
//
// Run over the tcp provider on the emulated device. InfiniBand, Slingshot and registration of a
// vendor's device memory (FI_HMEM) are written and have not been run.
#pragma once

#include <memory>

#include "host_mpi/host_mpi.hpp"
#include "net/registrations.hpp"
#include "path/staged.hpp"

namespace telpher::path {

struct wire;

/// What the sender decides.
struct grant {
  enum : std::uint32_t { blocks = 1, read = 2, write = 3, direct = 4 };
  std::uint32_t how;
  std::uint32_t reserved;
  net::remote_memory from;  // read
};

class rdma {
 public:
  /// Collective over `control`: opens the endpoint that TELPHER_RDMA names and makes peers known.
  /// A rank that cannot goes on without; never fails the job.
  static void start(MPI_Comm control, int ranks) noexcept;
  static void stop() noexcept;
  /// Whether a message to a rank may go this way.
  static bool serves(int peer, std::size_t bytes) noexcept;
  /// Part of every progress pass of a rank with something under way.
  static void progress() noexcept;
};

/// Registered device memory of one end of a message; empty where it cannot be registered.
struct reachable {
  net::registrations::use memory;
  std::byte* data = nullptr;

  static reachable of(const region& r) noexcept;
  explicit operator bool() const noexcept { return static_cast<bool>(memory); }
  net::remote_memory name() const noexcept { return memory.held().name(data); }
};

/// One end, once something other than blocks was granted.
class mover : public transfer {
 public:
  /// Grows whenever something moves.
  virtual std::size_t moved() const noexcept = 0;
  /// Whether the bytes need this rank's polls to move on.
  virtual bool needs_us() const noexcept { return true; }
};

/// The sender's decision. `target` is what the receiver's reply names, `writable` whether it does.
/// Null: `out` grants blocks.
std::unique_ptr<mover> grant_rdma(const wire& w, const region& from,
                                  const net::remote_memory& target, bool writable,
                                  grant& out) noexcept;

/// The receiver's half of a grant other than blocks; `target` is its memory.
std::unique_ptr<mover> accept_rdma(const wire& w, std::size_t bytes, reachable target,
                                   const grant& g) noexcept;

}  // namespace telpher::path
