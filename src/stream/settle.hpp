// SPDX-License-Identifier: BSD-3-Clause
// When the program calls MPI, its own kernels and copies may still use the device memory that the
// call reads or overwrites. These functions wait for such work first ("settle"). TELPHER_SYNC says
// for which work. Programs that synchronise by themselves, as MPI demands, do not need this. With
// off, or auto while no stream is named, a call pays one load; else they pay as well.
// The program may name a stream for a communicator. It is kept as an attribute of the communicator,
// which MPI_Comm_dup and similar calls copy.
#pragma once

#include <initializer_list>
#include <optional>

#include "base/short_way.hpp"
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
inline bool must_settle() noexcept {
  return short_way::any(short_way::settling);
}

/// Waits for the program's work, if `buffers` are memory that a device uses (pinned and managed
/// memory too). Without buffers, the devices count whose memory was seen in earlier calls. It waits
/// for the stream that `comm` names; with MPI_COMM_NULL, for every named stream. With
/// TELPHER_SYNC=stream it also waits for the devices' default streams, with TELPHER_SYNC=device for
/// all work of the devices instead. The proxy's thread never waits here.
void settle(MPI_Comm comm, std::initializer_list<const void*> buffers) noexcept;

/// The same for a send. If its buffer is in device memory, the send waits for the communicator's
/// stream later by an event (work_before). Then only what has no such event is waited for here: the
/// default stream (TELPHER_SYNC=stream) or all work of the device (TELPHER_SYNC=device).
void settle_send(MPI_Comm comm, const void* buffer) noexcept;

/// The program's communicator and buffer that the start of a request, or MPI_Pready, uses.
struct used {
  MPI_Comm comm = MPI_COMM_NULL;  // null: not known
  const void* buffer = nullptr;   // null: none or several, or not known
  enum class how { nothing, sends, otherwise } as = how::otherwise;
};
void settle(const used& u) noexcept;

/// The work that the program has given to a communicator's stream so far. A send of ours must come
/// after that work.
class work_before {
 public:
  explicit work_before(MPI_Comm comm) noexcept {
    if (must_settle()) look(comm);
  }

  /// Passes when that work is done. Null if there is none, or if it is done already.
  memory::pooled_event event;
  /// Puts work of ours on memory of `where` into the program's stream, by `give(stream)`, so that
  /// no thread has to wait for the work before it. Then `event` passes after our work. A stream of
  /// ours cannot be made to wait instead, because that would hold up other messages in it.
  /// not_supported: there is no earlier work, or the stream is of another device or of SYCL.
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
