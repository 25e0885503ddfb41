// SPDX-License-Identifier: BSD-3-Clause
// This process's allocations as the network knows them: a facet of each (memory/allocations.hpp).
// Device memory is registered at its own address if the provider accepts that, else through a CPU
// window of its own, which nobody else may close. If neither is possible, acquire() returns
// not_supported, and the message's blocks are staged. Called under the progress lock.
#pragma once

#include "memory/allocations.hpp"
#include "net/fabric.hpp"

namespace telpher::net {

/// A registered allocation in use; released on destruction.
class registered_use {
 public:
  registered_use() = default;
  static result<registered_use> acquire(fabric& f, const memory::place& where,
                                        const device::pointer_info& info) noexcept;

  explicit operator bool() const noexcept { return static_cast<bool>(facet_); }
  const registration& held() const noexcept;
  /// The address that the network uses for a device address of the allocation.
  std::byte* reach(const void* device_address) const noexcept;

 private:
  explicit registered_use(memory::allocations::held facet) noexcept : facet_(std::move(facet)) {}
  memory::allocations::held facet_;
};

/// Withdraws all that nobody uses; before the fabric is closed.
void withdraw_registrations() noexcept;

}  // namespace telpher::net
