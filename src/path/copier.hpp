// SPDX-License-Identifier: BSD-3-Clause
// Copies between addresses that one device can access. They are collected while a progress pass
// finds messages, started together at the end of the pass, and polled until done. They are started
// - by the copy engine: a single message, and large ones;
// - in one batched kernel: several small or medium messages found in one pass;
// - by the lingering copier: small messages in quick succession.
// Messages on a node whose bytes the receiver's device gets are such copies: paths local and
// ipc_get. Not thread-safe: called under the progress lock.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "memory/streams.hpp"
#include "path/batch.hpp"
#include "path/linger.hpp"
#include "path/path.hpp"

namespace telpher::path {

/// One copy. Owned by its caller; must not be moved or destroyed before poll() returned ok or an
/// error.
class copy_job {
 public:
  copy_job() = default;
  copy_job(const copy_job&) = delete;
  copy_job& operator=(const copy_job&) = delete;

  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
  /// `to` lies in memory of the copier's device.
  bool near = false;
  /// Uses host memory that a kernel may not be able to access (it would fault), so only the copy
  /// engine may be used.
  bool engine_only = false;

  /// How it was moved, for statistics; none until it was started.
  kind moved_by() const noexcept { return moved_by_; }

 private:
  friend class copier;
  kind moved_by_ = kind::none;
  status engine_status_ = status::would_block;
  std::uint64_t started_ns_ = 0;    // for the trace; 0 while it is off
  int engine_ = 0;                  // copy engine
  memory::pooled_event event_;      // copy engine
  batched_copier::ticket batch_{};  // batch
  std::uint32_t sequence_ = 0;      // linger
};

class copier {
 public:
  explicit copier(const memory::place& where) noexcept;

  /// The copier of a device.
  static copier& on(const memory::place& where) noexcept;
  /// What a progress pass knows of messages to come.
  struct outlook {
    bool others;  // other messages are in flight: even a single copy should use a kernel
    bool more;    // more may come
    bool coming;  // some came in this pass, and the next pass follows at once
  };
  /// Starts the requested copies of all devices, or keeps gathering if more may come, because a
  /// launch costs as much as several messages.
  static void flush_all(const outlook& o) noexcept;
  /// When messages of this many bytes were found, they are started before more are looked for, so
  /// that a kernel moves them meanwhile. No limit while a kernel is running, because each launch
  /// costs time.
  static std::size_t bytes_to_start_with() noexcept;
  /// Copies between memory of a device and pinned host memory, or inside the device, and waits,
  /// where the kernel that stays is the way for it; not_supported: nothing was done. `near`: `to`
  /// is the device's.
  static status copy_by_linger(const memory::place& where, void* to, const void* from,
                               std::size_t bytes, bool near = false) noexcept;
  /// Ends lingering kernels and destroys all copiers; called before the devices are shut down.
  static void shut_down() noexcept;

  /// Requests a copy; it starts at the next flush.
  void enqueue(copy_job& job) noexcept;
  void flush(const outlook& o) noexcept;
  status poll(copy_job& job) noexcept;
  /// Starts a copy where the kernel that stays is the way for it, behind those that it has got
  /// before. False: nothing was done.
  bool start_by_linger(copy_job& job) noexcept;

 private:
  bool gathers(const outlook& o) const noexcept;
  status look(copy_job& job) noexcept;
  void start_single(copy_job& job) noexcept;
  void start_engine(copy_job& job) noexcept;
  bool start_batch(copy_job** jobs, std::size_t count) noexcept;
  bool wants_linger(const copy_job& job) noexcept;
  void look_at(int engine) noexcept;

  memory::place where_;
  std::vector<copy_job*> queued_;
  std::size_t queued_bytes_ = 0;
  batched_copier batch_;
  lingering_copier linger_;
  burst burst_;
  // Copies of a stream finish in order, and a query costs a microsecond. So in each progress pass
  // only the oldest copy of each stream is queried.
  struct engine_stream {
    std::deque<copy_job*> running;
    std::uint64_t looked_at = 0;
  };
  engine_stream engine_[2];
  unsigned next_engine_ = 0;
  std::uint64_t pass_ = 0;
};

}  // namespace telpher::path
