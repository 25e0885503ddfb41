// SPDX-License-Identifier: BSD-3-Clause
// What libtelpher-sycl.so exports.
#include "device/registry.hpp"
#include "device/sycl/backend.hpp"

extern "C" [[gnu::visibility("default")]] telpher::device::backend* telpher_create_backend(
    int version) {
  if (version != telpher::device::interface_version) return nullptr;
  static auto* const one = new telpher::device::sycl::backend;
  return one;
}
