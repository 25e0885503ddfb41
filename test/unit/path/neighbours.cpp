// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a node share processors or devices, according to their headers.
#include "path/neighbours.hpp"

#include <deque>
#include <initializer_list>

#include "check.hpp"

using namespace telpher;
using path::neighbours;
using path::segment_header;

namespace {

/// Headers of ranks bound to these processors.
class node {
 public:
  node(std::initializer_list<std::initializer_list<int>> cpus) {
    for (const auto& one : cpus) {
      segment_header& h = headers_.emplace_back();
      for (const int cpu : one)
        h.cpus[static_cast<std::size_t>(cpu) / 64] |= std::uint64_t{1} << cpu % 64;
    }
  }

  bool crowded() const { return neighbours::crowded(others(-1)); }
  neighbours rank(int r) { return {headers_[static_cast<std::size_t>(r)], others(r)}; }
  segment_header& operator[](int r) { return headers_[static_cast<std::size_t>(r)]; }

 private:
  std::vector<const segment_header*> others(int without) const {
    std::vector<const segment_header*> list;
    for (std::size_t i = 0; i < headers_.size(); ++i)
      if (static_cast<int>(i) != without) list.push_back(&headers_[i]);
    return list;
  }

  std::deque<segment_header> headers_;
};

device::device_uuid device_number(int n) {
  device::device_uuid u{};
  u.bytes[3] = static_cast<std::uint8_t>(n);
  return u;
}

}  // namespace

TEST_CASE(ranks_with_processors_of_their_own) {
  CHECK(!node({{0}, {1}}).crowded());
  CHECK(!node({{0, 1}, {0, 1}}).crowded());
  CHECK(!node({{0, 1, 2, 3}, {0}, {1}}).crowded());
  CHECK(!node({{200}, {1999}}).crowded());
}

TEST_CASE(ranks_that_share_processors) {
  CHECK(node({{0, 1}, {0, 1}, {0, 1}}).crowded());
  CHECK(node({{5}, {5}}).crowded());
  // Of many processors, one is the only one of two ranks.
  CHECK(node({{0, 1, 2, 3, 4, 5, 6, 7}, {3}, {3}}).crowded());
  CHECK(node({{0, 1}, {2, 3}, {0}, {1}}).crowded());
  // No single set has too many ranks, but all sets together have.
  CHECK(node({{0, 1}, {1, 2}, {0, 2}, {0, 1}}).crowded());
}

TEST_CASE(the_own_processors_are_written) {
  node ranks({{}, {}});
  neighbours::write_cpus(ranks[0]);
  std::uint64_t any = 0;
  for (const std::uint64_t word : ranks[0].cpus) any |= word;
  CHECK(any != 0);
}

// As many devices as ranks, of which all use the same one; and each rank a different device that it
// numbers 0.
TEST_CASE(devices_are_compared_and_not_counted) {
  node ranks({{0}, {1}, {2}});
  neighbours first = ranks.rank(0), second = ranks.rank(1), third = ranks.rank(2);
  CHECK(first.alone_on(device_number(1)));
  CHECK(second.alone_on(device_number(2)));
  CHECK(!third.alone_on(device_number(1)));
  CHECK(!first.alone_on(device_number(1)));
  CHECK(second.alone_on(device_number(2)));
  CHECK(!first.alone_on(device_number(2)));
  CHECK(!second.alone_on(device_number(2)));
}

TEST_CASE(what_others_cannot_be_told_is_not_relied_on) {
  node ranks({{0}, {1}});
  neighbours first = ranks.rank(0), second = ranks.rank(1);
  for (int n = 0; n < static_cast<int>(path::most_devices); ++n)
    CHECK(first.alone_on(device_number(n)));
  CHECK(!first.alone_on(device_number(100)));
  CHECK(first.alone_on(device_number(0)));
  CHECK(second.alone_on(device_number(100)));
}
