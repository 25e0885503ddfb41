// SPDX-License-Identifier: BSD-3-Clause
// The words in shared memory by which the ranks of a window on one node synchronise. They are for
// operations that a device's copy engine or kernels carry out.
//
//   word                 written by                      meaning
//   arrived              every rank, once a fence        n * k once all n ranks came to the k-th
//   refused[k % 2]       a rank that refuses in the      k and that rank (kernel_view.cpp)
//                        k-th vote
//   lock of t            whoever locks t's memory        0 free, n shared holders, `exclusive`
//   exclusion of t       whoever accumulates at t        0 free, 1 taken: for the time of one call
//   posted[t][o]         t, in MPI_Win_post              how often t exposed its memory to o
//   completed[t][o]      o, in MPI_Win_complete          how often o ended its access to t
//   attachment of t      t, in attach and detach         `memory` holds while `attached` is `valid`
//
// Writes that announce something have release order, reads have acquire order: a rank that sees the
// word also sees what was complete before it. Counters only grow. Each side counts its own calls,
// and waits until the other's counter has the same value. Nothing is ever reset.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/shared_memory.hpp"
#include "path/slot.hpp"

namespace telpher::rma {

struct attachment {
  enum : std::uint32_t { free, claimed, valid };  // claimed: a thread of t is writing `memory`
  std::atomic<std::uint32_t> attached;
  path::exported_memory memory;
  std::uint64_t bytes;
};

class words {
 public:
  static constexpr std::uint32_t exclusive = 0xffffffffu;
  static constexpr std::size_t most_attached = 256;  // device ranges of a rank

  /// Bytes of the segment for so many ranks.
  static std::size_t bytes(int ranks, bool dynamic) noexcept;

  words() = default;
  words(shared_memory segment, int ranks) noexcept : segment_(std::move(segment)), ranks_(ranks) {}

  explicit operator bool() const noexcept { return static_cast<bool>(segment_); }
  const shared_memory& segment() const noexcept { return segment_; }
  void close_descriptor() noexcept { segment_.close_descriptor(); }

  std::atomic<std::uint64_t>& arrived() const noexcept;
  std::atomic<std::uint64_t>& refused(std::uint32_t vote) const noexcept;
  std::atomic<std::uint32_t>& lock(int target) const noexcept;
  std::atomic<std::uint32_t>& exclusion(int target) const noexcept;
  std::atomic<std::uint64_t>& posted(int target, int origin) const noexcept;
  std::atomic<std::uint64_t>& completed(int target, int origin) const noexcept;
  attachment* attachments(int target) const noexcept;

  /// Takes the lock if it is free for that; never waits.
  bool try_lock(int target, bool exclusively) const noexcept;
  void unlock(int target, bool exclusively) const noexcept;

 private:
  template <class T>
  T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(segment_.data() + offset);
  }

  shared_memory segment_;
  int ranks_ = 0;
};

/// While this object lives, no other accumulate changes the target's memory.
class exclusion {
 public:
  exclusion(const words& w, int target) noexcept;
  ~exclusion() { word_.store(0, std::memory_order_release); }
  exclusion(const exclusion&) = delete;
  exclusion& operator=(const exclusion&) = delete;

 private:
  std::atomic<std::uint32_t>& word_;
};

}  // namespace telpher::rma
