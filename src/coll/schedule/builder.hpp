// SPDX-License-Identifier: BSD-3-Clause
// What algorithms are written with: spans by name, steps as verbs. Steps that move nothing are left
// out, so that an algorithm need not ask about empty blocks or MPI_IN_PLACE.
//
// Peers read a rank's input through `contribution`: the input itself where it is exposed, else the
// copy that `publish` puts into a slot of the rank's scratch space.
#pragma once

#include <cstdint>
#include <ranges>
#include <utility>
#include <vector>

#include "coll/schedule/problem.hpp"

namespace telpher::coll {

/// A piece of a vector: where it begins and how many elements it has.
struct piece {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
};

/// Slot `index` of a row of slots that hold `stride` elements each.
inline piece slot_at(std::int32_t index, std::uint64_t stride, std::uint64_t count) {
  return {static_cast<std::uint64_t>(index) * stride, count};
}

/// Piece `index` of `parts` nearly equal ones of the whole, cut at multiples of the granule.
piece share_of(piece whole, std::int32_t index, std::int32_t parts, std::uint64_t granule);
/// A rank's share of the vector, of as many as there are ranks.
inline piece share_of(const problem& p, std::int32_t rank) {
  return share_of({0, p.count}, rank, p.ranks, p.granule);
}

class builder {
 public:
  /// `exposed`: peers read this call's inputs where they are. Wrong if they are not mapped, or if
  /// outputs that lie in inputs are written before the last peer has read.
  builder(const problem& p, std::int32_t rank, std::uint64_t scratch, bool exposed);
  builder(const problem& p, std::int32_t rank, std::uint64_t scratch)
      : builder(p, rank, scratch, p.mapped) {}

  const problem& what() const noexcept { return problem_; }
  std::int32_t rank() const noexcept { return made_.rank; }
  std::int32_t ranks() const noexcept { return made_.ranks; }
  bool is_root() const noexcept { return rank() == problem_.root; }
  /// The other ranks, from the next one on, so that not all ranks pull at one link at once.
  auto others() const {
    return std::views::iota(1, ranks()) |
           std::views::transform([this](std::int32_t i) { return (rank() + i) % ranks(); });
  }

  /// Of the others: who needs something of this rank, and of whom this rank needs something.
  auto takers() const {
    return others() |
           std::views::filter([this](std::int32_t r) { return gives(problem_, rank(), r); });
  }
  auto givers() const {
    return others() |
           std::views::filter([this](std::int32_t r) { return gives(problem_, r, rank()); });
  }

  // Spans. Without a rank: own.
  span input(piece at) const { return {rank(), space::input, at.offset, at.count}; }
  span output(piece at) const { return {rank(), space::output, at.offset, at.count}; }
  span scratch(piece at) const { return {rank(), space::scratch, at.offset, at.count}; }
  span output_of(std::int32_t r, piece at) const { return {r, space::output, at.offset, at.count}; }
  span scratch_of(std::int32_t r, piece at) const {
    return {r, space::scratch, at.offset, at.count};
  }
  /// The piece of rank r's input as its peers may read it after it published that piece and
  /// signalled: the piece itself, or the slot.
  span contribution(std::int32_t r, piece at, piece slot) const;
  span contribution(std::int32_t r, piece at) const { return contribution(r, at, at); }
  /// Contributions of all ranks, or of some, in rank order.
  std::vector<span> contributions(piece at) const;
  std::vector<span> contributions(const std::vector<std::int32_t>& ranks, piece at,
                                  piece slot) const;

  /// What all who give to this rank's sum give, in rank order: `of` says where a rank's part is.
  template <class Of>
  std::vector<span> all_given(const Of& of) const {
    std::vector<span> all;
    for (std::int32_t r = 0; r < ranks(); ++r)
      if (gives(problem_, r, rank())) all.push_back(of(r));
    return all;
  }

  // What rank r gives to another, and where what it gets of another belongs: a block, or a vector.
  piece input_block(std::int32_t r, std::int32_t to) const;
  piece output_block(std::int32_t r, std::int32_t from) const;

  // Steps.
  void copy(span to, span from);
  /// What this rank gives itself, from its place in the input to that in the output.
  void copy_own_block();
  void reduce(span to, std::vector<span> sources);
  void publish(piece at, piece slot);
  void publish(piece at) { publish(at, at); }
  void signal(std::int32_t peer);
  void wait(std::int32_t peer);
  /// The peer may read after its await_input what was published. Exposed inputs need neither call:
  /// they may be read from the start.
  void signal_input(std::int32_t peer);
  void await_input(std::int32_t peer);
  // The same with several peers; the rank itself may be among them.
  void signal(std::ranges::range auto&& peers) {
    for (const std::int32_t peer : peers) signal(peer);
  }
  void wait(std::ranges::range auto&& peers) {
    for (const std::int32_t peer : peers) wait(peer);
  }
  void signal_input(std::ranges::range auto&& peers) {
    for (const std::int32_t peer : peers) signal_input(peer);
  }
  /// Nobody passes before all have come.
  void meet();
  void send(std::int32_t peer, span from);
  void receive(std::int32_t peer, span to);
  /// Begins a stage, which needs messages of the one before. All ranks have the same stages, some
  /// of them without steps. Each signal is awaited in the stage in which it is given.
  void next_stage() { made_.stages.push_back(made_.steps.size()); }

  schedule take() { return std::move(made_); }

 private:
  bool same_place(const span& a, const span& b) const;

  const problem& problem_;
  bool exposed_;
  schedule made_;
};

}  // namespace telpher::coll
