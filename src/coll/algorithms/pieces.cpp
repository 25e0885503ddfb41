// SPDX-License-Identifier: BSD-3-Clause
// See pieces.hpp. Every piece is a problem of the v-form with the offsets of the whole blocks; its
// spans of buffers then shift by what went before.
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
  moved(const problem& whole, std::uint64_t shift, std::uint64_t scratch)
      : chunk_(whole.chunk), shift_(shift), scratch_(scratch) {}

  void operator()(span& s) const {
    if (s.where != space::scratch)
      s.offset += shift_;
    else if (s.count < chunk_)
      s.offset += scratch_;
  }

 private:
  std::uint64_t chunk_, shift_, scratch_;
};

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
  schedule all;
  for (std::uint64_t shift = 0; shift < longest; shift += p.chunk) {
    problem one = blocks;
    for (std::uint64_t& n : one.counts) n = std::min(p.chunk, n - std::min(n, shift));
    schedule made = make(one, rank);
    const moved move(p, shift, made.scratch);
    for (step& s : made.steps) {
      move(s.to);
      for (span& from : s.sources) move(from);
    }
    all.rank = made.rank;
    all.ranks = made.ranks;
    all.scratch = 2 * made.scratch;
    all.steps.insert(all.steps.end(), std::make_move_iterator(made.steps.begin()),
                     std::make_move_iterator(made.steps.end()));
  }
  return all;
}

}  // namespace telpher::coll
