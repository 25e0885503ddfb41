// SPDX-License-Identifier: BSD-3-Clause
// Memory of CUDA's virtual memory management for tests, in chunks that are mapped side by side.
#pragma once

#include <cstddef>

#include "../bench/cuda_types.hpp"
#include "cuda_driver.hpp"

namespace cuda_driver {

using namespace telpher::bench::cuda_types;
using address = unsigned long long;

/// Addresses for chunks; null if there are none to be had.
inline void* reserve_chunks(std::size_t bytes) {
  address base = 0;
  if (call("cuMemAddressReserve", &base, bytes, std::size_t{0}, address{0}, address{0}) != 0)
    return nullptr;
  return reinterpret_cast<void*>(base);
}
inline bool unreserve_chunks(void* at, std::size_t bytes) {
  return call("cuMemAddressFree", reinterpret_cast<address>(at), bytes) == 0;
}

/// `bytes` is a multiple of `chunk_bytes`, and this of the device's granularity (2 MiB).
inline bool map_chunks(void* at, int device, bool exports, std::size_t bytes,
                       std::size_t chunk_bytes) {
  allocation_properties wanted{};
  wanted.type = 1;
  wanted.handle_types = exports ? 1 : 0;
  wanted.where = {1, device};
  const access_description access{{1, device}, 3};
  const auto base = reinterpret_cast<address>(at);
  for (std::size_t done = 0; done < bytes; done += chunk_bytes) {
    address memory = 0;
    if (call("cuMemCreate", &memory, chunk_bytes,
             static_cast<const allocation_properties*>(&wanted), address{0}) != 0 ||
        call("cuMemMap", base + done, chunk_bytes, std::size_t{0}, memory, address{0}) != 0 ||
        call("cuMemRelease", memory) != 0)  // the mapping keeps it
      return false;
  }
  return call("cuMemSetAccess", base, bytes, &access, std::size_t{1}) == 0;
}
inline bool unmap_chunks(void* at, std::size_t bytes, std::size_t chunk_bytes) {
  bool good = true;
  for (std::size_t done = 0; done < bytes; done += chunk_bytes)
    good = call("cuMemUnmap", reinterpret_cast<address>(at) + done, chunk_bytes) == 0 && good;
  return good;
}

/// Memory of a stream-ordered pool whose memory other processes may import.
class shareable_pool {
 public:
  shareable_pool(int device, std::size_t bytes) : device_(device) {
    struct {
      int type, handle_types;
      location where;
      void* unused_on_linux;
      std::size_t most;
      unsigned char rest[56];
    } wanted{1, 1, {1, device}, nullptr, 0, {}};
    call("cuDevicePrimaryCtxRetain", &context_, device);
    call("cuCtxPushCurrent_v2", context_);
    call("cuMemPoolCreate", &pool_, &wanted);
    call("cuMemAllocFromPoolAsync", &memory_, bytes, pool_, static_cast<void*>(nullptr));
    call("cuStreamSynchronize", static_cast<void*>(nullptr));
  }
  ~shareable_pool() {
    call("cuMemFreeAsync", memory_, static_cast<void*>(nullptr));
    call("cuStreamSynchronize", static_cast<void*>(nullptr));
    call("cuMemPoolDestroy", pool_);
    void* popped = nullptr;
    call("cuCtxPopCurrent_v2", &popped);
    call("cuDevicePrimaryCtxRelease_v2", device_);
  }
  shareable_pool(const shareable_pool&) = delete;
  shareable_pool& operator=(const shareable_pool&) = delete;
  /// Null if a call failed.
  void* data() const { return reinterpret_cast<void*>(memory_); }

 private:
  int device_;
  void* context_ = nullptr;
  void* pool_ = nullptr;
  address memory_ = 0;
};

}  // namespace cuda_driver
