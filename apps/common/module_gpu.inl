// SPDX-License-Identifier: BSD-3-Clause
// The module of a GPU, the same text for CUDA and HIP. The including unit defines `vendor` with
// `error`, `success`, `stream` and the seven calls used here in its own terms.
#include <algorithm>

#include "common/module.hpp"

namespace apps {
namespace {

struct gpu_queue {
  int device;
  vendor::stream work;
};

const char* text(vendor::error e) {
  return e == vendor::success ? nullptr : vendor::error_text(e);
}

template <class K>
__global__ void __launch_bounds__(256) run_kernel(K kernel, index items) {
  const index step = gridDim.x * blockDim.x;
  for (std::uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < items; i += step)
    kernel(static_cast<index>(i));
}

template <class K>
vendor::error start(vendor::stream work, const void* parameters, index items) {
  constexpr unsigned threads = 256, most_blocks = 1u << 16;
  const unsigned blocks = std::min((items - 1) / threads + 1, most_blocks);
  run_kernel<K><<<dim3(blocks), dim3(threads), 0, work>>>(*static_cast<const K*>(parameters), items);
  return vendor::last_error();
}

using start_function = vendor::error(vendor::stream, const void*, index);
constexpr start_function* kernels[] = {
#define APPS_KERNEL(application, name) start<application::name>,
#include "common/kernels.def"
#undef APPS_KERNEL
};

const char* open_queue(int device, void** queue) {
  if (const auto e = vendor::set_device(device); e != vendor::success) return text(e);
  auto* made = new gpu_queue{device, {}};
  const char* failed = text(vendor::create_stream(&made->work));
  if (failed)
    delete made;
  else
    *queue = made;
  return failed;
}

void close_queue(void* queue) {
  auto* q = static_cast<gpu_queue*>(queue);
  vendor::destroy_stream(q->work);
  delete q;
}

const char* launch(void* queue, kernel_id kernel, const void* parameters, index items) {
  return text(kernels[static_cast<int>(kernel)](static_cast<gpu_queue*>(queue)->work, parameters,
                                                items));
}

const char* copy(void* queue, void* to, const void* from, std::size_t bytes) {
  return text(vendor::copy(to, from, bytes, static_cast<gpu_queue*>(queue)->work));
}

const char* wait(void* queue) {
  return text(vendor::synchronise(static_cast<gpu_queue*>(queue)->work));
}

void* stream(void* queue) {
  return static_cast<gpu_queue*>(queue)->work;
}

}  // namespace
}  // namespace apps

extern "C" __attribute__((visibility("default"))) const apps::module* telpher_apps_module() {
  static constexpr apps::module gpu = {apps::open_queue, apps::close_queue, apps::launch,
                                       apps::copy, apps::wait,   apps::stream};
  return &gpu;
}
