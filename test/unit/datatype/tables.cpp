// SPDX-License-Identifier: BSD-3-Clause
// A program that makes and frees types in each step needs device memory for their tables only once.
// The device in this test has memory for the data and for one table.
#include <algorithm>
#include <vector>

#include "check.hpp"
#include "datatype/datatype.hpp"
#include "one_rank.hpp"

using namespace telpher;

TEST_CASE(tables_of_freed_types_serve_new_ones) {
  one_rank::start();
  device::backend* const b = one_rank::device();
  REQUIRE(b);
  constexpr int blocks = 50, span = 400 * blocks;
  auto* const data = static_cast<char*>(*b->allocate(0, span));
  auto* const packed = static_cast<char*>(*b->allocate_pinned(span));
  const device::stream s = *b->create_stream(0);
  std::vector<char> host(span), wanted(span);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<char>(i * 7 + i / 256);
  REQUIRE(b->copy(data, host.data(), span, s) == status::ok);
  for (int round = 1; round <= 40; ++round) {
    MPI_Datatype type;
    MPI_Type_vector(blocks, round, 200, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    const auto l = datatype::layout_of(type);
    REQUIRE(l.has_value());
    REQUIRE(datatype::pack(*b, **l, data, 1, packed, s) == status::ok);
    REQUIRE(b->synchronise(s) == status::ok);
    datatype::pack_host(**l, host.data(), 0, (*l)->size, wanted.data());
    CHECK(std::equal(packed, packed + (*l)->size, wanted.data()));
    datatype::forget(type);
    MPI_Type_free(&type);
  }
  b->destroy_stream(s);
  (void)b->release_pinned(packed);
  (void)b->release(0, data);
}
