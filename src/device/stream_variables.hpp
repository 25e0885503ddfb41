// SPDX-License-Identifier: BSD-3-Clause
// Environment variables of CUDA's that are needed if streams wait for messages. CUDA reads them
// when it starts.
// - The number of work queues. Streams that share a queue of the device run one after the other, so
//   one that waits holds up the others. CUDA has 8 queues by default, and at most 32. A client of
//   NVIDIA's MPS has two unless it asks for more, and the clients of one device have some hundred
//   together: on an H100 three clients of 32 queues start, and the fourth gets "out of memory" when
//   it first uses the device.
// - When kernels are loaded. By default a kernel's first launch loads it. If a stream waits then,
//   all work that is given to the device later stands still, ours too.
#pragma once

namespace telpher::device {

/// Before the host MPI starts: asks for queues, and for kernels that are loaded at the start, where
/// calls in the order of streams are wanted (TELPHER_STREAMS); for queues alone under MPS. What the
/// user has chosen stays. Does nothing in a process with several threads, where another one may be
/// reading the environment. `telpher exec` does the same earlier (tools/telpher/execute.py).
void set_stream_variables() noexcept;

}  // namespace telpher::device
