// SPDX-License-Identifier: BSD-3-Clause
// What libtelpher-cuda.so exports.
#include "base/log.hpp"
#include "device/cuda/cuda_rt.hpp"
#include "device/gpurt/backend.hpp"
#include "device/registry.hpp"

#define TELPHER_TEXT_OF(number) #number
#define TELPHER_TEXT(number) TELPHER_TEXT_OF(number)

/// The runtime that is linked into this file; `telpher doctor` reads it from the file.
extern "C" [[gnu::visibility("default")]] constexpr char telpher_plugin_runtime[] =
    "telpher_plugin_runtime CUDA " TELPHER_TEXT(CUDART_VERSION);

extern "C" [[gnu::visibility("default")]] telpher::device::backend* telpher_create_backend(
    int version) {
  using namespace telpher::device;
  if (version != interface_version) return nullptr;
  static backend* const one = []() -> backend* {
    const char* why = "";
    if (cuda::load_driver(why)) return new gpurt::backend<cuda::cuda_rt>;
    TELPHER_ERROR("libcuda.so.1 cannot be used: %s", why);
    return nullptr;
  }();
  return one;
}
