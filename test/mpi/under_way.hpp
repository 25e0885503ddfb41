// SPDX-License-Identifier: BSD-3-Clause
// For tests of puts and gets that are under way: epochs that end in each way.
#pragma once

#include "emulated.hpp"
#include "window.hpp"

namespace mpi_test {

// --- ways to complete ---

enum class ending { flush, flush_all, flush_local, unlock, unlock_all, fence, complete };
inline constexpr const char* endings[] = {"flush",      "flush_all", "flush_local", "unlock",
                                          "unlock_all", "fence",     "complete"};

/// An epoch of this rank at its right neighbour.
class epoch {
 public:
  epoch(const suite& s, window& w, ending how) : s_(s), w_(w), how_(how) {
    if (how == ending::fence) MPI_Win_fence(0, w.handle);
    if (how == ending::unlock_all || how == ending::flush_all) MPI_Win_lock_all(0, w.handle);
    if (how == ending::unlock || how == ending::flush || how == ending::flush_local)
      MPI_Win_lock(MPI_LOCK_SHARED, right(s), 0, w.handle);
    if (how != ending::complete) return;
    const int to = right(s), from = left(s);
    MPI_Group all, targets, origins;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &to, &targets);
    MPI_Group_incl(all, 1, &from, &origins);
    MPI_Win_post(origins, 0, w.handle);
    MPI_Win_start(targets, 0, w.handle);
    for (MPI_Group* g : {&all, &targets, &origins}) MPI_Group_free(g);
  }
  /// What was started is complete at the origin; its code.
  int complete() const {
    const int r = right(s_);
    switch (how_) {
      case ending::flush:
        return MPI_Win_flush(r, w_.handle);
      case ending::flush_all:
        return MPI_Win_flush_all(w_.handle);
      case ending::flush_local:
        return MPI_Win_flush_local(r, w_.handle);
      case ending::unlock:
        return MPI_Win_unlock(r, w_.handle);
      case ending::unlock_all:
        return MPI_Win_unlock_all(w_.handle);
      case ending::fence:
        return MPI_Win_fence(MPI_MODE_NOSUCCEED, w_.handle);
      case ending::complete:
        return MPI_Win_complete(w_.handle);
    }
    return MPI_SUCCESS;
  }
  /// And at the target.
  void end() const {
    if (how_ == ending::flush || how_ == ending::flush_local) MPI_Win_unlock(right(s_), w_.handle);
    if (how_ == ending::flush_all) MPI_Win_unlock_all(w_.handle);
    if (how_ == ending::complete) MPI_Win_wait(w_.handle);
  }

 private:
  const suite& s_;
  window& w_;
  ending how_;
};

template <class Body>
void each_ending(suite& s, Body&& body) {
  for (const ending how : {ending::flush, ending::flush_all, ending::flush_local, ending::unlock,
                           ending::unlock_all, ending::fence, ending::complete}) {
    s.note("%s", endings[static_cast<int>(how)]);
    body(how);
  }
}

/// Where puts and gets are under way at all, and are counted.
inline bool under_way(const setting& t) {
  return t.where == placing::all && counted("launches") >= 0 && !between_nodes();
}

/// Where small ones are gathered for one launch.
inline bool gathered() {
  const char* const path = std::getenv("TELPHER_PATH");
  return !std::getenv("TELPHER_BATCH_LIMIT") && (!path || std::strcmp(path, "batch") == 0);
}

}  // namespace mpi_test
