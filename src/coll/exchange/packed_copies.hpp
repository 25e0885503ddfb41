// SPDX-License-Identifier: BSD-3-Clause
// A rank's packed copies of a call's buffers, where no schedule can use these as they lie. Gaps are
// neither read nor written. There are two kinds:
// - Copies of buffers with gaps, on the device of the buffers. Kernels in one stream pack before
//   the call and unpack after it. If buffers of a call between nodes lie in host memory or on
//   several devices, the copies are in host memory, and packing returns when it is done.
// - Copies of all that the call reads and writes, in any memory, with gaps or without. The caller
//   says where they are, and moving returns when it is done. For calls between nodes that run in
//   host memory, and for replays that streams cannot start (mpi/repeated.hpp).
#pragma once

#include <memory>

#include "coll/exchange/arguments.hpp"
#include "coll/exchange/sides.hpp"
#include "memory/memory.hpp"
#include "memory/streams.hpp"

namespace telpher::coll::exchange {

class packed_copies {
 public:
  /// In place one buffer is both.
  struct buffers {
    memory::buffer input, output;
  };

  packed_copies() = default;
  packed_copies(const packed_copies&) = delete;
  packed_copies& operator=(const packed_copies&) = delete;
  /// Waits for kernels of begin() that still use the copies. Work on the copies that streams of the
  /// program may still have is waited for later.
  ~packed_copies();

  // --- of gaps ---

  /// Makes `a`, whose gaps were found, the same call on packed copies. What packing and unpacking
  /// need is there then, and they take no more memory. `in`: the memory of a call with copies of
  /// the same sizes, behind which this one runs.
  status make(arguments& a, device::stream on, std::shared_ptr<buffers> in = nullptr) noexcept;
  /// The same in host memory, for buffers in any memory.
  status make_on_host(arguments& a) noexcept;
  const std::shared_ptr<buffers>& memory() const noexcept { return memory_; }

  /// Of a call: begins to pack what it reads, or to bring the results to their places, on the
  /// stream of make(). In host memory they do all of it.
  status begin_packing() noexcept;
  status begin_unpacking() noexcept;
  /// would_block: what was begun last is under way.
  status poll() noexcept;

  /// Of a replay: the same in a stream of the program's, any number of times.
  status pack(device::stream s) noexcept;
  status unpack(device::stream s) const noexcept;
  /// Behind the last unpacking, which no graph repeats: is_over() says whether the stream has
  /// passed it.
  status mark_end(device::stream s) noexcept;
  bool is_over() const noexcept;

  /// Peers may still use the copies: they are kept until the process ends.
  void abandon() noexcept;

  // --- of all ---

  /// Makes `a`, of whose longest vector all ranks know the length, the same call on packed copies
  /// there, in place or not. invalid_argument: its elements are not so many bytes.
  status make_all(arguments& a, const memory::place& where, std::uint64_t longest,
                  bool in_place) noexcept;
  status load() const noexcept;
  status store() const noexcept;

 private:
  status take_memory() noexcept;
  void stand_in(arguments& a) const noexcept;
  const memory::buffer& input() const noexcept {
    return sides_->in_place ? memory_->output : memory_->input;
  }
  status pack_in(device::stream s) const noexcept;
  status move_all(const side& s, const memory::buffer& copy, bool in) const noexcept;
  template <class Work>
  status begin(const Work& work) noexcept;

  std::shared_ptr<const sides> sides_;
  memory::place where_;
  device::stream on_;
  std::shared_ptr<buffers> memory_;
  memory::pooled_event done_;
  bool under_way_ = false;   // what begin() has begun
  bool in_streams_ = false;  // of the program
  bool marked_ = false;      // done_ is behind all that these do
};

}  // namespace telpher::coll::exchange
