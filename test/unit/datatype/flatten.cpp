// SPDX-License-Identifier: BSD-3-Clause
// Layouts against the host MPI: for random types, packing by our blocks gives the same bytes as
// MPI_Pack. One process, host memory.
#include "datatype/datatype.hpp"

#include <cstdlib>
#include <algorithm>

#include "check.hpp"
#include "one_rank.hpp"
#include "random_type.hpp"

namespace {

using namespace telpher;

/// Random bytes around a buffer address from which `count` elements of a layout can be read.
struct arena {
  arena(const datatype::layout& l, int count) {
    const std::int64_t last = (count - 1) * l.extent;
    const std::int64_t low = std::min<std::int64_t>(0, last) + l.true_lower_bound;
    const std::int64_t high = std::max<std::int64_t>(0, last) + l.true_lower_bound + l.true_extent;
    bytes.resize(static_cast<std::size_t>(high - low) + 1);
    for (char& c : bytes) c = static_cast<char>(std::rand());
    base = bytes.data() - low;
  }
  std::vector<char> bytes;
  char* base;
};

std::vector<char> packed_by_mpi(const arena& a, int count, MPI_Datatype type, std::size_t bytes) {
  std::vector<char> packed(bytes + 1);
  int position = 0;
  MPI_Pack(a.base, count, type, packed.data(), static_cast<int>(bytes), &position, MPI_COMM_SELF);
  packed.resize(bytes);
  CHECK_EQ(static_cast<std::size_t>(position), bytes);
  return packed;
}

void compare(MPI_Datatype type, random_types& random) {
  const auto found = datatype::layout_of(type);
  CHECK(found.has_value());
  if (!found) return;
  const datatype::layout& l = **found;
  if (l.size == 0) return;  // the bounds of such types are meaningless
  const int count = 1 + random.below(3);
  arena a(l, count);
  const std::size_t bytes = l.size * static_cast<std::size_t>(count);
  const auto expected = packed_by_mpi(a, count, type, bytes);

  std::vector<char> packed(bytes);
  for (std::size_t first = 0; first < bytes;) {  // in chunks of any size
    const std::size_t now =
        std::min<std::size_t>(bytes - first, 1 + static_cast<std::size_t>(random.below(700)));
    datatype::pack_host(l, a.base, first, now, packed.data() + first);
    first += now;
  }
  CHECK(packed == expected);

  // Scattering the bytes over other bytes changes the elements and no gap.
  arena other(l, count);
  auto reference = other.bytes;
  int position = 0;
  MPI_Unpack(expected.data(), static_cast<int>(bytes), &position,
             reference.data() + (other.base - other.bytes.data()), count, type, MPI_COMM_SELF);
  datatype::unpack_host(l, packed.data(), 0, bytes, other.base);
  CHECK(other.bytes == reference);
}

}  // namespace

TEST_CASE(random_types_pack_like_the_host_mpi) {
  one_rank::start();
  for (unsigned seed = 1; seed <= 600; ++seed) {
    random_types random(seed);
    MPI_Datatype type = random.make(random.below(4));
    compare(type, random);
  }
}

TEST_CASE(predefined_types_are_contiguous) {
  one_rank::start();
  for (MPI_Datatype type : {MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX, MPI_LONG_DOUBLE,
                            MPI_2INT, MPI_FLOAT_INT, MPI_PACKED}) {
    const auto l = datatype::layout_of(type);
    CHECK(l.has_value() && (*l)->contiguous);
  }
  CHECK_EQ((*datatype::layout_of(MPI_SHORT_INT))->blocks.size(), 2u);
  CHECK(*datatype::layout_of(MPI_INT) == *datatype::layout_of(MPI_INT));
}

