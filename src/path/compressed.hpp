// SPDX-License-Identifier: BSD-3-Clause
// The two ends of a compressed message, which uses the pipelined path. The sender compresses on its
// device before the ticket is sent. The receiver receives the compressed bytes into memory of
// Telpher's, and decompresses them to their destination on its device or on the CPU.
#pragma once

#include <optional>

#include "codec/encoder.hpp"
#include "memory/streams.hpp"
#include "path/pipelined.hpp"

namespace telpher::path {

/// A payload in compressed form, in device memory.
struct compressed_payload {
  memory::buffer data;
  std::size_t bytes = 0;
  std::optional<int> error_exponent;
};

/// Compresses, waits until that is done, and counts the message. not_supported if it does not
/// become smaller.
result<compressed_payload> compress(const region& from, const codec::plan& p) noexcept;

/// The receiver's half.
class compressed_receive final : public transfer {
 public:
  compressed_receive(const codec::plan& p, const region& to) noexcept : plan_(p), to_(to) {}
  /// Allocates memory for the bytes and asks for them; to be called first.
  status start(const wire& w, std::size_t bytes) noexcept;
  status poll() noexcept override;
  bool quiet() const noexcept override { return !bytes_ || bytes_->quiet(); }
  kind moved_by() const noexcept override { return kind::pipelined; }

 private:
  status decode() noexcept;
  status decode_on_device(void* to) noexcept;
  status start_decoding(void* to, device::stream s) noexcept;
  bool aligned() const noexcept;

  codec::plan plan_;
  region to_;
  region arriving_;
  memory::buffer data_;     // the compressed bytes
  memory::buffer aligned_;  // the values, if the destination is not aligned for them
  std::optional<pipelined_receive> bytes_;
  memory::pooled_event decoded_;
};

}  // namespace telpher::path
