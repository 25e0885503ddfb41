// SPDX-License-Identifier: BSD-3-Clause
// The simulator against times calculated by hand, one node against all nodes, and the shapes for
// which algorithms are chosen.
#include "schedules/simulate.hpp"

#include <cmath>

#include "check.hpp"
#include "schedules/flat_ring.hpp"

using namespace telpher::coll;

namespace {

constexpr const char* round_numbers =
    "# a machine of round numbers\n"
    "gpus 4\nnics 2\npair_gbps 10\nport_gbps 20\nmemory_gbps 1000\nsignal_us 1\nlaunch_us 5\n"
    "handover_us 2\nnic_gbps 5\nnic_us 3\nmessage_us 0.5\nencode_gbps 50\ndecode_gbps 50\n";

// Not operator+: GCC 12 warns wrongly of what it makes of it with a precompiled header.
std::string round_numbers_and(std::string_view line) {
  std::string text = round_numbers;
  text.append(line);
  return text;
}

machine parsed(const std::string& text) {
  machine m;
  std::string error;
  CHECK(parse_machine(text, m, error));
  return m;
}

problem on_nodes(operation what, std::int32_t ranks, std::int32_t gpus, std::uint64_t count) {
  problem p;
  p.what = what;
  p.ranks = ranks;
  p.count = count;
  p.granule = 4;
  for (std::int32_t r = 0; r < ranks; ++r) p.node_of.push_back(r / gpus);
  return p;
}

double time_of(const char* name, const problem& p, const machine& m, pricing how = {}) {
  for (const algorithm& a : with_flat_ring())
    if (a.name == std::string_view(name) && allows(a, p)) return simulate(p, a.make, m, how);
  CHECK(false);
  return -1;
}

bool close(double a, double b, double part) {
  return std::abs(a - b) <= part * std::max(a, b);
}

}  // namespace

TEST_CASE(a_broadcast_between_two_gpus_takes_what_arithmetic_says) {
  const machine m = parsed(round_numbers);
  problem p = on_nodes(operation::bcast, 2, 4, 250000);  // 1 MB at 10 GB/s: 100 us
  // launch, the copy, the reader's signal back
  CHECK(close(time_of("one_shot", p, m), 5 + 100 + 1, 1e-6));
  p.mapped = false;  // also the root's copy into its scratch space, and its signal
  CHECK(time_of("one_shot", p, m) > 5 + 1 + 100 + 1);
}

TEST_CASE(a_message_takes_what_arithmetic_says) {
  const machine m = parsed(round_numbers);
  problem p = on_nodes(operation::alltoall, 2, 1, 250000);  // 1 MB at 5 GB/s: 200 us
  p.node_of = {0, 1};
  machine single = m;
  single.gpus = single.nics = 1;
  // launch; own block: 2 MB at 1000 GB/s; to the host; message; wire; latency; message
  const double by_hand = 5 + 2 + 2 + 0.5 + 200 + 3 + 0.5;
  CHECK(close(time_of("pairwise", p, single), by_hand, 1e-6));
  pricing how;
  how.compression = 4;  // encode and decode 20 us each, a quarter of the bytes
  CHECK(close(time_of("pairwise", p, single, how), by_hand - 150 + 40, 1e-6));
}

TEST_CASE(ranks_that_share_a_nic_share_its_rate) {
  const machine m = parsed(round_numbers);
  const problem p = on_nodes(operation::alltoall, 8, 4, 250000);
  // 4 of a rank's 8 blocks go to other nodes, and two ranks share a NIC: 8 MB at 5 GB/s. Steps in
  // the node and waiting for a partner take additional time, but less than that again.
  const double us = time_of("pairwise", p, m);
  CHECK(us > 1600);
  CHECK(us < 2 * 1600);
}

TEST_CASE(one_node_stands_for_all) {
  const machine m = parsed(round_numbers);
  const struct {
    operation what;
    const char* name;
    symmetry nodes;
  } rows[] = {
      {operation::allreduce, "ring", symmetry::shifted},
      {operation::allreduce, "two_level_ring", symmetry::shifted},
      {operation::allreduce, "two_level_direct", symmetry::shifted},
      {operation::allreduce, "two_level_doubling", symmetry::mirrored},
      {operation::allgather, "two_level", symmetry::shifted},
      {operation::alltoall, "pairwise", symmetry::shifted},
      {operation::reduce_scatter_block, "two_level", symmetry::shifted},
  };
  for (const auto& row : rows) {
    problem p = on_nodes(row.what, 32, 4, 1 << 16);
    p.chunk = 1 << 14;
    pricing how;
    const double all = time_of(row.name, p, m, how);
    how.nodes = row.nodes;
    const double one = time_of(row.name, p, m, how);
    CHECK(all > 0);
    if (!close(all, one, 0.05))
      check::fail(__FILE__, __LINE__,
                  std::string(to_string(row.what)) + " " + row.name + ": " + std::to_string(all) +
                      " and " + std::to_string(one));
  }
}

TEST_CASE(two_levels_beat_a_flat_ring_between_nodes) {
  const machine m = parsed(round_numbers);
  for (const std::uint64_t count : {1u << 10, 1u << 18, 1u << 24}) {
    const problem p = on_nodes(operation::allreduce, 32, 4, count);
    CHECK(time_of("two_level_direct", p, m) < time_of("ring", p, m));
  }
}

TEST_CASE(one_shot_is_for_small_and_two_shot_for_large) {
  const machine m = parsed(round_numbers);
  problem small = on_nodes(operation::allreduce, 4, 4, 64);
  problem large = on_nodes(operation::allreduce, 4, 4, 1 << 22);
  small.mapped = large.mapped = false;
  CHECK(time_of("one_shot", small, m) < time_of("two_shot", small, m));
  CHECK(time_of("two_shot", large, m) < time_of("one_shot", large, m));
}

TEST_CASE(schedules_that_do_not_end_are_said_so) {
  const machine m = parsed(round_numbers);
  const problem p = on_nodes(operation::allreduce, 2, 4, 0);
  const auto waits_in_vain = [](const problem&, std::int32_t rank) {
    schedule s;
    s.rank = rank;
    s.ranks = 2;
    s.steps.push_back({.kind = step_kind::wait, .peer = 1 - rank});
    return s;
  };
  CHECK(simulate(p, waits_in_vain, m, {}) < 0);
}

TEST_CASE(wrong_descriptions_are_refused) {
  machine m;
  std::string error;
  CHECK(!parse_machine("gpus 4\n", m, error));
  CHECK(!parse_machine(round_numbers_and("colour blue\n"), m, error));
  CHECK(error.find("colour") != std::string::npos);
  CHECK(!parse_machine(round_numbers_and("pair 0 99 5\n"), m, error));
  CHECK(!parse_machine(round_numbers_and("gpus 99\n"), m, error));
}
