// SPDX-License-Identifier: BSD-3-Clause
// What Telpher says of itself: one line at start (info), TELPHER_EXPLAIN's page of devices and
// paths, and TELPHER_STATISTICS' counters at the end.
#pragma once

namespace telpher::explain {

/// After MPI_Init. Says nothing unless asked.
void started() noexcept;
/// Once a process with a session waits for its job.
void waits() noexcept;
/// Before MPI_Finalize.
void ending() noexcept;

}  // namespace telpher::explain
