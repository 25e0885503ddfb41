// SPDX-License-Identifier: BSD-3-Clause
// Variables of CUDA's that streams which wait for a message need. CUDA reads them when it starts.
// - Streams that share a queue of the device stand behind each other, so that one which waits holds
//   up others; a client of NVIDIA's MPS has two queues unless it asks for more.
// - A kernel's first launch loads it. While a stream waits, all work that is given to the device
//   after it stands still, ours too.
#pragma once

namespace telpher::device {

/// Before the host MPI starts: asks for all queues and for kernels that are loaded at the start
/// where calls in the order of streams are wanted (TELPHER_STREAMS), and for all queues where ranks
/// share a device by MPS, unless the user has chosen. Does nothing in a process with several
/// threads, where another one may be reading the environment.
void set_stream_variables() noexcept;

}  // namespace telpher::device
