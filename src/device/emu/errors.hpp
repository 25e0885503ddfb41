// SPDX-License-Identifier: BSD-3-Clause
// Error codes of the emulated runtime.
#pragma once

namespace telpher::device::emu {

enum class error : int {
  success = 0,
  not_ready,
  invalid_value,  // an address or device that does not exist
  out_of_memory,
  not_supported,   // the system refuses
  already_mapped,  // registered or opened twice, or not registered
  injected,        // a fault of TELPHER_TEST_EMU_FAULTS
  faulted,         // a kernel died
  forked,          // the device's threads did not survive fork
  capture_failed,  // and has not ended
};

constexpr const char* text_of(error e) {
  switch (e) {
    case error::success:
      return "success";
    case error::not_ready:
      return "not ready";
    case error::invalid_value:
      return "invalid value";
    case error::out_of_memory:
      return "out of memory";
    case error::not_supported:
      return "not supported";
    case error::already_mapped:
      return "memory is registered or opened already, or not registered";
    case error::injected:
      return "injected fault";
    case error::faulted:
      return "a kernel faulted";
    case error::forked:
      return "the device was used before fork";
    case error::capture_failed:
      return "the stream's capture has failed";
  }
  return "unknown error";
}

}  // namespace telpher::device::emu
