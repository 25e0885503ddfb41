// SPDX-License-Identifier: BSD-3-Clause
// Other processes' memory. Compiled, but not run: the CPU device lacks this aspect.
#include <sycl/sycl.hpp>

#include <cstring>
#include <vector>

#include "device/sycl/backend.hpp"
#include "device/sycl/guarded.hpp"
#include "device/sycl/places.hpp"

namespace telpher::device::sycl {
namespace {

namespace ipc_memory = ::sycl::ext::oneapi::experimental::ipc::memory;

// How SYCL's handle, whose length the driver chooses, is stored in an ipc_handle. On Level Zero it
// contains a file descriptor of this process, which the opening process duplicates. So the handle
// must stay valid until the allocation is freed, and it is never returned to SYCL (put).
struct wire_handle {
  std::uint16_t bytes;
  std::byte data[ipc_handle::capacity - sizeof(std::uint16_t)];
};
static_assert(sizeof(wire_handle) == ipc_handle::capacity);

}  // namespace

result<ipc_handle> backend::ipc_export(const pointer_info& info) noexcept {
  if (info.kind != memory_kind::device || info.owner != vendor::sycl || !info.exportable)
    return status::not_supported;
  ipc_handle handle{};
  TELPHER_TRY(guarded("ipc get", [&] {
    const auto native = ipc_memory::get(reinterpret_cast<void*>(info.base),
                                        places::instance().at(info.device).context);
    const auto data = native.data();
    wire_handle wire{};
    if (data.size() > sizeof wire.data) return status::not_supported;
    wire.bytes = static_cast<std::uint16_t>(data.size());
    std::memcpy(wire.data, data.data(), data.size());
    std::memcpy(handle.bytes, &wire, sizeof wire);
    return status::ok;
  }));
  return handle;
}

result<void*> backend::ipc_open(int device, const ipc_handle& handle) noexcept {
  if (!valid(device) || !started()) return status::not_supported;
  void* base = nullptr;
  TELPHER_TRY(guarded("ipc open", [&] {
    const place& p = places::instance().at(device);
    wire_handle wire;
    std::memcpy(&wire, handle.bytes, sizeof wire);
    if (!p.exports || wire.bytes == 0 || wire.bytes > sizeof wire.data)
      return status::not_supported;
    const std::vector<std::byte> data(wire.data, wire.data + wire.bytes);
    try {
      base = ipc_memory::open(data, p.context, p.device);
    } catch (const ::sycl::exception& e) {
      // Another container, or the system does not let processes duplicate descriptors.
      TELPHER_INFO("another process's memory cannot be opened: %s", e.what());
      return status::not_supported;
    }
    return status::ok;
  }));
  return base;
}

status backend::ipc_close(int device, void* base) noexcept {
  return guarded("ipc close", [&] {
    ipc_memory::close(base, places::instance().at(device).context);
    return status::ok;
  });
}

}  // namespace telpher::device::sycl
