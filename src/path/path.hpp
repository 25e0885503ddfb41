// SPDX-License-Identifier: BSD-3-Clause
// The names of the paths by which device bytes move, and how often each was used. A name is the
// same string in the setting TELPHER_PATH, in logs, in statistics and in the output of the benches.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/settings.hpp"

namespace telpher::path {

enum class kind : int {
  none = 0,
#define TELPHER_PATH(name, choice, what) name,
#include "base/paths.def"
#undef TELPHER_PATH
  inbox,  // in the order of streams: a kernel puts the bytes into an inbox, another one takes them
  // Collectives; one call counts as one message.
  coll_staged,    // through host memory, by the host MPI
  coll_direct,    // by a GPU-aware host MPI, which gets the buffers as they are
  coll_packed,    // one kernel per rank; data and flags in the same words
  coll_lines,     // the same, in lines of 128 bytes
  coll_exchange,  // one kernel per rank that signals and waits
  coll_stepped,   // device copies and kernels, started one by one by the host
  coll_vendor,    // by the vendor's own library
  coll_levels,    // between nodes: blocks of a node's result through the host MPI
  file,           // MPI-IO: through host memory, by the host MPI
  count_
};

const char* to_string(kind k) noexcept;
/// What base/paths.def says of a path of messages.
const char* description(kind k) noexcept;

/// The path that TELPHER_PATH forces; none for auto.
kind forced() noexcept;
inline bool allowed(kind k) noexcept {
  const kind f = forced();
  return f == kind::none || f == k;
}

/// Whether a path works between nodes. If forced, it is used on a node as well (for tests).
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
