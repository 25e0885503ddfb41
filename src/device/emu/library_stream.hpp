// SPDX-License-Identifier: BSD-3-Clause
// The stream that a library of collectives gets from the emulated device. It lets the library add
// work to the stream and find the bytes behind the program's addresses.
#pragma once

namespace telpher::device::emu {

struct library_stream {
  /// Appends work to the stream; false if that fails.
  bool (*append)(library_stream& to, void (*work)(void*), void* argument) = nullptr;
  /// The address at which this process may load and store the bytes of a device address.
  void* (*bytes_at)(void* address) = nullptr;
};

}  // namespace telpher::device::emu
