// SPDX-License-Identifier: BSD-3-Clause
// A program that makes and frees types in each step needs device memory for their tables once, and
// none for types whose blocks are a grid. The test runs with a device that gives memory for the
// data and for one table.
#include <algorithm>
#include <vector>

#include "check.hpp"
#include "datatype/datatype.hpp"
#include "one_rank.hpp"

using namespace telpher;

namespace {

constexpr int blocks = 50, span = 400 * blocks;

class packer {
 public:
  packer()
      : data_(static_cast<char*>(*b_->allocate(0, span))),
        packed_(static_cast<char*>(*b_->allocate_pinned(span))),
        stream_(*b_->create_stream(0)) {
    for (std::size_t i = 0; i < host_.size(); ++i) host_[i] = static_cast<char>(i * 7 + i / 256);
    CHECK(b_->copy(data_, host_.data(), span, stream_) == status::ok);
  }

  void pack(MPI_Datatype type) {
    const auto l = datatype::layout_of(type);
    REQUIRE(l.has_value());
    REQUIRE(datatype::pack(*b_, **l, data_, 1, packed_, stream_) == status::ok);
    REQUIRE(b_->synchronise(stream_) == status::ok);
    datatype::pack_host(**l, host_.data(), 0, (*l)->size, wanted_.data());
    CHECK(std::equal(packed_, packed_ + (*l)->size, wanted_.data()));
  }

 private:
  device::backend* const b_ = one_rank::device();
  char* const data_;
  char* const packed_;
  const device::stream stream_;
  std::vector<char> host_ = std::vector<char>(span), wanted_ = std::vector<char>(span);
};

packer& on_device() {
  static auto* const one = new packer;
  return *one;
}

}  // namespace

TEST_CASE(tables_of_freed_types_serve_new_ones) {
  one_rank::start();
  for (int round = 1; round <= 40; ++round) {
    std::vector<int> places(blocks);
    for (int i = 0; i < blocks; ++i) places[static_cast<std::size_t>(i)] = 200 * i + i * i % 40;
    MPI_Datatype type;
    MPI_Type_create_indexed_block(blocks, round, places.data(), MPI_CHAR, &type);
    MPI_Type_commit(&type);
    on_device().pack(type);
    MPI_Type_free(&type);
  }
}

TEST_CASE(grids_need_no_tables) {
  one_rank::start();
  std::vector<MPI_Datatype> types;
  for (int round = 1; round <= 40; ++round) {
    MPI_Type_vector(blocks, round, 200, MPI_CHAR, &types.emplace_back());
    MPI_Type_commit(&types.back());
    on_device().pack(types.back());
  }
  for (MPI_Datatype& type : types) MPI_Type_free(&type);
}
