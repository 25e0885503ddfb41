// SPDX-License-Identifier: BSD-3-Clause
// rdma: between nodes, one-sided through net/fabric. It uses the exchange of the pipelined path:
//
//   ticket (announces)  →
//                       ←  reply: where the receiver's memory can be written, if it can
//   protocol choice     →  how the bytes go; from here on both know:
//     blocks               the pipelined path, as without a choice
//     read                 the receiver reads the sender's registered memory, sends `finished`
//     write                the sender stages blocks on the host and writes them into the receiver's
//                          registered memory, then sends `finished`
//     direct               path/direct.hpp
//
// Only the sender decides, with one message. So it can still push (and choose `blocks`) as long as
// it has chosen nothing else, and nobody accesses memory that its owner may have taken back.
//
// Tested over the tcp provider with the emulated device. InfiniBand, Slingshot and the registration
// of a vendor's device memory (FI_HMEM) are written but have not been run.
#pragma once

#include <memory>

#include "host_mpi/host_mpi.hpp"
#include "net/registrations.hpp"
#include "path/staged.hpp"

namespace telpher::path {

struct wire;

/// The sender's decision.
struct protocol_choice {
  enum : std::uint32_t { blocks = 1, read = 2, write = 3, direct = 4 };
  std::uint32_t how;
  std::uint32_t reserved;
  net::remote_memory from;  // read
};

class rdma {
 public:
  /// Collective over `control`: opens the endpoint that TELPHER_RDMA names and exchanges addresses.
  /// A rank that fails continues without an endpoint; the job never fails.
  static void start(MPI_Comm control, int ranks) noexcept;
  static void stop() noexcept;
  /// Whether both ends of a message to a rank have an endpoint.
  static bool reaches(int peer) noexcept;
  /// Called in every progress pass of a rank with a transfer in flight.
  static void progress() noexcept;
};

/// Registered device memory of one end of a message; empty if it cannot be registered.
struct reachable {
  net::registered_use memory;
  std::byte* data = nullptr;

  static reachable of(const region& r) noexcept;
  explicit operator bool() const noexcept { return static_cast<bool>(memory); }
  net::remote_memory name() const noexcept { return memory.held().name(data); }
};

/// One end of a message, if the choice is not `blocks`.
class mover : public transfer {
 public:
  /// Increases whenever something moves.
  virtual std::size_t moved() const noexcept = 0;
  /// Whether the transfer needs this rank's polls to make progress.
  virtual bool needs_us() const noexcept { return true; }
};

/// The sender's decision. `target` is the memory in the receiver's reply, `writable` whether there
/// is one. Null: `out` says blocks.
std::unique_ptr<mover> choose_rdma(const wire& w, const region& from,
                                   const net::remote_memory& target, bool writable,
                                   protocol_choice& out) noexcept;

/// The receiver's half of a choice other than blocks; `target` is its memory.
std::unique_ptr<mover> accept_rdma(const wire& w, std::size_t bytes, reachable target,
                                   const protocol_choice& c) noexcept;

}  // namespace telpher::path
