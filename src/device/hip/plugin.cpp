// SPDX-License-Identifier: BSD-3-Clause
// What libtelpher-hip.so exports.
#include "base/log.hpp"
#include "device/gpurt/backend.hpp"
#include "device/hip/hip_rt.hpp"
#include "device/registry.hpp"

extern "C" [[gnu::visibility("default")]] telpher::device::backend* telpher_create_backend(
    int version) {
  using namespace telpher::device;
  if (version != interface_version) return nullptr;
  static backend* const one = []() -> backend* {
    const char* why = "";
    if (hip::platform::load(why)) return new gpurt::backend<hip::hip_rt>;
    TELPHER_ERROR("the driver below HIP cannot be used: %s", why);
    return nullptr;
  }();
  return one;
}
