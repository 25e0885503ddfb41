// SPDX-License-Identifier: BSD-3-Clause
// Traffic in host memory only, to compare a run under Telpher with one without it
// (host_overhead.py): latency, bandwidth, and MPI_Waitall on many requests.
#pragma once

#include <vector>

#include "report.hpp"

namespace telpher::bench {

/// Collective. The first two ranks get the same rows, the others none.
std::vector<row> measure_host(memory_source& source, const plan& p);

}  // namespace telpher::bench
