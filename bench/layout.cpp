// SPDX-License-Identifier: BSD-3-Clause
#include "layout.hpp"

#include <algorithm>

namespace telpher::bench {

layout::layout(const derived& d, std::size_t bytes)
    : blocks_{{0, bytes}}, span_(bytes), count_(static_cast<int>(bytes)) {
  if (d.what == derived::kind::none || bytes == 0) return;
  count_ = 1;
  if (d.what == derived::kind::contiguous) {
    MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_);
  } else {
    blocks_.clear();
    const bool shifts = d.what == derived::kind::indexed;
    for (std::size_t done = 0; done < bytes; done += d.block) {
      const std::size_t index = done / d.block;
      const std::size_t shift = shifts && index % 2 ? (d.stride - d.block) / 2 : 0;
      blocks_.push_back({index * d.stride + shift, std::min(d.block, bytes - done)});
    }
    span_ = blocks_.back().at + blocks_.back().bytes;
    if (!shifts && bytes % d.block == 0)
      MPI_Type_vector(static_cast<int>(blocks_.size()), static_cast<int>(d.block),
                      static_cast<int>(d.stride), MPI_BYTE, &type_);
    else
      make_indexed();
  }
  MPI_Type_commit(&type_);
}

layout::~layout() {
  if (type_ != MPI_BYTE) MPI_Type_free(&type_);
}

void layout::make_indexed() {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (const block& b : blocks_) {
    lengths.push_back(static_cast<int>(b.bytes));
    places.push_back(static_cast<MPI_Aint>(b.at));
  }
  MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                           MPI_BYTE, &type_);
}

}  // namespace telpher::bench
