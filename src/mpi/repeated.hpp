// SPDX-License-Identifier: BSD-3-Clause
// Enqueued collectives that come again. The first enqueued call of a kind on a communicator is
// served by the proxy like any other; behind it the ranks agree on a replay of that kind
// (coll/replay.hpp) which starts on any buffers. From the `ahead`-th call after it on, calls of
// that kind are one kernel in the program's stream each, and neither the proxy nor the host MPI
// takes part.
//
// What the ranks do must not depend on when each of them learns of the agreement, or on what it
// alone knows. So:
// - A kind is what MPI makes alike at all ranks: operation, bytes, root, reduction, in place.
// - Ranks count the calls of a kind alike, as they make the collectives of a communicator in one
//   order. A call that comes `ahead` calls after the first waits until the agreement is over: all
//   ranks' streams have reached it then. Programs that run far ahead wait anyhow
//   (TELPHER_STREAM_AHEAD).
// - A call in a capture cannot wait for one in the same graph. So the first call is one outside of
//   captures; captured ones before it are served by the proxy, all later ones by the replay.
// - A rank whose buffers a kernel cannot use (host memory, gaps in a type, another device, values
//   not aligned) takes part none the less: the proxy packs them into memory of the replay's device,
//   starts the replay there, and unpacks (`aside`).
#pragma once

#include <memory>
#include <utility>

#include "coll/exchange/arguments_of.hpp"
#include "device/adopted_stream.hpp"
#include "mpi/enqueued.hpp"

namespace telpher::mpi {

class repeated;

/// What is served alike.
struct repeated_kind {
  coll::operation what{};
  std::uint64_t bytes = 0;  // of the longest vector
  int root = 0;
  bool in_place = false;
  coll::reduction reduce;

  bool operator==(const repeated_kind&) const = default;
};

/// How one call is served.
struct repeated_turn {
  enum class way : std::uint8_t { proxy, proxy_asks, replay, fails };
  way by = way::proxy;
  std::shared_ptr<repeated> of;
};

/// Whether calls on the communicator may be served so; its size, and the own rank.
bool may_repeat(MPI_Comm comm, int& size, int& rank) noexcept;
/// The next call of a kind. It waits for the agreement where that is due.
repeated_turn next_turn(const char* call, MPI_Comm comm, const repeated_kind& kind,
                        const device::adopted_stream& s) noexcept;
/// Starts the replay in the stream on these buffers. False: this rank's are not for kernels there.
bool start_replay(const char* call, MPI_Comm comm, repeated& of, const coll::exchange::arguments& a,
                  const device::adopted_stream& s, int& code) noexcept;
/// What the proxy does then.
std::unique_ptr<stream::operation> make_aside(const char* call, MPI_Comm comm,
                                              std::shared_ptr<repeated> of,
                                              coll::exchange::arguments&& a);
/// The agreement, behind the first call.
std::unique_ptr<stream::operation> make_asking(const char* call, MPI_Comm comm,
                                               std::shared_ptr<repeated> of,
                                               coll::exchange::arguments&& a);
void give_up(repeated& of) noexcept;
/// Collective, when the communicator's streams have passed: peers still reach what was made for it.
void forget_repeated(MPI_Comm freed) noexcept;
/// Before the host MPI's end.
void forget_repeated() noexcept;

/// Enqueues a collective; `start` issues its non-blocking form.
template <class Described, class Start>
int enqueue_collective(const char* call, MPI_Comm comm, void* native, const Described& what,
                       Start start) noexcept {
  int size = 0, rank = 0;
  if (!may_repeat(comm, size, rank))
    return enqueue(call, comm, native, MPI_STATUS_IGNORE, std::move(start));
  const device::adopted_stream s(native);
  auto a = what.read(size, rank, true);
  repeated_turn turn =
      next_turn(call, comm, {a.what, what.bytes(size), a.root, a.in_place, a.reduce}, s);
  int code = MPI_ERR_OTHER;  // has been raised
  switch (turn.by) {
    case repeated_turn::way::proxy:
      return enqueue(call, comm, native, MPI_STATUS_IGNORE, std::move(start));
    case repeated_turn::way::proxy_asks:
      code = enqueue(call, comm, native, MPI_STATUS_IGNORE, std::move(start));
      if (code == MPI_SUCCESS)
        code = enqueue(call, comm, native, make_asking(call, comm, turn.of, std::move(a)), false);
      if (code != MPI_SUCCESS) give_up(*turn.of);
      break;
    case repeated_turn::way::replay:
      if (!start_replay(call, comm, *turn.of, a, s, code))
        code = enqueue(call, comm, native, make_aside(call, comm, turn.of, std::move(a)), true);
      break;
    case repeated_turn::way::fails:
      break;
  }
  return code;
}

}  // namespace telpher::mpi
