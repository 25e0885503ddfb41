// SPDX-License-Identifier: BSD-3-Clause
// A communicator of the vendor's library, one for each communicator of ours that uses it, and the
// calls on it. The library itself waits for peers in two places: while ranks join, which is done in
// a thread of its own, because a rank whose peer fails there waits for ever; and in a call's
// kernel, which abort() ends. Ranks decide together whether it is used
// (exchange/call_library.cpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "coll/reduction.hpp"
#include "coll/schedule/problem.hpp"
#include "coll/vendor/library.hpp"
#include "memory/streams.hpp"

namespace telpher::coll::vendor {

/// A call as this rank makes it: addresses as the program gave them.
struct call {
  operation what;
  int ranks;
  int rank;
  int root;
  bool in_place;
  const void* input;
  void* output;
  std::uint64_t bytes;  // of the vector, or of the block of each rank
  reduction reduce;
};

/// Whether the library does such calls, wherever their buffers lie. It cannot do MPI's in-place
/// reduce-scatter and alltoall.
bool supports(operation what, bool in_place, const reduction& r) noexcept;

class communicator {
 public:
  communicator() = default;
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;
  ~communicator() { abort(); }

  bool ready() const noexcept { return handle_ != nullptr; }
  /// Opens the library for a device. Returns its version, which must be the same at all ranks. 0:
  /// there is none, ranks could not join before (library::spoil), or threads call MPI side by side
  /// and another communicator has it.
  std::uint64_t open(const memory::place& where) noexcept;
  const char* name() const noexcept { return library_->file.c_str(); }

  /// At one rank: what all must join with.
  bool make_id(unique_id& id) noexcept;
  /// Begins to join; at all ranks.
  bool join(const unique_id& id, int ranks, int rank) noexcept;
  /// ok: all have joined, and it is ready. would_block: not yet.
  status joined() noexcept;

  /// Gives the call to a stream.
  status start(const call& c, device::stream s) noexcept;
  /// ok: the call has ended.
  status poll() noexcept;

  /// Ends it, with the call that runs and the attempt to join. Waits for no peer. If no call runs,
  /// the library frees its memory, which waits for the device, when no stream is held.
  void abort() noexcept;

 private:
  struct meeting;
  int issue(const call& c, void* stream) const noexcept;
  int exchange_blocks(const call& c, void* stream) const noexcept;
  bool usable(int code, const char* call) const noexcept;
  status check(int code) const noexcept;
  const char* text_of(int code) const noexcept;
  int settled(int code) const noexcept;
  template <class F>
  status on_device(F&& f) noexcept;

  const library* library_ = nullptr;
  memory::place where_;
  std::shared_ptr<meeting> meeting_;
  handle handle_ = nullptr;
  memory::pooled_event event_;
  std::uint32_t polls_ = 0;
};

}  // namespace telpher::coll::vendor
