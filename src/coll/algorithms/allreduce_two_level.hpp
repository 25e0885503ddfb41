// SPDX-License-Identifier: BSD-3-Clause
// The frame of two-level allreduces with a leader for every rail: reduce-scatter in the node, an
// allreduce among the leaders of each rail, allgather in the node. The vector goes in chunks. Each
// slot of time starts one more chunk and moves those under way, all sends before all receives, so
// that messages travel while kernels work (early trigger). Where the second level has one or two
// stages, what is sent in a slot is received in the next one. Scratch holds only the chunks under
// way, however long the vector is. The algorithm is what the second level does with a chunk.
#pragma once

#include "coll/algorithms/nodes.hpp"

namespace telpher::coll {

/// A leader's share of a chunk.
struct portion {
  piece at;                // of its sum, in scratch
  std::uint64_t incoming;  // scratch for messages: `room` elements from here
  std::uint64_t granule;

  piece part(std::int32_t index, std::int32_t parts) const {
    return share_of(at, index, parts, granule);
  }
  /// Where the message with that piece of the portion is received.
  piece landing(piece of) const { return {incoming + (of.offset - at.offset), of.count}; }
};

/// An allreduce among leaders, in stages. Stage by stage every leader first sends, then receives.
struct second_level {
  std::int32_t (*stages)(std::int32_t nodes);
  std::uint64_t (*room)(std::int32_t nodes, std::uint64_t largest, std::uint64_t granule);
  void (*send)(builder& b, const rail& own, std::int32_t stage, const portion& x);
  void (*receive)(builder& b, const rail& own, std::int32_t stage, const portion& x);
};

schedule make_two_level(const problem& p, std::int32_t rank, const second_level& among);

/// `room` of algorithms that receive a piece of the portion at a time.
inline std::uint64_t room_for_one(std::int32_t, std::uint64_t largest, std::uint64_t) {
  return largest;
}

}  // namespace telpher::coll
