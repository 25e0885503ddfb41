// SPDX-License-Identifier: BSD-3-Clause
// Random derived datatypes of a given number of basic elements, so that the two ends of a message
// can have different types of one signature. Elements of a type never overlap, neither do those of
// several in a row; a type may begin before or behind the address that is passed.
#pragma once

#include "../suite.hpp"

namespace surface {

using namespace mpi_test;

/// A committed type and how many of them.
struct elements {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int count = 0;
};

/// The bytes round an address that a call reads or writes.
struct span {
  MPI_Aint low = 0, high = 0;
  /// Takes in elements that begin `at` bytes behind the address.
  void add(const elements& e, MPI_Aint at = 0);
  std::size_t bytes() const { return static_cast<std::size_t>(high - low); }
};

MPI_Aint extent_of(MPI_Datatype type);
std::size_t size_of(MPI_Datatype type);

/// Types that live as long as their owner.
class type_list {
 public:
  type_list() = default;
  type_list(const type_list&) = delete;
  type_list& operator=(const type_list&) = delete;
  ~type_list() { free(); }

  /// A random type, of which `count` have `total` basic elements in all.
  elements draw(random_numbers& random, MPI_Datatype basic, int total);
  /// The same, but no more than blocks at one distance forwards.
  elements draw_forward(random_numbers& random, MPI_Datatype basic, int total);
  /// The same where an element may be left over: at least `total`.
  elements draw_room(random_numbers& random, MPI_Datatype basic, int total);
  MPI_Datatype keep(MPI_Datatype uncommitted);
  void free();

 private:
  std::vector<MPI_Datatype> types_;
};

/// Basic types, one of them a struct of three with gaps.
MPI_Datatype basic_type(random_numbers& random);
/// How many elements a call moves; mostly few.
int element_count(random_numbers& random, MPI_Datatype basic);

/// Structs are left out of what is drawn from here on, or not.
void allow_structs(bool allowed);

/// A buffer and its type, or MPI_BOTTOM and a type that has the address.
class named {
 public:
  named(const void* buffer, MPI_Datatype of, bool bottom) : at(buffer), type(of) {
    if (!bottom || buffer == MPI_IN_PLACE) return;
    const int one = 1;
    MPI_Aint place = 0;
    MPI_Get_address(buffer, &place);
    MPI_Type_create_hindexed(1, &one, &place, of, &own_);
    MPI_Type_commit(&own_);
    at = MPI_BOTTOM;
    type = own_;
  }
  named(const named&) = delete;
  named& operator=(const named&) = delete;
  ~named() {
    if (own_ != MPI_DATATYPE_NULL) MPI_Type_free(&own_);
  }
  const void* at;
  MPI_Datatype type;

 private:
  MPI_Datatype own_ = MPI_DATATYPE_NULL;
};

}  // namespace surface
