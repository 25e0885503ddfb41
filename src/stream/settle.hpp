// SPDX-License-Identifier: BSD-3-Clause
// Before a call of the program's reads or overwrites device memory: waits for work of the program's
// own that may still use it. TELPHER_SYNC says for which. Programs that synchronise themselves, as
// MPI asks of them, need none of it and pay one load a call.
// A communicator's stream is an attribute of it, which MPI_Comm_dup and its kin copy.
#pragma once

#include <atomic>
#include <initializer_list>
#include <optional>

#include "device/adopted_stream.hpp"
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

/// What a request's start, or MPI_Pready, uses of the program's.
struct used {
  MPI_Comm comm = MPI_COMM_NULL;  // null: it is not known
  const void* buffer = nullptr;   // null: not one, or not known
  enum class how { nothing, sends, otherwise } as = how::otherwise;
};
void settle(const used& u) noexcept;

/// What a communicator's stream has been given so far, which a send of ours comes after.
class work_before {
 public:
  explicit work_before(MPI_Comm comm) noexcept {
    if (must_settle()) look(comm);
  }

  /// Passes with it; null if all of it is done.
  memory::pooled_event event;
  /// Gives the stream work of ours on memory of `where`, `give(stream)`, so that nobody waits for
  /// what is before it; the event passes behind it then. A stream of ours must not wait for the
  /// program's: other messages stand in it. not_supported: nothing is before, or it is no stream of
  /// that device that work can be given to.
  template <class Give>
  status append(const memory::place& where, const Give& give) noexcept {
    if (!event || !serves(where)) return status::not_supported;
    status s = give(*stream_->get());
    if (s == status::ok) s = event.record(*stream_->get());
    if (failed(s))
      static_cast<void>(where.owner->synchronise(*stream_->get()));  // for a part of it
    return s;
  }

 private:
  void look(MPI_Comm comm) noexcept;
  bool serves(const memory::place& where) const noexcept;

  std::optional<device::adopted_stream> stream_;
};

}  // namespace telpher::stream
