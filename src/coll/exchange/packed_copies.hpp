// SPDX-License-Identifier: BSD-3-Clause
// Packed copies, in device memory of the pools, of the buffers of a call whose elements have gaps
// at this rank. Kernels pack before the call and unpack after it, on the stream of the call's
// context. Gaps are neither read nor written.
#pragma once

#include <memory>

#include "coll/exchange/arguments.hpp"
#include "coll/exchange/sides.hpp"
#include "memory/memory.hpp"
#include "memory/streams.hpp"

namespace telpher::coll::exchange {

class packed_copies {
 public:
  packed_copies() = default;
  packed_copies(const packed_copies&) = delete;
  packed_copies& operator=(const packed_copies&) = delete;
  /// Waits for kernels that still use the copies.
  ~packed_copies();

  /// Makes `a` the same call on packed copies, and begins to pack what it reads.
  status make(arguments& a, device::stream on) noexcept;
  /// Begins to bring the results to their places.
  status unpack() noexcept;
  /// would_block: what was begun last is under way.
  status poll() noexcept;
  /// Peers may still use the copies: they are kept until the process ends.
  void abandon() noexcept;

 private:
  template <class Move>
  status move(const gapped_side& s, const memory::buffer& copy, const Move& one) noexcept;
  status mark() noexcept;

  std::shared_ptr<const gapped_sides> sides_;
  memory::place where_;
  device::stream on_;
  memory::buffer input_, output_;
  memory::pooled_event done_;
  bool under_way_ = false;
};

}  // namespace telpher::coll::exchange
