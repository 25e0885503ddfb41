// SPDX-License-Identifier: BSD-3-Clause
// A device that only opens other processes' allocations and deals out addresses: each that it gives
// is another one, a handle whose first byte is `refused` or, while `full` openings exist, any
// handle is refused, and `memory` bytes are all it has. Of addresses it knows the allocation `own`,
// and, if `known` is not 0, that what it opened has so many bytes. It registers host memory if it
// `registers`.
#pragma once

#include <map>
#include <set>

#include "device/device.hpp"

namespace telpher {

class importer : public device::backend {
 public:
  static constexpr std::uint8_t refused = 0xff;
  std::size_t full = 1000;
  std::set<void*> open;
  std::size_t memory = 0;
  std::size_t known = 0;
  device::pointer_info own;
  std::map<void*, std::size_t> allocated;
  int made = 0;  // allocations so far
  bool registers = false;
  std::set<void*> registered;

  std::size_t in_use() const noexcept {
    std::size_t sum = 0;
    for (const auto& one : allocated) sum += one.second;
    return sum;
  }

  device::vendor owner() const noexcept override { return device::vendor::emu; }
  const char* name() const noexcept override { return "importer"; }
  int device_count() noexcept override { return 1; }
  bool started() noexcept override { return true; }
  bool peer_access(int, int) noexcept override { return true; }
  device::distance distance_between(int, int) noexcept override { return device::distance::same; }

  result<void*> ipc_open(int, const device::ipc_handle& handle) noexcept override {
    if (handle.bytes[0] == refused) return status::not_supported;
    if (open.size() >= full) return status::out_of_memory;
    void* address = reinterpret_cast<void*>(++last_ << 20);
    open.insert(address);
    return address;
  }
  status ipc_close(int, void* base) noexcept override {
    return open.erase(base) == 1 ? status::ok : status::invalid_argument;
  }

  result<void*> allocate(int, std::size_t bytes) noexcept override {
    if (in_use() + bytes > memory) return status::out_of_memory;
    void* address = reinterpret_cast<void*>(++last_ << 20);
    allocated[address] = bytes;
    ++made;
    return address;
  }
  status release(int, void* address) noexcept override {
    return allocated.erase(address) == 1 ? status::ok : status::invalid_argument;
  }

  status classify(const void* address, bool, device::pointer_info& out) noexcept override {
    out = {};
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (own.bytes > 0 && at - own.base < own.bytes) out = own;
    if (known > 0 && open.count(const_cast<void*>(address)) != 0)
      out = {device::memory_kind::device, owner(), 0, reinterpret_cast<std::uintptr_t>(address),
             known};
    return status::ok;
  }

  // what it is not asked
  status properties(int, device::device_properties&) noexcept override { return no; }
  result<void*> allocate_pinned(std::size_t bytes) noexcept override { return allocate(0, bytes); }
  status release_pinned(void* address) noexcept override { return release(0, address); }
  status register_host(void* address, std::size_t) noexcept override {
    if (!registers) return no;
    registered.insert(address);
    return status::ok;
  }
  status unregister_host(void* address) noexcept override {
    return registered.erase(address) == 1 ? status::ok : status::invalid_argument;
  }
  result<void*> allocate_managed(std::size_t) noexcept override { return no; }
  status release_managed(void*) noexcept override { return no; }
  result<device::stream> create_stream(int) noexcept override { return no; }
  void destroy_stream(device::stream) noexcept override {}
  result<device::event> create_event(int) noexcept override { return no; }
  void destroy_event(device::event) noexcept override {}
  status record(device::event, device::stream) noexcept override { return no; }
  status query(device::event) noexcept override { return no; }
  status synchronise(device::stream) noexcept override { return no; }
  status copy(void*, const void*, std::size_t, device::stream) noexcept override { return no; }
  status fill(void*, int, std::size_t, device::stream) noexcept override { return no; }
  status launch(kernel::id, const void*, int, int, device::stream) noexcept override { return no; }
  result<device::ipc_handle> ipc_export(const device::pointer_info&) noexcept override {
    return no;
  }
  result<void*> map_for_cpu(const device::pointer_info&) noexcept override { return no; }
  void unmap_for_cpu(const device::pointer_info&, void*) noexcept override {}

 private:
  static constexpr status no = status::not_supported;
  std::uintptr_t last_ = 0;
};

}  // namespace telpher
