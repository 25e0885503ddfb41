// SPDX-License-Identifier: BSD-3-Clause
// One-sided access to memory of processes on other nodes, through libfabric. The library is opened
// at run time, only if TELPHER_RDMA names a provider. If its headers were missing at build time, or
// the library or the provider is missing at run time, `open` returns not_supported and the job
// continues without. Nothing outside src/net names libfabric. No MPI here: addresses travel as
// plain bytes.
//
// All functions are called under the progress lock. Most providers make progress only inside
// progress(), also on the target's side. So every process that has registered memory for peers must
// call it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "device/types.hpp"

namespace telpher::net {

/// An endpoint's name; trivially copyable, exchanged through the host MPI.
struct address {
  std::uint32_t bytes;  // 0: this process has no endpoint
  std::array<std::uint8_t, 124> name;
};

/// Registered memory as another process addresses it; trivially copyable.
struct remote_memory {
  std::uint64_t at;  // address, or offset if the provider counts from the start of the registration
  std::uint64_t key;
};

/// The state of one read or write. It must stay in place until `done`.
struct transfer_mark {
  alignas(16) std::byte context[64];  // the provider's
  bool done = false;
  status outcome = status::ok;
};

/// Memory registered with the network; deregistered on destruction.
class registration {
 public:
  virtual ~registration() = default;
  /// How a peer addresses the byte at `p`, which must lie in the registered memory.
  virtual remote_memory name(const void* p) const noexcept = 0;
  virtual void* descriptor() const noexcept = 0;
};

class fabric {
 public:
  virtual ~fabric() = default;
  /// Opens an endpoint of `provider` ("auto": any that works; one for device memory is preferred).
  static result<std::unique_ptr<fabric>> open(const char* provider) noexcept;

  virtual const char* provider() const noexcept = 0;
  virtual const address& own() const noexcept = 0;
  /// Makes peers reachable; a peer's number is its position in the list. Entries of 0 bytes are
  /// unreachable.
  virtual status connect(const std::vector<address>& peers) noexcept = 0;
  virtual bool reaches(int peer) const noexcept = 0;
  /// Whether the provider says that it registers a vendor's device memory at its own address.
  virtual bool registers(device::vendor owner) const noexcept = 0;

  /// Registers memory: host memory if `owner` is none, else memory of a device.
  virtual result<std::unique_ptr<registration>> enrol(void* begin, std::size_t bytes,
                                                      device::vendor owner,
                                                      int device) noexcept = 0;

  /// The largest single read or write, in bytes.
  virtual std::size_t largest() const noexcept = 0;
  /// would_block: the provider's queue is full; call progress() and try again.
  virtual status read(int peer, const remote_memory& from, void* to, std::size_t bytes,
                      const registration& local, transfer_mark& mark) noexcept = 0;
  /// When done, the bytes are in the peer's memory.
  virtual status write(int peer, const remote_memory& to, const void* from, std::size_t bytes,
                       const registration& local, transfer_mark& mark) noexcept = 0;
  virtual void progress() noexcept = 0;
};

}  // namespace telpher::net
