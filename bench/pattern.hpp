// SPDX-License-Identifier: BSD-3-Clause
// What each rank puts into a collective, and what must come out. Data that is moved has a pattern
// in which every byte differs. Data that is reduced has small integers, whose sums are exact in
// every type and order.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collective.hpp"

namespace telpher::bench {

struct element {
  const char* name;
  MPI_Datatype type;
  std::size_t bytes;
};

/// Parses "float", "double", "int" or "char"; false for other names.
bool find_element(const std::string& name, element& out);
/// Parses "sum", "max" or "min".
bool find_operation(const std::string& name, MPI_Op& out);

struct data_plan {
  const collective* which = nullptr;
  element type{};
  MPI_Op op = MPI_SUM;
  std::size_t block_bytes = 0;
  int rank = 0, size = 1, root = 0;
  grid around;  // for neighbourhood collectives
  std::vector<int> neighbours;

  int send_blocks() const noexcept { return count(which->send); }
  int receive_blocks() const noexcept { return count(which->receive); }
  /// The data that this rank sends.
  std::vector<std::byte> sent(std::uint64_t seed) const;
  /// The data that this rank must have received; empty if the standard leaves it undefined.
  std::vector<std::byte> expected(std::uint64_t seed) const;

 private:
  int count(collective::blocks b) const noexcept;
  void contribution(std::uint64_t seed, int rank, int block, std::byte* to) const;
  void reduced(std::uint64_t seed, int last, int block, std::byte* to) const;
  int place_of_me(int neighbour) const;
};

}  // namespace telpher::bench
