// SPDX-License-Identifier: BSD-3-Clause
// Carries plans out: on a device, in a stream of it, or on the CPU with the same kernels.
// Contiguous elements in, a stream of bytes out, and back; the stream is the same wherever it was
// made.
//
// encode() and decode() only enqueue, in memory that the caller keeps until the stream has passed
// (encoder.hpp is the form with memory of its own). Values must be aligned to their size,
// compressed bytes and workspaces to 8 bytes.
#pragma once

#include <optional>

#include "codec/plan.hpp"
#include "device/device.hpp"

namespace telpher::codec {

/// Bytes of device memory that encode() needs beside its output.
std::size_t workspace_bytes(const plan& p) noexcept;

/// What is known once an encode is done; in memory that the device can write (pinned).
struct report {
  std::uint32_t payload_words;   // mpc
  std::uint32_t error_exponent;  // zfp: the exponent of the error's bound + 4096; 0: no error
};

/// Compresses plain_bytes(p) at `from` to at most most_bytes(p) at `to`, and fills `out`.
status encode(device::backend& b, device::stream s, const plan& p, const void* from, void* to,
              void* workspace, report* out) noexcept;
/// Decompresses `bytes` at `from`. Whatever they are, nothing outside the two regions is touched.
status decode(device::backend& b, device::stream s, const plan& p, const void* from,
              std::size_t bytes, void* to) noexcept;
/// The same on host memory, by the CPU.
status decode_on_cpu(const plan& p, const void* from, std::size_t bytes, void* to) noexcept;

/// The bytes of a stream, and the exponent b of the bound 2^b of its error, if there is an error.
std::size_t coded_bytes(const plan& p, const report& r) noexcept;
std::optional<int> error_exponent(const plan& p, const report& r) noexcept;

}  // namespace telpher::codec
