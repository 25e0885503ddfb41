// SPDX-License-Identifier: BSD-3-Clause
// What a library of collectives gets as a stream of the emulated device, and what it needs of it:
// the place of other work in the stream, and the bytes behind the program's addresses.
#pragma once

namespace telpher::device::emu {

struct library_stream {
  /// Appends work to the stream; false where it cannot.
  bool (*append)(library_stream& to, void (*work)(void*), void* argument) = nullptr;
  /// Where this process may load and store what lies at an address of the device.
  void* (*bytes_at)(void* address) = nullptr;
};

}  // namespace telpher::device::emu
