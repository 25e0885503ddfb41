// SPDX-License-Identifier: BSD-3-Clause
// What a step of a window does: drawn in windows.cpp, done in window_steps.cpp.
#pragma once

#include "program.hpp"

namespace surface::one_sided {

enum class access {
  put,
  get,
  accumulate,
  get_accumulate,
  fetch_and_op,
  compare_and_swap,
  common  // an accumulate to a part that all ranks share
};
enum class epoch { fence, lock, lock_all, post_start };
enum class making { create, allocate, dynamic, shared };
/// What becomes of an operation's request.
enum class ending { none, waited, kept, freed };

constexpr int unit = 8;  // bytes of a displacement

struct operation {
  access what;
  int target = 0;
  elements out, in, there;  // origin, result, target
  int from = -1, to = -1;   // areas
  MPI_Aint at = 0;          // in units
  MPI_Op op = MPI_SUM;
  MPI_Datatype value = MPI_INT64_T;  // of what has one value
  ending request = ending::none;
  bool flushed = false, local = false, of_all = false;  // behind it, in passive epochs
};

/// A message to the right and one from the left, that are under way during the epoch.
struct beside {
  int sent = -1, received = -1;  // areas; -1: there is none
  int bytes = 0, tag = 0;
  std::size_t waited_behind = 0;  // so many operations
};

struct epochs {
  epoch how;
  bool exclusive = false, tested = false, meets = false;
  bool reads = false;    // there are gets alone
  bool asserts = false;  // the program tells MPI what it does not do
  bool stores = false;   // each rank stores before, in its own memory, or in a shared window in
                         // the memory of the rank to the right
  MPI_Aint stored_at = 0, stored_units = 0;
  std::uint64_t stored = 0;           // which pattern
  std::vector<operation> list;        // in the order of targets where each has a lock of its own
  std::vector<int> origins, targets;  // of post and start
  beside message;
};

struct window_plan {
  making how = making::create;
  std::string kind_name;
  bool apart = false;  // the parts of a shared window need not follow one another
  MPI_Comm comm = MPI_COMM_NULL;
  int ranks = 0, rank = 0;
  MPI_Aint bytes = 0;
  kind where = kind::host;
  std::vector<epochs> parts;
};

/// Makes the window, runs the epochs, and frees it.
void run(const window_plan& p, running& r);

}  // namespace surface::one_sided
