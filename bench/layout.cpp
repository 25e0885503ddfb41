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
      const std::size_t row = d.rows ? index / d.rows * d.plane_rows + index % d.rows : index;
      blocks_.push_back({row * d.stride + shift, std::min(d.block, bytes - done)});
    }
    span_ = blocks_.back().at + blocks_.back().bytes;
    if (d.what == derived::kind::subarray &&
        bytes % (d.block * std::max<std::size_t>(1, d.rows)) == 0)
      make_subarray(d);
    else if (d.what == derived::kind::vector && bytes % d.block == 0)
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

void layout::make_subarray(const derived& d) {
  const int rows = static_cast<int>(d.rows ? d.rows : blocks_.size());
  const int planes = static_cast<int>(blocks_.size()) / rows;
  const int whole[] = {planes, d.rows ? static_cast<int>(d.plane_rows) : rows,
                       static_cast<int>(d.stride)};
  const int part[] = {planes, rows, static_cast<int>(d.block)};
  const int start[] = {0, 0, 0};
  const int skipped = d.rows ? 0 : 1;  // dimensions
  MPI_Type_create_subarray(3 - skipped, whole + skipped, part + skipped, start, MPI_ORDER_C,
                           MPI_BYTE, &type_);
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
