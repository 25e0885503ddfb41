// SPDX-License-Identifier: BSD-3-Clause
// The buffers of the random programs, kept from step to step: a library that remembers memory by
// its address meets the same addresses again, with other content, offsets and neighbours, and now
// and then freed and allocated anew.
#pragma once

#include <array>

#include "../suite.hpp"

namespace surface {

using namespace mpi_test;

class shelf {
 public:
  buffer take(kind k, std::size_t bytes, random_numbers& random) {
    std::size_t size = 12;
    while ((std::size_t{1} << size) < bytes) ++size;
    if (size >= lists_.size()) lists_.resize(size + 1);
    std::vector<buffer>& list = lists_[size][static_cast<std::size_t>(k)];
    if (!list.empty() && random.chance(10)) list.pop_back();
    if (list.empty()) list.emplace_back(k, (std::size_t{1} << size) + room);
    const std::size_t at = random.below(list.size());
    std::swap(list[at], list.back());
    buffer b = std::move(list.back());
    list.pop_back();
    b.place(8 * random.below(room / 8), bytes);
    return b;
  }
  void put_back(buffer&& b, std::size_t bytes) {
    std::size_t size = 12;
    while ((std::size_t{1} << size) < bytes) ++size;
    std::vector<buffer>& list = lists_[size][static_cast<std::size_t>(b.memory())];
    if (list.size() < 8) list.push_back(std::move(b));
  }

 private:
  static constexpr std::size_t room = 64;
  std::vector<std::array<std::vector<buffer>, 4>> lists_;
};

}  // namespace surface
