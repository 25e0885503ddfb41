// SPDX-License-Identifier: BSD-3-Clause
// The emulated device for unit tests of memory/: opened as a plug-in, as in a job; and one of its
// allocations.
#pragma once

#include "check.hpp"
#include "device/registry.hpp"
#include "memory/memory.hpp"

namespace emulated {

inline telpher::device::backend& device() {
  telpher::device::discover();
  const auto all = telpher::device::backends();
  if (all.empty()) std::puts("no emulated device: is TELPHER_PLUGIN_PATH right?"), std::exit(1);
  return *all.front();
}

/// Device memory, released on destruction.
class allocation {
 public:
  explicit allocation(std::size_t bytes) : address_(*device().allocate(0, bytes)) {}
  ~allocation() { CHECK_EQ(device().release(0, address_), telpher::status::ok); }
  allocation(const allocation&) = delete;
  allocation& operator=(const allocation&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(address_); }
  telpher::device::pointer_info info() const {
    telpher::device::pointer_info i;
    CHECK_EQ(device().classify(address_, true, i), telpher::status::ok);
    return i;
  }

 private:
  void* address_;
};

}  // namespace emulated
