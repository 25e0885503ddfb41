// SPDX-License-Identifier: BSD-3-Clause
// From MPI_Init to MPI_Finalize.
#pragma once

#include "ticket/progress.hpp"

namespace telpher::ticket {

/// Joins the job; `threaded` is true for MPI_THREAD_MULTIPLE, `world` as for host_mpi::join. What
/// this process has under way from the time when it waited goes on.
status start(bool threaded, MPI_Comm world) noexcept;
/// Local: this process works alone until then (host_mpi::job::waits).
status wait_for_job() noexcept;
/// Collective: moves messages until no rank can receive or send one any more, and forgets those
/// that have no receive. `meanwhile` is called between passes.
void end_messages(held_lock& held, void (*meanwhile)()) noexcept;
/// Collective. Gives everything back.
void stop() noexcept;

}  // namespace telpher::ticket
