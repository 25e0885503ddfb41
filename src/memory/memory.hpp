// SPDX-License-Identifier: BSD-3-Clause
// What the message path asks about buffers: the kind of an address in nanoseconds, streams and
// pools that belong to a device. No MPI here.
#pragma once

#include <cstddef>
#include <utility>

#include "base/status.hpp"
#include "device/device.hpp"

namespace telpher::memory {

/// A buffer's kind as the message path needs it. Managed memory counts as host memory here: the CPU
/// may touch it, so the host MPI can move it.
struct place {
  device::backend* owner = nullptr;  // null: host memory
  int device = -1;

  bool on_device() const noexcept { return owner != nullptr; }
  friend bool operator==(const place&, const place&) = default;
};

/// Whether an address certainly is host memory: the stack, the program's data or its heap. What is
/// not recognised here may be either.
bool surely_host(const void* address) noexcept;

/// Where an address lives. Costs a few nanoseconds for the stack, the program's data and its heap,
/// else one query of each started back end (docs/understand/optimization.md has figures). Never
/// starts a runtime.
place classify(const void* address) noexcept;

/// The same, and all that is known of a device address (allocation, generation) in the same query.
place classify(const void* address, device::pointer_info& info) noexcept;

/// All that is known of a device address; for export and staging.
result<device::pointer_info> describe(const place& p, const void* address) noexcept;

/// A stream of ours on a device; made at first use, kept for the life of the process.
enum class lane { in, out, copy, kernel, linger, batch_a, batch_b, batch_c, batch_d, count_ };
result<device::stream> stream(const place& p, lane l) noexcept;

/// Copies and waits, between any two kinds of memory. `p` is the place of the device side.
status copy_and_wait(const place& p, void* to, const void* from, std::size_t bytes) noexcept;

/// A pooled buffer, given back on destruction. Host buffers are pinned for `owner` where they are
/// at most TELPHER_LANDING_PINNED_LIMIT or `pinned` is asked for; larger ones are lazily touched
/// address space.
class buffer {
 public:
  buffer() = default;
  buffer(buffer&& o) noexcept
      : address_(std::exchange(o.address_, nullptr)),
        bytes_(o.bytes_),
        pool_(o.pool_),
        filled_(o.filled_) {}
  buffer& operator=(buffer&& o) noexcept {
    std::swap(address_, o.address_);
    std::swap(bytes_, o.bytes_);
    std::swap(pool_, o.pool_);
    std::swap(filled_, o.filled_);
    return *this;
  }
  ~buffer() {
    if (address_) give_back();
  }

  static result<buffer> host(std::size_t bytes, device::backend* owner,
                             bool pinned = false) noexcept;
  static result<buffer> device(const place& p, std::size_t bytes) noexcept;

  explicit operator bool() const noexcept { return address_ != nullptr; }
  void* data() const noexcept { return address_; }
  std::size_t size() const noexcept { return bytes_; }
  /// Says that more than the first page was written: of large host memory only so much stays then.
  void filled() noexcept { filled_ = true; }

 private:
  buffer(void* address, std::size_t bytes, int pool) noexcept
      : address_(address), bytes_(bytes), pool_(pool) {}
  void give_back() noexcept;

  void* address_ = nullptr;
  std::size_t bytes_ = 0;  // usable; the pool's class may be larger
  int pool_ = -1;          // which pool it goes back to
  bool filled_ = false;
};

/// Gives pooled memory, streams and events back; from MPI_Finalize, before the devices go away.
void shut_down() noexcept;

}  // namespace telpher::memory
