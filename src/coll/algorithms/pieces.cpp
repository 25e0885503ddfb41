// SPDX-License-Identifier: BSD-3-Clause
// See pieces.hpp. Every piece is a problem of the v-form with the offsets of the whole blocks; its
// spans of buffers then shift by what went before.
//
// Order: what is sent in a slot of time is received one lag later, in the slot where the pieces'
// next stages come in the same order. Scratch holds the pieces under way; a piece takes the place
// of one whose last stage was in an earlier slot, as if one followed the other.
//
// The last piece of a block may be shorter than the ones before it. Spans are atoms, so its slot
// lies in scratch space of its own, behind the slots of whole pieces; no block has a second one.
#include "coll/algorithms/pieces.hpp"

#include <algorithm>
#include <iterator>

namespace telpher::coll {
namespace {

bool is_cut(const problem& p) {
  return p.chunk > 0 && p.chunk < largest_block(p);
}

/// The same blocks, named one by one.
problem in_v_form(const problem& p) {
  if (is_v_form(p.what)) return p;
  const auto ranks = static_cast<std::size_t>(p.ranks);
  problem v = p;
  v.what = p.what == operation::allgather  ? operation::allgatherv
           : p.what == operation::alltoall ? operation::alltoallv
                                           : operation::reduce_scatter;
  v.counts.assign(v.what == operation::alltoallv ? ranks * ranks : ranks, p.count);
  set_dense_offsets(v);
  return v;
}

class moved {
 public:
  moved(const problem& whole, std::uint64_t shift, std::uint64_t place, std::uint64_t short_place)
      : chunk_(whole.chunk), shift_(shift), place_(place), short_place_(short_place) {}

  void operator()(span& s) const {
    s.offset += s.where != space::scratch ? shift_ : s.count < chunk_ ? short_place_ : place_;
  }

 private:
  std::uint64_t chunk_, shift_, place_, short_place_;
};

/// Where there is one message after the other, two pieces travel while a third is worked on; where
/// there are more, those of other stages do.
std::size_t lag_of(std::size_t stages) {
  return stages == 2 ? 2 : 1;
}

/// Moves the steps of one stage behind the others.
void append_stage(std::vector<step>& to, schedule& piece, std::size_t stage) {
  const auto at = [&](std::size_t n) {
    const std::size_t step = n == 0                    ? 0
                             : n > piece.stages.size() ? piece.steps.size()
                                                       : piece.stages[n - 1];
    return std::make_move_iterator(piece.steps.begin() + static_cast<std::ptrdiff_t>(step));
  };
  to.insert(to.end(), at(stage), at(stage + 1));
}

}  // namespace

std::uint64_t slot_stride(const problem& p) {
  return aligned(p, p.chunk > 0 ? p.chunk : largest_block(p));
}

schedule in_pieces(const problem& p, std::int32_t rank,
                   schedule (*make)(const problem& p, std::int32_t rank)) {
  if (!is_cut(p)) {
    problem whole = p;
    whole.chunk = 0;
    return make(whole, rank);
  }
  const problem blocks = in_v_form(p);
  const std::uint64_t longest = largest_block(p);
  std::vector<schedule> pieces;
  for (std::uint64_t shift = 0; shift < longest; shift += p.chunk) {
    problem one = blocks;
    for (std::uint64_t& n : one.counts) n = std::min(p.chunk, n - std::min(n, shift));
    pieces.push_back(make(one, rank));
  }
  const std::size_t stages = pieces[0].stages.size() + 1, lag = lag_of(stages);
  const std::size_t places = (stages - 1) * lag + 1;
  schedule all = {pieces[0].rank, pieces[0].ranks, (places + 1) * pieces[0].scratch, {}, {}};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const moved move(p, i * p.chunk, i % places * pieces[0].scratch, places * pieces[0].scratch);
    for (step& s : pieces[i].steps) {
      move(s.to);
      for (span& from : s.sources) move(from);
    }
  }
  for (std::size_t slot = 0; slot < pieces.size() + places - 1; ++slot)
    for (std::size_t stage = 0; stage < stages && stage * lag <= slot; ++stage)
      if (const std::size_t i = slot - stage * lag; i < pieces.size())
        append_stage(all.steps, pieces[i], stage);
  return all;
}

}  // namespace telpher::coll
