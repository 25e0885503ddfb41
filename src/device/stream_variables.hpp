// SPDX-License-Identifier: BSD-3-Clause
// Variables of CUDA's that streams which wait for a message need. CUDA reads them when it starts.
// - Streams that share a queue of the device stand behind each other, so that one which waits holds
//   up others. CUDA has 8 queues, and at most 32. A client of NVIDIA's MPS has two unless it asks
//   for more, and the clients of one device have some hundred together: on an H100 three clients
//   of 32 queues start, and the fourth gets "out of memory" when it first uses the device.
// - A kernel's first launch loads it. While a stream waits, all work that is given to the device
//   after it stands still, ours too.
#pragma once

namespace telpher::device {

/// Before the host MPI starts: asks for queues, and for kernels that are loaded at the start, where
/// calls in the order of streams are wanted (TELPHER_STREAMS); for queues alone under MPS. What the
/// user has chosen stays. Does nothing in a process with several threads, where another one may be
/// reading the environment. `telpher exec` does the same earlier (tools/telpher/execute.py).
void set_stream_variables() noexcept;

}  // namespace telpher::device
