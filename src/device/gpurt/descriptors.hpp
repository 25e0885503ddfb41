// SPDX-License-Identifier: BSD-3-Clause
// Chunks that the program mapped itself, for other processes by file descriptor: the part of
// gpurt::backend for runtimes that can do this (gpurt::gives_descriptors).
#pragma once

#include "device/device.hpp"
#include "device/gpurt/guard.hpp"
#include "device/gpurt/runtime.hpp"

namespace telpher::device::gpurt {

/// Calls R with the device current; logs a failure under the name.
template <class R, class F>
status call_on(int device, F&& call, const char* name) noexcept {
  if (device < 0) return status::invalid_argument;
  const guard<R> g(device);
  if (failed(g.entered())) return g.entered();
  return check<R>(call(), name);
}

template <gpu_runtime R>
class descriptors : public device::backend {};

template <gpu_runtime R>
requires gives_descriptors<R>
class descriptors<R> : public device::backend {
 public:
  result<int> descriptor_export(const pointer_info& info) noexcept override {
    if (info.owner != R::owner || !info.exportable || !info.is_chunk) return status::not_supported;
    int file = -1;
    const auto get = [&] { return R::descriptor_get(&file, info); };
    TELPHER_TRY(call_on<R>(info.device, get, "descriptor export"));
    return file;
  }
  result<void*> descriptors_open(int device, std::span<const int> files,
                                 chunk_sizes bytes) noexcept override {
    void* base = nullptr;
    const auto open = [&] { return R::descriptors_open(&base, device, files, bytes); };
    TELPHER_TRY(call_on<R>(device, open, "opening of descriptors"));
    return base;
  }
  status descriptors_close(int device, void* base, chunk_sizes bytes) noexcept override {
    const auto close = [&] { return R::descriptors_close(base, bytes); };
    return call_on<R>(device, close, "closing of descriptors");
  }
};

}  // namespace telpher::device::gpurt
