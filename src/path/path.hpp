// SPDX-License-Identifier: BSD-3-Clause
// The names of the ways in which device bytes move, and how often each was used. A name is the same
// string in the setting TELPHER_PATH, in logs, in statistics and in the bench's output.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/settings.hpp"

namespace telpher::path {

enum class kind : int {
  none = 0,
  mapped,     // the CPU loads and stores device memory through a window
  ipc_get,    // the receiver's copy engine pulls from the sender's allocation
  ipc_put,    // the sender's copy engine pushes into the receiver's allocation
  batch,      // one kernel pulls many messages
  linger,     // the lingering copier pulls one message after the other
  local,      // both ends in one process: one device copy
  staged,     // through host memory shared by both processes, in blocks
  pipelined,  // off the node: through the host MPI, in blocks
  rdma,       // off the node: one-sided, through net/fabric
  direct,     // off the node: the host MPI, itself GPU-aware, takes the program's buffer
  raw,        // as bytes of an ordinary host message
  // Collectives; one call counts as one message.
  coll_staged,    // through host memory, by the host MPI
  coll_packed,    // one kernel a rank, data and flags in the same words
  coll_exchange,  // one kernel a rank that signals and waits
  coll_stepped,   // by device copies and kernels that the host orders
  coll_vendor,    // by the vendor's own library
  coll_levels,    // between nodes: blocks of a node's result by the host MPI
  file,           // MPI-IO: through host memory, by the host MPI
  count_
};

const char* to_string(kind k) noexcept;

/// TELPHER_PATH; none stands for auto.
kind forced() noexcept;
inline bool allowed(kind k) noexcept {
  const kind f = forced();
  return f == kind::none || f == k;
}

/// Whether a forced way is one that serves between nodes, and is taken on a node as well (tests).
inline bool between_nodes(kind k) noexcept {
  return k == kind::pipelined || k == kind::rdma || k == kind::direct;
}

/// Counts a message and remembers it as the last one (for benches and tests).
void count(kind k, std::uint64_t bytes) noexcept;
kind last() noexcept;

struct usage {
  std::uint64_t messages;
  std::uint64_t bytes;
};
usage used(kind k) noexcept;

}  // namespace telpher::path
