// SPDX-License-Identifier: BSD-3-Clause
// Random nested datatypes for the tests in this folder: every constructor, depth up to three, small
// counts (including zero), gaps, overlapping extents and negative lower bounds.
#pragma once

#include <mpi.h>

#include <random>
#include <vector>

class random_types {
 public:
  explicit random_types(unsigned seed) : random_(seed) {}
  ~random_types() {
    for (MPI_Datatype& t : made_) MPI_Type_free(&t);
  }

  /// A committed type, made by `depth` nested constructors.
  MPI_Datatype make(int depth) {
    MPI_Datatype type = build(depth);
    MPI_Type_dup(type, &type);  // our own handle, predefined type or not
    MPI_Type_commit(&type);
    made_.push_back(type);
    return type;
  }

  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

 private:
  static constexpr int constructors = 12;

  MPI_Datatype build(int depth) {
    static const MPI_Datatype predefined[] = {MPI_CHAR,      MPI_SHORT,          MPI_INT,
                                              MPI_DOUBLE,    MPI_SHORT_INT,      MPI_DOUBLE_INT,
                                              MPI_FLOAT_INT, MPI_LONG_DOUBLE_INT};
    if (depth == 0) return predefined[below(8)];
    const MPI_Datatype inner = build(depth - 1);
    MPI_Datatype type = construct(below(constructors), inner, depth);
    // Some host MPIs refuse what the standard allows (Open MPI 5: some distributed arrays).
    if (type == MPI_DATATYPE_NULL) MPI_Type_dup(inner, &type);
    made_.push_back(type);
    return type;
  }

  MPI_Datatype construct(int which, MPI_Datatype inner, int depth) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(inner, &lower, &extent);
    switch (which) {
      case 0:
        MPI_Type_contiguous(below(4), inner, &type);
        break;
      case 1:
        MPI_Type_vector(below(4), below(3), 2 + below(3), inner, &type);
        break;
      case 2:
        MPI_Type_create_hvector(below(4), 1 + below(2), 3 * extent + 8, inner, &type);
        break;
      case 3:
      case 4:
      case 5:
      case 6:
        indexed(which, inner, extent, type);
        break;
      case 7:
        structure(inner, extent, depth, type);
        break;
      case 8:
        subarray(inner, type);
        break;
      case 9:
        darray(inner, type);
        break;
      case 10:
        MPI_Type_create_resized(inner, lower - 8, extent + 8 + 16 * below(2), &type);
        break;
      default:
        MPI_Type_dup(inner, &type);
    }
    return type;
  }

  void indexed(int which, MPI_Datatype inner, MPI_Aint extent, MPI_Datatype& type) {
    constexpr int count = 3;
    const int lengths[count] = {below(3), 1, below(3)};
    const int places[count] = {6, 0, 3};
    const MPI_Aint bytes[count] = {0, 8 * extent + 16, 4 * extent};
    if (which == 3) MPI_Type_indexed(count, lengths, places, inner, &type);
    if (which == 4) MPI_Type_create_hindexed(count, lengths, bytes, inner, &type);
    if (which == 5) MPI_Type_create_indexed_block(count, 2, places, inner, &type);
    if (which == 6) MPI_Type_create_hindexed_block(count, 2, bytes, inner, &type);
  }

  void structure(MPI_Datatype inner, MPI_Aint extent, int depth, MPI_Datatype& type) {
    const int lengths[3] = {1 + below(2), below(3), 1};
    const MPI_Aint bytes[3] = {16, 2 * extent + 32, 8 * extent + 4096};
    const MPI_Datatype types[3] = {inner, inner, build(depth - 1)};
    MPI_Type_create_struct(3, lengths, bytes, types, &type);
  }

  int order() { return below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN; }

  void subarray(MPI_Datatype inner, MPI_Datatype& type) {
    const int dimensions = 1 + below(3);
    int sizes[3], parts[3], starts[3];
    for (int i = 0; i < dimensions; ++i) {
      sizes[i] = 2 + below(4);
      parts[i] = 1 + below(sizes[i]);
      starts[i] = below(sizes[i] - parts[i] + 1);
    }
    MPI_Type_create_subarray(dimensions, sizes, parts, starts, order(), inner, &type);
  }

  void darray(MPI_Datatype inner, MPI_Datatype& type) {
    const int grids[2][3] = {{2, 3, 1}, {1, 2, 2}};
    const int* grid = grids[below(2)];
    const int processes = grid[0] * grid[1] * grid[2];
    int sizes[3], how[3], arguments[3];
    for (int i = 0; i < 3; ++i) {
      sizes[i] = grid[i] + below(5);
      how[i] = below(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
      if (grid[i] == 1 && below(2)) how[i] = MPI_DISTRIBUTE_NONE;
      arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
      if (how[i] == MPI_DISTRIBUTE_CYCLIC && below(2)) arguments[i] = 1 + below(2);
      if (how[i] == MPI_DISTRIBUTE_BLOCK && below(2)) arguments[i] = 1 + sizes[i] / grid[i];
    }
    MPI_Type_create_darray(processes, below(processes), 3, sizes, how, arguments, grid, order(),
                           inner, &type);
  }

  std::mt19937 random_;
  std::vector<MPI_Datatype> made_;
};
