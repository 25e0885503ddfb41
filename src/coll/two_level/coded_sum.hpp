// SPDX-License-Identifier: BSD-3-Clause
// Sums among leaders in compressed form. Of what the leaders of an index are to sum up, each node
// owns a part. Leaders send each other their compressed values of the owner's part; the owner
// decompresses them and adds them to its own on its device, in the order of the nodes. If all shall
// have the sums, each part of them is compressed once and sent to all, and everybody, the owner
// too, takes the decompressed values: all ranks get the same bits.
//
// All parts are of equal length and lie behind each other, the last values of a part may be zeros
// that fill it up. Parts are such that each one's stream is a run of the stream of all, so that one
// kernel encodes or decodes them.
#pragma once

#include "coll/two_level/coding.hpp"
#include "coll/two_level/phases.hpp"

namespace telpher::coll::two_level {

class coded_sum {
 public:
  /// For calls whose leaders have `each` values or more in a chunk; none where that is not to be
  /// compressed.
  coded_sum(const team& t, phases& p, const coding& how, const reducing& by, std::int64_t each);
  explicit operator bool() const noexcept { return coded_; }

  /// A leader's values in a chunk must be a multiple of this to fill its block.
  static std::int64_t granule(const team& t) noexcept;
  /// Values of a node's part where a leader has `values` in a chunk.
  std::int64_t part(std::int64_t values) const noexcept;
  /// Where a node's part lies before it is sent.
  memory_ref place(int node, std::int64_t part, int slot) const noexcept;
  /// Fills the room behind the first `values` of `room` at `at` with zeros.
  void fill_up(memory_ref at, std::int64_t values, std::int64_t room) noexcept;

  /// Starts to send what lies in the places to the owners.
  void scatter(std::int64_t part, int slot) noexcept;
  /// After the slot's requests are complete: sums up, to the own place.
  void reduce(std::int64_t part, int slot) noexcept;
  /// Starts to send the sums to all.
  void gather(std::int64_t part, int slot) noexcept;
  /// After the slot's requests are complete: the sums of all parts, from the first place on.
  memory_ref sums(std::int64_t part, int slot) noexcept;

 private:
  codec::plan plan(std::int64_t parts, std::int64_t part) const noexcept;
  status add(memory_ref to, const std::vector<const void*>& parts, std::int64_t bytes) noexcept;
  status add_on_host(memory_ref to, const std::vector<const void*>& parts,
                     std::int64_t bytes) noexcept;

  const team& t_;
  phases& p_;
  coding how_;
  const reducing& by_;
  int nodes_;
  bool coded_ = false;
};

}  // namespace telpher::coll::two_level
