// SPDX-License-Identifier: BSD-3-Clause
// Memory of CUDA's virtual memory management for tests, in chunks that are mapped side by side.
// Types and values are those of the driver's binary interface.
#pragma once

#include <cstddef>

#include "cuda_driver.hpp"

namespace cuda_driver {

struct location {
  int type;  // 1: a device
  int id;
};
struct allocation_properties {
  int type;          // 1: pinned, the only one
  int handle_types;  // 0: none, 1: POSIX file descriptor
  location where;
  void* unused_on_linux;
  unsigned char flags[8];
};
struct access_description {
  location where;
  int flags;  // 3: read and write
};
using address = unsigned long long;

/// `bytes` is a multiple of `chunk_bytes`, and this of the device's granularity (2 MiB). `at`: a
/// range that unmap_chunks has kept. Null if a call fails.
inline void* map_chunks(int device, bool exports, std::size_t bytes, std::size_t chunk_bytes,
                        void* at = nullptr) {
  allocation_properties wanted{};
  wanted.type = 1;
  wanted.handle_types = exports ? 1 : 0;
  wanted.where = {1, device};
  const access_description access{{1, device}, 3};
  auto base = reinterpret_cast<address>(at);
  if (!at && call("cuMemAddressReserve", &base, bytes, std::size_t{0}, address{0}, address{0}) != 0)
    return nullptr;
  for (std::size_t done = 0; done < bytes; done += chunk_bytes) {
    address memory = 0;
    if (call("cuMemCreate", &memory, chunk_bytes,
             static_cast<const allocation_properties*>(&wanted), address{0}) != 0 ||
        call("cuMemMap", base + done, chunk_bytes, std::size_t{0}, memory, address{0}) != 0 ||
        call("cuMemRelease", memory) != 0)  // the mapping keeps it
      return nullptr;
  }
  if (call("cuMemSetAccess", base, bytes, &access, std::size_t{1}) != 0) return nullptr;
  return reinterpret_cast<void*>(base);
}

/// `keeps`: the range stays reserved for map_chunks.
inline bool unmap_chunks(void* at, std::size_t bytes, bool keeps) {
  const auto base = reinterpret_cast<address>(at);
  return call("cuMemUnmap", base, bytes) == 0 &&
         (keeps || call("cuMemAddressFree", base, bytes) == 0);
}

}  // namespace cuda_driver
