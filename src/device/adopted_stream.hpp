// SPDX-License-Identifier: BSD-3-Clause
// A stream of the program's as one of ours (device::backend::adopt_stream), for as long as the
// object lives: within one call of the program's.
#pragma once

#include <optional>

#include "device/registry.hpp"

namespace telpher::device {

class adopted_stream {
 public:
  /// Of the active back end; `native` is the vendor's handle.
  explicit adopted_stream(void* native) noexcept
      : owner_(active_backend()),
        stream_(owner_ ? owner_->adopt_stream(native, device_) : status::invalid_argument) {}
  ~adopted_stream() {
    if (stream_) owner_->disown_stream(*stream_);
  }
  adopted_stream(const adopted_stream&) = delete;
  adopted_stream& operator=(const adopted_stream&) = delete;

  /// Null if no back end is active.
  backend* owner() const noexcept { return owner_; }
  int device() const noexcept { return device_; }
  /// The stream, or the reason why the handle is no stream of that back end.
  const result<stream>& get() const noexcept { return stream_; }
  /// Whether its work is recorded for a graph now. The driver is asked once.
  bool is_captured() noexcept {
    if (!captured_) captured_ = stream_ && owner_->is_captured(*stream_);
    return *captured_;
  }

 private:
  backend* owner_;
  int device_ = -1;
  result<stream> stream_;
  std::optional<bool> captured_;
};

}  // namespace telpher::device
