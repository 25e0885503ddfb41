// SPDX-License-Identifier: BSD-3-Clause
// One-sided access to memory of processes on other nodes, through libfabric. The library is opened
// at run time, only where TELPHER_RDMA names a provider; without its headers at build time, or
// without the library or the provider at run time, `open` answers not_supported and the job goes on
// without. Nothing outside src/net names libfabric. No MPI here: addresses travel as plain bytes.
//
// All functions under the engine's lock. Most providers make progress only inside progress(), on
// the target's side as well: every process that has offered memory must call it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "device/types.hpp"

namespace telpher::net {

/// An endpoint's name; plain data, exchanged through the host MPI.
struct address {
  std::uint32_t bytes;  // 0: this process has no endpoint
  std::array<std::uint8_t, 124> name;
};

/// Registered memory as it is named to another process; plain data.
struct remote_memory {
  std::uint64_t at;  // address, or offset where the provider counts from the registration's begin
  std::uint64_t key;
};

/// A one-sided operation under way. Must not move or die before `done`.
struct transfer_mark {
  alignas(16) std::byte context[64];  // the provider's
  bool done = false;
  status outcome = status::ok;
};

/// Memory that the network can reach; deregistered on destruction.
class registration {
 public:
  virtual ~registration() = default;
  /// How a peer names the byte at `p`, which must lie inside.
  virtual remote_memory name(const void* p) const noexcept = 0;
  virtual void* descriptor() const noexcept = 0;
};

class fabric {
 public:
  virtual ~fabric() = default;
  /// Opens an endpoint of `provider` ("auto": whatever serves, device memory preferred).
  static result<std::unique_ptr<fabric>> open(const char* provider) noexcept;

  virtual const char* provider() const noexcept = 0;
  virtual const address& own() const noexcept = 0;
  /// Makes peers reachable by their position in the list; entries of 0 bytes are not.
  virtual status connect(const std::vector<address>& peers) noexcept = 0;
  virtual bool reaches(int peer) const noexcept = 0;
  /// Whether the provider says that it registers a vendor's device memory by its own address.
  virtual bool registers(device::vendor owner) const noexcept = 0;

  /// Host memory with `owner` none, else memory of a device.
  virtual result<std::unique_ptr<registration>> enrol(void* begin, std::size_t bytes,
                                                      device::vendor owner,
                                                      int device) noexcept = 0;

  /// Largest single read or write.
  virtual std::size_t largest() const noexcept = 0;
  /// would_block: the provider is full, call progress() and try again.
  virtual status read(int peer, const remote_memory& from, void* to, std::size_t bytes,
                      const registration& local, transfer_mark& mark) noexcept = 0;
  /// Done means: the bytes are in the peer's memory.
  virtual status write(int peer, const remote_memory& to, const void* from, std::size_t bytes,
                       const registration& local, transfer_mark& mark) noexcept = 0;
  virtual void progress() noexcept = 0;
};

}  // namespace telpher::net
