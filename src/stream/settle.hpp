// SPDX-License-Identifier: BSD-3-Clause
// Before a call of the program's reads or overwrites device memory: waits for work of the program's
// own that may still use it. TELPHER_SYNC says for which. Programs that synchronise themselves, as
// MPI asks of them, need none of it and pay one load a call.
// A communicator's stream is an attribute of it, which MPI_Comm_dup and its kin copy.
#pragma once

#include <atomic>
#include <initializer_list>

#include "host_mpi/host_mpi.hpp"
#include "memory/streams.hpp"

namespace telpher::stream {

/// From MPI_Init on, and before the host MPI's end.
void begin_settling() noexcept;
void end_settling() noexcept;

/// How a stream belongs to a communicator: its ordinary calls wait for the stream
/// (telpher_stream_set), or its enqueuing calls go there (MPIX_Stream_comm_create).
enum class role { settles, enqueues };

struct named {
  void* native = nullptr;
  int handle = 0;  // of MPIX_Stream
};

int name_stream(MPI_Comm comm, role r, const named& stream) noexcept;
int forget_stream(MPI_Comm comm, role r) noexcept;
/// False if the communicator has none.
bool stream_of(MPI_Comm comm, role r, named& out) noexcept;

/// Takes the info key `telpher_stream`, if there is one: the handle as %p prints it.
void name_by(MPI_Info info, MPI_Comm comm) noexcept;

/// Whether any call has to wait.
inline std::atomic<bool> settles{false};
inline bool must_settle() noexcept {
  return settles.load(std::memory_order_relaxed);
}

/// Waits. A call that has no communicator waits for every named stream, one without buffers for the
/// devices whose memory was seen.
void settle(MPI_Comm comm, std::initializer_list<const void*> buffers) noexcept;

/// The same for a send, which waits for the named stream by an event if its buffer is of a device:
/// then only what no event can tell is waited for here.
void settle_send(MPI_Comm comm, const void* buffer) noexcept;
/// Passes with what the communicator's stream has been given so far; null if that has been done.
memory::pooled_event work_before(MPI_Comm comm) noexcept;

}  // namespace telpher::stream
