// SPDX-License-Identifier: BSD-3-Clause
// Packed copies, in device memory of the pools, of the buffers of a call whose elements have gaps
// at this rank. Kernels pack before the call and unpack after it, in the order of one stream. Gaps
// are neither read nor written.
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
  /// Waits for kernels of begin() that still use the copies.
  ~packed_copies();

  /// Makes `a` the same call on packed copies. What packing and unpacking need is there then, and
  /// they take no more memory.
  status make(arguments& a, device::stream on) noexcept;

  /// Of a call: begins to pack what it reads, or to bring the results to their places, on the
  /// stream of make().
  status begin_packing() noexcept;
  status begin_unpacking() noexcept;
  /// would_block: what was begun last is under way.
  status poll() noexcept;

  /// Of a replay: the same in a stream of the program's. Nobody polls for it.
  status pack(device::stream s) const noexcept;
  status unpack(device::stream s) const noexcept;

  /// Peers may still use the copies: they are kept until the process ends.
  void abandon() noexcept;

 private:
  status take(const gapped_side& s, memory::buffer& copy) const noexcept;
  template <class Work>
  status begin(const Work& work) noexcept;

  std::shared_ptr<const gapped_sides> sides_;
  memory::place where_;
  device::stream on_;
  memory::buffer input_, output_;
  memory::pooled_event done_;
  bool under_way_ = false;
};

}  // namespace telpher::coll::exchange
