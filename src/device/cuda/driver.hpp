// SPDX-License-Identifier: BSD-3-Clause
// The driver API as the plug-in uses it, once load_driver() has found its functions.
#pragma once

#include "device/cuda/cuda_rt.hpp"

namespace telpher::device::cuda {

constexpr int device_limit = 64;

struct driver_table {
#define TELPHER_DRIVER(name) decltype(&::name) name = nullptr;
#include "device/cuda/driver.def"
#undef TELPHER_DRIVER
  // Null in drivers before these versions of CUDA.
  decltype(&::cuCtxSetFlags) cuCtxSetFlags = nullptr;                // 12.1
  decltype(&::cuStreamWaitValue32) cuStreamWaitValue32 = nullptr;    // 11.7
  decltype(&::cuStreamWriteValue32) cuStreamWriteValue32 = nullptr;  // 11.7
  decltype(&::cuStreamBatchMemOp) cuStreamBatchMemOp = nullptr;      // 11.7
};
extern driver_table driver;

// The runtime and the driver use the same number for an error that both have.
inline cudaError_t runtime_error(CUresult r) {
  return static_cast<cudaError_t>(r);
}

// While the program captures a stream, CUDA refuses calls of this thread that are unsafe in a
// capture, or ends the capture. Our calls never touch the captured stream, so they run in relaxed
// mode.
class relaxed_capture {
 public:
  relaxed_capture() { driver.cuThreadExchangeStreamCaptureMode(&mode_); }
  ~relaxed_capture() { driver.cuThreadExchangeStreamCaptureMode(&mode_); }
  relaxed_capture(const relaxed_capture&) = delete;
  relaxed_capture& operator=(const relaxed_capture&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

// Whether the address lies in a chunk that the program mapped and that can be exported as a file
// descriptor (chunks.cpp); fills in what it is then. `handle_types`: those of its memory.
bool describe_chunk(CUdeviceptr address, unsigned long long handle_types,
                    pointer_info& out) noexcept;
// Whether what was described so lies at the address still.
bool chunk_is_there(const pointer_info& e, CUdeviceptr address) noexcept;

// Whether the default stream may be queried. While a stream that synchronises with it is being
// captured, any use of the default stream ends the capture.
bool default_stream_is_free() noexcept;

}  // namespace telpher::device::cuda
