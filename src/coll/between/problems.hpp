// SPDX-License-Identifier: BSD-3-Clause
// From a rank's arguments to the problem that is the same at all ranks. What only one rank knows
// (its terms) travels as words, of which all ranks get the least.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "coll/between/shape.hpp"
#include "coll/exchange/packed_copies.hpp"
#include "codec/plan.hpp"

namespace telpher::coll::between {

/// Of some calls (allgatherv, alltoallv) a rank knows only its own part. Plans of such calls have
/// `most_parts` places (plans.hpp). For each place: whether this rank has its part of the call
/// there.
constexpr std::size_t most_parts = 4;
using parts_kept = std::array<bool, most_parts>;

struct terms {
  bool able = false;        // this rank, or all of them, can run the schedule in host memory
  bool on_device = false;   // or in memory of the room's devices, whose kernels have the reduction
  bool any_device = false;  // this rank, or some of them, has a buffer on a device
  bool in_kernel = false;   // this rank, or all of them, can run the schedule as one kernel
  std::uint64_t grain = 0;  // bytes that all counts and offsets are multiples of
  std::uint64_t longest = 0;  // block of a v-form, in bytes
  codec::element kind{};      // of values that may be compressed; none where ranks differ
  parts_kept parts{};         // at this rank, or at all of them

  using words = std::array<std::int64_t, 8 + most_parts>;
  words as_words() const noexcept;
  /// What all ranks' words come to when the least of each counts.
  static terms of(const words& least) noexcept;
};

/// Whether a schedule can use this rank's buffers as they lie, or, of a call that was read with
/// gaps, packed copies of them.
bool can_take_part(const exchange::arguments& a) noexcept;

/// Packed copies of the buffers that have gaps at this rank. Null: none are needed.
using copies = std::shared_ptr<exchange::packed_copies>;

/// Makes `a` the same call on packed copies, if it has gaps. Ranks do so before they vote: without
/// memory for the copies the call is not possible. The runner packs before its first step and
/// unpacks after its last.
copies pack(exchange::arguments& a) noexcept;

/// `device`: that the communicator's room uses, if it does.
terms terms_of(const exchange::arguments& a, const memory::place& device) noexcept;

/// Whether the kernels of that device can use this rank's buffers as they lie, in elements of
/// `grain` bytes.
bool lies_on(const memory::place& device, const exchange::arguments& a,
             std::uint64_t grain) noexcept;

/// Terms of a call of `bytes` that needs no vote: each rank adapts its own buffers. The call runs
/// in host memory, or as kernels of the room's devices.
terms known_terms(const exchange::arguments& a, std::uint64_t bytes, bool in_kernel) noexcept;

/// Whether all ranks see the same problem, apart from what `may_be_in_place_alone` says. Of the
/// other calls each rank knows only its own part.
bool same_at_all(operation what) noexcept;

/// Whether some ranks may be in place and others not: the root of a reduce; any rank of a
/// reduce-scatter (MPI-4.1, 6.10.2: those without a block need not be).
bool may_be_in_place_alone(operation what) noexcept;

/// Whether the own part of the problem is that of this call, for calls that are not the same at
/// all.
bool is_own_part(const exchange::arguments& a, const problem& p, std::uint64_t unit) noexcept;

/// `all`: the terms of all ranks, who are able. Fills `p`, whose memory is used again: after an
/// equal problem it takes none. May throw std::bad_alloc.
void problem_of(const exchange::arguments& a, const shape& among, const terms& all, problem& p);

}  // namespace telpher::coll::between