TEST_CASE(neighbours_merge) {
  one_rank::start();
  MPI_Datatype rows = MPI_DATATYPE_NULL, whole = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 8, 8, MPI_INT, &rows);
  MPI_Type_contiguous(5, rows, &whole);
  MPI_Type_commit(&whole);
  const auto l = datatype::layout_of(whole);
  CHECK(l.has_value() && (*l)->contiguous && (*l)->blocks.size() == 1);
  MPI_Type_free(&whole);
  MPI_Type_free(&rows);
}

TEST_CASE(types_of_unlike_elements_are_told) {
  one_rank::start();
  const auto uniform = [](MPI_Datatype first, MPI_Datatype second, int length) {
    const int lengths[] = {length, length};
    const MPI_Aint places[] = {0, 64};
    const MPI_Datatype parts[] = {first, second};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, places, parts, &type);
    MPI_Type_commit(&type);
    const bool found = (*datatype::layout_of(type))->uniform;
    MPI_Type_free(&type);
    return found;
  };
  CHECK(uniform(MPI_DOUBLE, MPI_LONG_LONG, 3));
  CHECK(!uniform(MPI_CHAR, MPI_DOUBLE, 1));
  CHECK(uniform(MPI_CHAR, MPI_DOUBLE, 0));                 // the type has no elements
  CHECK((*datatype::layout_of(MPI_DOUBLE_INT))->uniform);  // which is one element
}

TEST_CASE(a_reused_handle_is_decoded_again) {
  one_rank::start();
  for (int n = 1; n <= 1000; ++n) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(n, MPI_SHORT, &type);
    MPI_Type_commit(&type);
    CHECK_EQ((*datatype::layout_of(type))->size, 2u * static_cast<unsigned>(n));
    MPI_Type_free(&type);
  }
}

// What keeps a type alive keeps its layout: what MPI_Type_get_contents gives, which may be the very
// handle, is freed by who asked for it, and a type that was freed lives on in one that is made of
// it.
TEST_CASE(a_type_in_use_keeps_its_layout) {
  one_rank::start();
  MPI_Datatype inner = MPI_DATATYPE_NULL, outer = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT, &inner);
  MPI_Type_commit(&inner);
  MPI_Type_contiguous(2, inner, &outer);
  MPI_Type_commit(&outer);
  const datatype::layout* const l = *datatype::layout_of(inner);
  int count = 0;
  MPI_Datatype again = MPI_DATATYPE_NULL;
  MPI_Type_get_contents(outer, 1, 0, 1, &count, nullptr, &again);
  MPI_Type_free(&again);
  CHECK(*datatype::layout_of(inner) == l);
  MPI_Type_free(&inner);
  CHECK_EQ((*datatype::layout_of(outer))->size, 6 * sizeof(int));
  MPI_Type_free(&outer);
}

// The program may set attributes of its own, and duplicates are types of their own.
TEST_CASE(a_duplicate_has_a_layout_of_its_own) {
  one_rank::start();
  MPI_Datatype type = MPI_DATATYPE_NULL, same = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  const datatype::layout* const l = *datatype::layout_of(type);
  MPI_Type_dup(type, &same);
  const datatype::layout* const copy = *datatype::layout_of(same);
  CHECK(copy != l);
  MPI_Type_free(&type);
  CHECK(*datatype::layout_of(same) == copy);
  MPI_Type_free(&same);
}

