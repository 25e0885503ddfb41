// SPDX-License-Identifier: BSD-3-Clause
// What the message path asks about buffers: where an address lies (in nanoseconds), and the streams
// and pools of a device. No MPI here.
#pragma once

#include <cstddef>
#include <utility>

#include "base/status.hpp"
#include "device/device.hpp"
#include "memory/surely_host.hpp"

namespace telpher::memory {

/// Where a buffer lies. Managed memory counts as host memory: the CPU may access it, so the host
/// MPI can move it.
struct place {
  device::backend* owner = nullptr;  // null: host memory
  int device = -1;

  bool on_device() const noexcept { return owner != nullptr; }
  friend bool operator==(const place&, const place&) = default;
};

/// Where an address lies. A few nanoseconds for the stack, the program's data and its heap;
/// otherwise one query to each started back end (figures in docs/understand/optimization.md). Never
/// starts a runtime.
place classify(const void* address) noexcept;

/// The same; `info` also gets the details of a device address (allocation, generation) from the
/// same query.
place classify(const void* address, device::pointer_info& info) noexcept;

/// Of memory of the program's that a call names and a back end knows: device::backend::settle, so
/// that nothing is waited for which may wait for us. Both of the above do it.
void settle(device::backend& owner, const device::pointer_info& about) noexcept;

/// The details of a device address; used for export and staging.
result<device::pointer_info> describe(const place& p, const void* address) noexcept;

/// One of our streams on a device. Created at first use and kept until shut_down().
enum class stream_role {
  in,
  out,
  copy,
  kernel,
  linger,
  batch_a,
  batch_b,
  batch_c,
  batch_d,
  count_
};
result<device::stream> stream(const place& p, stream_role r) noexcept;

/// Copies between any two kinds of memory and waits. `p` is the place of the device side.
status copy_and_wait(const place& p, void* to, const void* from, std::size_t bytes) noexcept;

/// A pooled buffer, which is given back on destruction. Host buffers of at most
/// TELPHER_LANDING_PINNED_LIMIT bytes, or with `pinned` set, are pinned for `owner` where that can
/// be. Larger ones are mapped memory that is touched lazily; one that was filled is registered with
/// `owner` when it is given back.
class buffer {
 public:
  buffer() = default;
  buffer(buffer&& o) noexcept
      : address_(std::exchange(o.address_, nullptr)),
        bytes_(o.bytes_),
        pool_(o.pool_),
        filled_(o.filled_),
        pinned_(o.pinned_) {}
  buffer& operator=(buffer&& o) noexcept {
    std::swap(address_, o.address_);
    std::swap(bytes_, o.bytes_);
    std::swap(pool_, o.pool_);
    std::swap(filled_, o.filled_);
    std::swap(pinned_, o.pinned_);
    return *this;
  }
  ~buffer() {
    if (address_) give_back();
  }

  static result<buffer> host(std::size_t bytes, device::backend* owner,
                             bool pinned = false) noexcept;
  /// Pinned host memory, which kernels of `owner` may use; an error where there is no more, and
  /// host() would give memory that is not pinned.
  static result<buffer> for_kernels(std::size_t bytes, device::backend* owner) noexcept;
  static result<buffer> device(const place& p, std::size_t bytes) noexcept;
  /// Device memory there, or host memory that is not pinned.
  static result<buffer> in(const place& p, std::size_t bytes) noexcept {
    return p.on_device() ? device(p, bytes) : host(bytes, nullptr);
  }

  explicit operator bool() const noexcept { return address_ != nullptr; }
  void* data() const noexcept { return address_; }
  std::size_t size() const noexcept { return bytes_; }
  /// Host memory that kernels of its owner may use.
  bool pinned() const noexcept { return pinned_; }
  /// Says that more than the first page was written. Of large host buffers that were filled, the
  /// pool keeps only a limited number of bytes.
  void filled() noexcept { filled_ = true; }

 private:
  buffer(void* address, std::size_t bytes, int pool, bool pinned = false) noexcept
      : address_(address), bytes_(bytes), pool_(pool), pinned_(pinned) {}
  void give_back() noexcept;

  void* address_ = nullptr;
  std::size_t bytes_ = 0;  // usable; the buffer's size class may be larger
  int pool_ = -1;          // index of its pool
  bool filled_ = false;
  bool pinned_ = false;
};

/// Releases pooled memory, streams and events. MPI_Finalize calls it before the devices are shut
/// down.
void shut_down() noexcept;

}  // namespace telpher::memory
