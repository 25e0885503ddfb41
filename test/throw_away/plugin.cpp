// SPDX-License-Identifier: BSD-3-Clause
// What libtelpher-toy.so exports.
#include "device/gpurt/backend.hpp"
#include "device/registry.hpp"
#include "toy_rt.hpp"

extern "C" [[gnu::visibility("default")]] telpher::device::backend* telpher_create_backend(
    int version) {
  if (version != telpher::device::interface_version) return nullptr;
  static auto* const one = new telpher::device::gpurt::backend<toy::toy_rt>;
  return one;
}