TEST_CASE(regular_blocks_are_a_grid) {
  one_rank::start();
  const int sizes[] = {9, 8, 7, 6}, parts[] = {2, 3, 4, 5}, starts[] = {1, 2, 3, 0};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const auto counts_of = [&](int dimensions) {
    const int skip = 4 - dimensions;
    MPI_Type_create_subarray(dimensions, sizes + skip, parts + skip, starts + skip, MPI_ORDER_C,
                             MPI_SHORT, &type);
    MPI_Type_commit(&type);
    const auto regular = (*datatype::layout_of(type))->regular;
    MPI_Type_free(&type);
    std::vector<std::uint64_t> counts;
    if (regular) counts.assign(regular->counts, regular->counts + 3);
    return counts;
  };
  CHECK((counts_of(1) == std::vector<std::uint64_t>{1, 1, 1}));
  CHECK((counts_of(2) == std::vector<std::uint64_t>{4, 1, 1}));
  CHECK((counts_of(3) == std::vector<std::uint64_t>{4, 3, 1}));
  CHECK((counts_of(4) == std::vector<std::uint64_t>{4, 3, 2}));
  const int lengths[] = {1, 2, 1}, uneven[] = {0, 3, 7}, even[] = {9, 5, 1};
  MPI_Type_indexed(3, lengths, even, MPI_INT, &type);
  CHECK(!(*datatype::layout_of(type))->regular);
  MPI_Type_free(&type);
  MPI_Type_create_indexed_block(3, 1, uneven, MPI_INT, &type);
  CHECK(!(*datatype::layout_of(type))->regular);
  MPI_Type_free(&type);
  MPI_Type_create_indexed_block(3, 1, even, MPI_INT, &type);  // backwards
  const auto backwards = (*datatype::layout_of(type))->regular;
  CHECK(backwards && backwards->strides[0] == -16);
  MPI_Type_free(&type);
}

TEST_CASE(many_types_live_at_once) {
  one_rank::start();
  std::vector<MPI_Datatype> types(2000);
  std::vector<const datatype::layout*> layouts;
  for (std::size_t i = 0; i < types.size(); ++i) {
    MPI_Type_vector(2, 1, 2 + static_cast<int>(i), MPI_INT, &types[i]);
    MPI_Type_commit(&types[i]);
    layouts.push_back(*datatype::layout_of(types[i]));
  }
  for (std::size_t i = 0; i < types.size(); i += 2) {
    MPI_Type_free(&types[i]);
  }
  for (std::size_t i = 1; i < types.size(); i += 2) {
    CHECK(*datatype::layout_of(types[i]) == layouts[i]);
    MPI_Type_free(&types[i]);
  }
}

TEST_CASE(a_hold_outlives_the_type) {
  one_rank::start();
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  const datatype::hold kept(*datatype::layout_of(type));
  MPI_Type_free(&type);
  CHECK_EQ(kept->blocks.size(), 3u);
}

TEST_CASE(constructors_with_large_counts) {
  one_rank::start();
#if MPI_VERSION >= 4
  random_types random(7);
  const MPI_Count lengths[] = {2, 1}, places[] = {4, 0}, bytes[] = {64, 0};
  const MPI_Count sizes[] = {5, 6}, parts[] = {2, 3}, starts[] = {1, 2};
  const MPI_Datatype inner[] = {MPI_INT, MPI_DOUBLE};
  const int grid[] = {2, 1}, how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  MPI_Datatype types[11];
  MPI_Type_contiguous_c(3, MPI_SHORT_INT, &types[0]);
  MPI_Type_vector_c(3, 2, 4, MPI_INT, &types[1]);
  MPI_Type_create_hvector_c(3, 2, 20, MPI_INT, &types[2]);
  MPI_Type_indexed_c(2, lengths, places, MPI_INT, &types[3]);
  MPI_Type_create_hindexed_c(2, lengths, bytes, MPI_INT, &types[4]);
  MPI_Type_create_indexed_block_c(2, 2, places, MPI_INT, &types[5]);
  MPI_Type_create_hindexed_block_c(2, 2, bytes, MPI_INT, &types[6]);
  MPI_Type_create_struct_c(2, lengths, bytes, inner, &types[7]);
  MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &types[8]);
  MPI_Type_create_darray_c(2, 1, 2, sizes, how, arguments, grid, MPI_ORDER_FORTRAN, MPI_INT,
                           &types[9]);
  MPI_Type_create_resized_c(MPI_INT, -4, 16, &types[10]);
  for (MPI_Datatype& type : types) {
    MPI_Type_commit(&type);
    compare(type, random);
    MPI_Type_free(&type);
  }
#endif
}
