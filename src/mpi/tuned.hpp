// SPDX-License-Identifier: BSD-3-Clause
// Finds the table that `telpher tune` wrote for this very machine and MPI, or the one that
// TELPHER_TABLE names, and puts it in force for this rank. The ranks find out whether all have the
// same when they meet (host_mpi/job.cpp).
#pragma once

#include <string>
#include <vector>

namespace telpher::tuned {

/// Before the ranks meet. A table that is damaged, or of another machine, is refused with an error
/// that says why; where none was asked for and none is found nothing is said.
void load() noexcept;

/// This machine as tables know it: device::signature() and the host MPI.
std::vector<std::string> machine();

}  // namespace telpher::tuned
