// SPDX-License-Identifier: BSD-3-Clause
// An address and what kind of memory it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/memory.hpp"

namespace telpher::coll {

struct memory_ref {
  std::byte* at = nullptr;
  memory::place where;

  static memory_ref of(const void* address) noexcept {
    return {static_cast<std::byte*>(const_cast<void*>(address)), memory::classify(address)};
  }
  memory_ref operator+(std::uint64_t bytes) const noexcept { return {at + bytes, where}; }
  bool on_device() const noexcept { return where.on_device(); }
};

}  // namespace telpher::coll
