// SPDX-License-Identifier: BSD-3-Clause
// Loads and stores of 1, 4, 8 or 16 aligned bytes, and copy_span, which all kernels use to copy
// bytes. Addresses are already resolved.
#pragma once

#include "kernel/lang.hpp"

namespace telpher::kernel {

struct alignas(16) bytes16 {
  std::uint64_t low;
  std::uint64_t high;
};

#if defined(TELPHER_LANGUAGE_CPU)
template <class V>
TELPHER_DEVICE V load(const std::uint8_t* at) {
  V value;
  __builtin_memcpy(&value, __builtin_assume_aligned(at, alignof(V)), sizeof value);
  return value;
}
template <class V>
TELPHER_DEVICE void store(std::uint8_t* at, V value) {
  __builtin_memcpy(__builtin_assume_aligned(at, alignof(V)), &value, sizeof value);
}
#else
template <class V>
struct access {
  using type = V;
};
template <>
struct access<bytes16> {
#if defined(TELPHER_LANGUAGE_SYCL)
  using type = sycl::vec<std::uint32_t, 4>;
#else
  using type = uint4;  // both compilers turn it into one 16-byte access
#endif
};

template <class V>
TELPHER_DEVICE typename access<V>::type load(const std::uint8_t* at) {
  return *reinterpret_cast<const typename access<V>::type*>(at);
}
template <class V>
TELPHER_DEVICE void store(std::uint8_t* at, typename access<V>::type value) {
  *reinterpret_cast<typename access<V>::type*>(at) = value;
}
#endif

/// How bytes that are copied are loaded.
struct plain_loads {
  template <class V>
  TELPHER_DEVICE static auto load(const std::uint8_t* at) {
    return kernel::load<V>(at);
  }
};

/// Worker `index` of `workers` copies its share of `count` units of V; both addresses are aligned
/// for V. Neighbouring workers access neighbouring units. Four loads are in flight before the first
/// store.
template <class V, class Loads = plain_loads>
TELPHER_DEVICE void copy_units(std::uint64_t index, std::uint64_t workers, std::uint8_t* to,
                               const std::uint8_t* from, std::uint64_t count) {
  const std::uint64_t step = workers * sizeof(V);
  std::uint64_t unit = index;
  for (; unit + 3 * workers < count; unit += 4 * workers) {
    const std::uint8_t* source = from + unit * sizeof(V);
    std::uint8_t* target = to + unit * sizeof(V);
    const auto a = Loads::template load<V>(source);
    const auto b = Loads::template load<V>(source + step);
    const auto c = Loads::template load<V>(source + 2 * step);
    const auto d = Loads::template load<V>(source + 3 * step);
    store<V>(target, a);
    store<V>(target + step, b);
    store<V>(target + 2 * step, c);
    store<V>(target + 3 * step, d);
  }
  for (; unit < count; unit += workers)
    store<V>(to + unit * sizeof(V), Loads::template load<V>(from + unit * sizeof(V)));
}

/// Copies the bytes before the first aligned unit of `to`, then the units, then the rest.
template <class V, class Loads>
TELPHER_DEVICE void copy_aligned_alike(std::uint64_t index, std::uint64_t workers, std::uint8_t* to,
                                       const std::uint8_t* from, std::uint64_t bytes) {
  const std::uint64_t misaligned = reinterpret_cast<std::uintptr_t>(to) % sizeof(V);
  std::uint64_t head = misaligned == 0 ? 0 : sizeof(V) - misaligned;
  if (head > bytes) head = bytes;
  const std::uint64_t units = (bytes - head) / sizeof(V);
  const std::uint64_t done = head + units * sizeof(V);
  copy_units<std::uint8_t, Loads>(index, workers, to, from, head);
  copy_units<V, Loads>(index, workers, to + head, from + head, units);
  copy_units<std::uint8_t, Loads>(index, workers, to + done, from + done, bytes - done);
}

/// Worker `index` of `workers` copies its share of `bytes` from `from` to `to`, at any alignment,
/// in the widest unit that both addresses allow. The ranges do not overlap.
template <class Loads = plain_loads>
TELPHER_DEVICE void copy_span(std::uint64_t index, std::uint64_t workers, std::uint8_t* to,
                              const std::uint8_t* from, std::uint64_t bytes) {
  const auto apart = reinterpret_cast<std::uintptr_t>(to) ^ reinterpret_cast<std::uintptr_t>(from);
  if (apart % 16 == 0)
    copy_aligned_alike<bytes16, Loads>(index, workers, to, from, bytes);
  else if (apart % 8 == 0)
    copy_aligned_alike<std::uint64_t, Loads>(index, workers, to, from, bytes);
  else if (apart % 4 == 0)
    copy_aligned_alike<std::uint32_t, Loads>(index, workers, to, from, bytes);
  else
    copy_units<std::uint8_t, Loads>(index, workers, to, from, bytes);
}

}  // namespace telpher::kernel
