// SPDX-License-Identifier: BSD-3-Clause
// Executes plans: on a device, in one of its streams, or on the CPU with the same kernels. Encoding
// turns contiguous elements into a stream of bytes, decoding reverses it. The stream is the same
// wherever it was made.
//
// This is the seam of the codecs, which a build may leave out (TELPHER_CODECS=OFF). Then there is
// no coder. So choices other than off are refused (choice.hpp), and so are the plans of other
// processes (plan.hpp): what has a plan has a coder.
#pragma once

#include <optional>

#include "codec/plan.hpp"
#include "device/device.hpp"

namespace telpher::codec {

/// Results of an encode, known when it is done; in memory that the device can write (pinned).
struct report {
  std::uint32_t payload_words;   // mpc
  std::uint32_t error_exponent;  // zfp: exponent of the error bound + 4096; 0: no error
};

/// encode() and decode() only enqueue work. The caller must keep the memory until the stream has
/// passed it (encoder.hpp has memory of its own). Values must be aligned to their size, compressed
/// bytes and workspaces to 8 bytes.
class coder {
 public:
  /// Bytes of device memory that encode() needs in addition to its output.
  virtual std::size_t workspace_bytes(const plan& p) const noexcept = 0;
  /// Compresses plain_bytes(p) at `from` to at most most_bytes(p) at `to`, and fills `out`.
  virtual status encode(device::backend& b, device::stream s, const plan& p, const void* from,
                        void* to, void* workspace, report* out) const noexcept = 0;
  /// Decompresses `bytes` at `from`. Whatever they contain, nothing outside the two regions is
  /// accessed.
  virtual status decode(device::backend& b, device::stream s, const plan& p, const void* from,
                        std::size_t bytes, void* to) const noexcept = 0;
  /// Decompresses in host memory, on the CPU.
  virtual status decode_on_cpu(const plan& p, const void* from, std::size_t bytes,
                               void* to) const noexcept = 0;
  /// The size of a stream, and the exponent b of the error bound 2^b if there is an error.
  virtual std::size_t coded_bytes(const plan& p, const report& r) const noexcept = 0;
  virtual std::optional<int> error_exponent(const plan& p, const report& r) const noexcept = 0;

 protected:
  ~coder() = default;
};

/// Null in a build without codecs.
const coder* the_coder() noexcept;

}  // namespace telpher::codec
