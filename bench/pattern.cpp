// SPDX-License-Identifier: BSD-3-Clause
#include "pattern.hpp"

#include <algorithm>
#include <cstring>

#include "window_buffer.hpp"

namespace telpher::bench {

namespace {

std::uint64_t seed_of(std::uint64_t seed, int rank, int block) {
  return (seed * 65536 + static_cast<std::uint64_t>(rank)) * 65536 +
         static_cast<std::uint64_t>(block);
}

// 1 to 4: the sum of some thirty ranks fits a signed char.
template <class T>
void small_numbers(std::uint64_t seed, std::size_t bytes, std::byte* to) {
  std::vector<std::byte> noise(bytes / sizeof(T));
  fill_pattern(noise, seed);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const T value = static_cast<T>(1 + (std::to_integer<int>(noise[i]) & 3));
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
}

template <class T>
void combine(MPI_Op op, const std::byte* from, std::size_t bytes, std::byte* into) {
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, into + at, sizeof(T));
    std::memcpy(&b, from + at, sizeof(T));
    const T result = op == MPI_MAX   ? std::max(a, b)
                     : op == MPI_MIN ? std::min(a, b)
                                     : static_cast<T>(a + b);
    std::memcpy(into + at, &result, sizeof(T));
  }
}

template <class F>
void with_type(const element& e, F&& f) {
  if (e.type == MPI_DOUBLE)
    f(double());
  else if (e.type == MPI_FLOAT)
    f(float());
  else if (e.type == MPI_INT)
    f(int());
  else
    f(static_cast<signed char>(0));
}

}  // namespace

bool find_element(const std::string& name, element& out) {
  const element known[] = {{"float", MPI_FLOAT, sizeof(float)},
                           {"double", MPI_DOUBLE, sizeof(double)},
                           {"int", MPI_INT, sizeof(int)},
                           {"char", MPI_SIGNED_CHAR, 1}};
  for (const element& e : known)
    if (name == e.name) return out = e, true;
  return false;
}

bool find_operation(const std::string& name, MPI_Op& out) {
  if (name != "sum" && name != "max" && name != "min") return false;
  out = name == "sum" ? MPI_SUM : name == "max" ? MPI_MAX : MPI_MIN;
  return true;
}

int data_plan::count(collective::blocks b) const noexcept {
  switch (b) {
    case collective::blocks::one:
      return 1;
    case collective::blocks::each_rank:
      return size;
    case collective::blocks::each_neighbour:
      return static_cast<int>(neighbours.size());
    default:
      return 0;
  }
}

void data_plan::contribution(std::uint64_t seed, int from, int block, std::byte* to) const {
  const std::uint64_t own = seed_of(seed, from, block);
  if (!which->reduces()) return fill_pattern({to, block_bytes}, own);
  with_type(type, [&](auto zero) { small_numbers<decltype(zero)>(own, block_bytes, to); });
}

void data_plan::reduced(std::uint64_t seed, int last, int block, std::byte* to) const {
  contribution(seed, 0, block, to);
  std::vector<std::byte> other(block_bytes);
  for (int r = 1; r <= last; ++r) {
    contribution(seed, r, block, other.data());
    with_type(type, [&](auto zero) { combine<decltype(zero)>(op, other.data(), block_bytes, to); });
  }
}

// The index of the block that a neighbour has for this rank. The grid looks the same from every
// rank, but the order of a rank's neighbours depends on its position.
int data_plan::place_of_me(int neighbour) const {
  int place = 0;
  for (const int r : around.neighbours(neighbour)) {
    if (r == rank) return place;
    ++place;
  }
  return 0;
}

std::vector<std::byte> data_plan::sent(std::uint64_t seed) const {
  const int blocks = which->in_buffer ? 1 : send_blocks();
  std::vector<std::byte> out(block_bytes * static_cast<std::size_t>(blocks));
  for (int b = 0; b < blocks; ++b)
    contribution(seed, rank, b, out.data() + block_bytes * static_cast<std::size_t>(b));
  return out;
}

std::vector<std::byte> data_plan::expected(std::uint64_t seed) const {
  using origin = collective::origin;
  const origin from = which->comes_from;
  if (from == origin::reduced_before_me && rank == 0) return {};
  std::vector<std::byte> out(block_bytes * static_cast<std::size_t>(receive_blocks()));
  for (int j = 0; j < receive_blocks(); ++j) {
    std::byte* to = out.data() + block_bytes * static_cast<std::size_t>(j);
    const auto index = static_cast<std::size_t>(j);
    switch (from) {
      case origin::nothing:
        break;
      case origin::root:
        contribution(seed, root, which->in_buffer ? 0 : rank, to);
        break;
      case origin::each_rank:
        contribution(seed, j, 0, to);
        break;
      case origin::each_ranks_for_me:
        contribution(seed, j, rank, to);
        break;
      case origin::reduced:
        reduced(seed, size - 1, 0, to);
        break;
      case origin::reduced_for_me:
        reduced(seed, size - 1, rank, to);
        break;
      case origin::reduced_up_to_me:
        reduced(seed, rank, 0, to);
        break;
      case origin::reduced_before_me:
        reduced(seed, rank - 1, 0, to);
        break;
      case origin::neighbours:
        contribution(seed, neighbours[index], 0, to);
        break;
      case origin::neighbours_for_me:
        contribution(seed, neighbours[index], place_of_me(neighbours[index]), to);
        break;
    }
  }
  return out;
}

}  // namespace telpher::bench
