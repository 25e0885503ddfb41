// SPDX-License-Identifier: BSD-3-Clause
// When image and device memory of a window are made the same (MPI 5.0, 12.7), and which assertions
// of the program leave a part of it out (MPI 5.0, 12.5.5).
//
//   call                       shows what the program stored:   takes what operations wrote:
//                              reads the whole device memory,   compares the image on the host
//                              and takes as well
//   MPI_Win_fence              before, but                      after, but
//                              NOSTORE (1); NOSUCCEED (2)       NOPUT of the fence before (3);
//                                                               NOPRECEDE (2)
//   MPI_Win_post               before, but NOSTORE (1)          -
//   MPI_Win_wait, _test        -                                after, but NOPUT of the post (2)
//   MPI_Win_lock_all           after (4)                        after
//   MPI_Win_lock, own rank     -                                after
//   MPI_Win_unlock_all,        before                           after: operations of its own
//     _unlock of the own rank
//   MPI_Win_sync               yes                              yes
//
// (1) NOSTORE speaks of the time since the last synchronisation call. What the program stored
//     before that call was not shown by every such call; so it counts only if nothing of that kind
//     is left (`shown`). Where operations have written, nothing is: the standard lets no operation
//     write to a window of separate copies while a store waits to be shown, and lets the program
//     store nothing before it has taken what they wrote. Kernels' puts to this rank (kernel_view)
//     are stores here, of which the program need not know: then NOSTORE does not count.
// (2) With the window's info key no_locks alone. With locks others may access the window at any
//     time, and by the standard each such call shows them what was stored before it, and takes
//     what they have written.
// (3) Until the next fence nothing is written here, so that one has nothing to take.
// (4) The standard has it not. But programs that know unified windows only store, meet in a barrier
//     and lock, once for all time.
#pragma once

#include <atomic>

#include "host_mpi/host_mpi.hpp"

namespace telpher::rma {

struct window;

/// What the program has said of an image window, and what follows. Threads may synchronise side by
/// side.
struct asserted {
  bool no_locks = false;           // for all time
  std::atomic<bool> shown{false};  // all that was stored before the last synchronisation call
  bool no_puts = false;            // since the last fence, or MPI_Win_post, which said so
};

/// Whether an info has the key with the value "true".
bool says(MPI_Info info, const char* key) noexcept;

// Each returns MPI's code, which was raised on the window. They do nothing for windows without
// images.
int show(window& w, const char* call) noexcept;
int take(window& w, const char* call) noexcept;
int before_fence(window& w, const char* call, int assertion) noexcept;
int after_fence(window& w, const char* call, int assertion) noexcept;
int before_post(window& w, const char* call, int assertion) noexcept;
int after_wait(window& w, const char* call) noexcept;
/// Of a call that synchronises, and shows nothing.
void passed(window& w) noexcept;

}  // namespace telpher::rma
