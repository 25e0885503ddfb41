// SPDX-License-Identifier: BSD-3-Clause
// Buffers of elements with gaps, and a model of what they must hold: twelve ints make an element,
// and each type has them at other places.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>

#include "suite.hpp"

namespace mpi_test {

inline constexpr int ints_of_unit = 12;

/// A type of twelve ints, and where they lie.
struct unit {
  const char* name;
  std::vector<int> places;  // in ints, in the order of the type map
  int extent;               // in ints
  std::function<void(MPI_Datatype*)> make;
};

inline std::vector<int> sequence(int first, int n) {
  std::vector<int> s(static_cast<std::size_t>(n));
  std::iota(s.begin(), s.end(), first);
  return s;
}

inline const std::vector<unit>& units() {
  static const std::vector<unit> all = [] {
    unit rows{"rows", {}, 20, [](MPI_Datatype* t) {
                MPI_Datatype plain;
                MPI_Type_vector(4, 3, 5, MPI_INT, &plain);
                MPI_Type_create_resized(plain, 0, 20 * sizeof(int), t);
                MPI_Type_free(&plain);
              }};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 3; ++j) rows.places.push_back(5 * i + j);
    unit scattered{
        "scattered", {}, 24, [](MPI_Datatype* t) {  // its bounds are its first and last int
          int lengths[3] = {5, 1, 6}, places[3] = {9, 2, 20};
          MPI_Type_indexed(3, lengths, places, MPI_INT, t);
        }};
    for (const auto& [first, n] : {std::pair(9, 5), std::pair(2, 1), std::pair(20, 6)})
      for (const int p : sequence(first, n)) scattered.places.push_back(p);
    return std::vector<unit>{{"plain", sequence(0, 12), 12,
                              [](MPI_Datatype* t) { MPI_Type_contiguous(12, MPI_INT, t); }},
                             rows,
                             scattered,
                             {"part", sequence(7, 12), 30, [](MPI_Datatype* t) {
                                int whole = 30, part = 12, start = 7;
                                MPI_Type_create_subarray(1, &whole, &part, &start, MPI_ORDER_C,
                                                         MPI_INT, t);
                              }}};
  }();
  return all;
}

/// One rank's buffer: blocks of units, and what they hold.
class blocks {
 public:
  std::vector<int> counts, places;  // in units

  blocks(const unit& u, kind k, std::vector<int> own_counts, std::vector<int> own_places)
      : counts(std::move(own_counts)), places(std::move(own_places)), u_(&u), memory_(k, bytes()) {}
  void clear() {
    wanted_.assign(bytes(), 0);
    write_pattern(77, wanted_.data(), wanted_.size());
    memory_.clear();
  }
  /// Block `b` holds the values of `f`, or is expected to, in the call that follows.
  template <class F>
  void set(int b, const F& f) {
    const auto at = static_cast<std::size_t>(b);
    for (int i = 0; i < counts[at] * ints_of_unit; ++i) {
      const int v = f(i), element = places[at] + i / ints_of_unit;
      const int place =
          element * u_->extent + u_->places[static_cast<std::size_t>(i % ints_of_unit)];
      std::memcpy(&wanted_[static_cast<std::size_t>(place) * sizeof v], &v, sizeof v);
    }
  }
  void load() { memory_.write(wanted_.data(), wanted_.size()); }
  std::string wrong() const { return memory_.compare(wanted_.data()); }
  unsigned char* data() const { return memory_.data(); }
  const unit& of() const { return *u_; }

 private:
  std::size_t bytes() const {
    int end = 0;
    for (std::size_t b = 0; b < counts.size(); ++b)
      end = std::max(end, (places[b] + counts[b]) * u_->extent + 30);
    return static_cast<std::size_t>(end) * sizeof(int);
  }
  const unit* u_;
  buffer memory_;
  std::vector<unsigned char> wanted_;
};

/// A buffer as an argument: its address and type, or MPI_BOTTOM and a type that holds the address.
class argument {
 public:
  argument(const blocks& b, bool by_address) : at(b.data()) {
    b.of().make(&type);
    if (by_address) {
      MPI_Datatype relative = type;
      MPI_Aint place = 0;
      int one = 1;
      MPI_Get_address(b.data(), &place);
      MPI_Type_create_hindexed(1, &one, &place, relative, &type);
      MPI_Type_free(&relative);
      at = MPI_BOTTOM;
    }
    MPI_Type_commit(&type);
  }
  argument(const argument&) = delete;
  argument& operator=(const argument&) = delete;
  ~argument() { MPI_Type_free(&type); }
  void* at;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

}  // namespace mpi_test
