// SPDX-License-Identifier: BSD-3-Clause
// The plan of the random stress, which all ranks draw from the seed.
#pragma once

#include <tuple>

#include "forms.hpp"

namespace stress_test {

using namespace mpi_test;

constexpr std::size_t communicators = 3;
constexpr std::size_t batch_size = 96;
constexpr std::size_t buffered_limit = 1024;

/// How the receives of one rank in one communicator choose their messages in one batch.
enum class pair_mode {
  exact,       // source and tag; few tags, so that many messages share one
  any_tag,     // the source, and the tag or MPI_ANY_TAG; posted in the order of the sends
  any_source,  // MPI_ANY_SOURCE with a tag of its own for each message
  wild         // both wildcards; who sent is found out at the end of the batch
};

struct message {
  int source, destination, tag;
  std::size_t comm, bytes, room;
  kind from, to;
  const send_form* send;
  receive_form receive;
  bool any_tag, any_source;
  bool early;  // the receive is posted when the batch begins
  std::uint64_t id;
};

struct batch {
  pair_mode mode(int destination, std::size_t comm) const {
    return modes[static_cast<std::size_t>(destination) * communicators + comm];
  }
  std::vector<pair_mode> modes;
  std::vector<message> messages;
};

/// Receives that must be posted in the order of their messages have the same key.
std::tuple<int, std::size_t, int, int> order_key(const batch& b, const message& m);

batch make_batch(random_numbers& random, int ranks);

}  // namespace stress_test
