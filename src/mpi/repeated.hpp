// SPDX-License-Identifier: BSD-3-Clause
// Enqueued collectives that come again. The first enqueued call of a kind on a communicator is
// served by the proxy like any other; behind it the ranks agree on a replay of that kind
// (coll/exchange/replay.hpp) which starts on any buffers. If they agree, calls of that kind are one
// kernel in the program's stream each, from the `ahead`-th call after the first on (repeated.cpp).
// Neither the proxy nor the host MPI takes part in these. If they do not agree, the proxy serves
// all calls.
//
// The ranks must not act by when each of them learns of the agreement, or by what one of them alone
// knows. So:
// - A kind is what MPI makes alike at all ranks: operation, bytes, root, reduction; and whether the
//   call is in place, where MPI demands that of all ranks or none. In scans and reduce-scatters
//   each rank decides that for itself. There the replay has the form, in place or not, of the first
//   call, if all ranks made that call in the same form; else there is none. In reductions to a root
//   the root decides, and the replay has the form of its first call. Gathers and scatters always
//   have the form that is not in place (arguments::take_own_block_apart).
// - Ranks count the calls of a kind alike, as they make the collectives of a communicator in one
//   order. A call that comes `ahead` calls after the first waits until the agreement is over, which
//   is when the streams of all ranks have reached the first call. Programs that run far ahead wait
//   anyhow (TELPHER_STREAM_AHEAD).
// - A call in a capture cannot wait for one in the same graph. So the first call is one outside of
//   captures. Captured calls before it are served by the proxy. Captured calls after it wait for
//   the agreement whatever their number, and use the replay.
// - Where a type has gaps, kernels pack before the replay and unpack behind it, in the same stream.
// - A call that kernels in its stream cannot serve at this rank takes part none the less: the proxy
//   starts the replay in a stream of ours (`aside`). This serves, on packed copies that the proxy
//   waits for, host memory, another device, values not aligned, and the other form. It also serves
//   a call in another stream than the call before, unless all calls before are over: the replays of
//   a kind must follow one another.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "coll/exchange/arguments_of.hpp"
#include "coll/exchange/packed_copies.hpp"
#include "device/adopted_stream.hpp"
#include "mpi/enqueued.hpp"

namespace telpher::mpi {

/// What calls of one kind have in common.
struct repeated_kind {
  coll::operation what{};
  std::uint64_t bytes = 0;  // of the longest vector
  int root = 0;
  bool in_place = false;  // at all ranks
  coll::reduction reduce;

  repeated_kind(const coll::exchange::arguments& a, std::uint64_t longest) noexcept;
  bool operator==(const repeated_kind&) const = default;
};

/// The calls of one kind on one communicator. The program's thread counts (one at a time makes the
/// collectives of a communicator), and sets `now` to `asked` with the first call; to `refused`, if
/// that cannot be enqueued. The proxy begins the agreement, and at its end writes `replay`, then
/// `now` (ready or refused) with release order. The agreement begins just before the first call is
/// issued, so that its operations of the host MPI have the same place among the communicator's
/// collectives at all ranks. It ends behind that call.
class repeated {
 public:
  enum class state : std::uint8_t { unasked, asked, refused, ready };

  explicit repeated(const repeated_kind& k) noexcept : kind(k) {}

  const repeated_kind kind;
  std::atomic<state> now{state::unasked};
  std::unique_ptr<coll::exchange::kernel_replay> replay;
  std::unique_ptr<coll::exchange::matching> agreement;  // the proxy's

  // The program's thread's.
  std::uint64_t since_first = 0;  // calls
  bool in_place = false;          // of the first call
  // Of the replay's device, where it was started last outside of graphs, or will be.
  std::optional<void*> last_stream;
  std::uint32_t turns = 0;  // starts of the replay outside of graphs, those to come included
  // Of starts with gaps: until they are over, or for good in graphs. Those that follow one another
  // in a stream share their memory, and so do graphs.
  std::vector<std::unique_ptr<coll::exchange::packed_copies>> packed;
  std::shared_ptr<coll::exchange::packed_copies::buffers> packed_memory;

  std::atomic<std::uint32_t> lost{0};  // of `turns`, those that failed

  /// Whether the first `n` starts are over.
  bool are_over(std::uint32_t n) const noexcept {
    const std::uint32_t over = replay->ended() + lost.load(std::memory_order_acquire);
    return static_cast<std::int32_t>(over - n) >= 0;
  }

  state see() const noexcept { return now.load(std::memory_order_acquire); }
  void become(state s) noexcept { now.store(s, std::memory_order_release); }
};

/// How one call is served.
struct repeated_turn {
  enum class way : std::uint8_t { proxy, proxy_asks, replay, fails };
  way by = way::proxy;
  std::shared_ptr<repeated> of;
};

/// Whether calls on the communicator may be served so; its size, and the own rank.
bool may_repeat(MPI_Comm comm, int& size, int& rank) noexcept;
/// A call in a stream.
struct repeated_call {
  const char* name;
  MPI_Comm comm;
  void* native;
  coll::exchange::arguments a;
};

/// How the next call of its kind goes. It waits for the agreement where that is due.
repeated_turn next_turn(const repeated_call& c, const repeated_kind& kind,
                        device::adopted_stream& s) noexcept;
/// Starts the replay in the stream. False: make_aside() has to, with arguments of
/// takes::host_memory.
bool start_replay(repeated_call& c, repeated& of, device::adopted_stream& s, int& code) noexcept;
std::unique_ptr<stream::operation> make_aside(repeated_call&& c, std::shared_ptr<repeated> of,
                                              device::adopted_stream& s);
/// Begins the agreement; in the proxy, just before the first call is issued.
void ask(repeated_call&& c, repeated& of) noexcept;
/// The operation that moves the agreement to its end, enqueued behind the first call.
std::unique_ptr<stream::operation> make_asking(std::shared_ptr<repeated> of);
void give_up(repeated& of) noexcept;
/// Collective, before the communicator is freed: waits for the agreements that are under way.
void settle_repeated(MPI_Comm comm) noexcept;
/// Collective, when the communicator's streams have passed: peers still reach what was made for it.
void forget_repeated(MPI_Comm freed) noexcept;
/// Before the host MPI's end.
void forget_repeated() noexcept;

/// The first call of a kind.
template <class Start>
class enqueued_first final : public stream::operation {
 public:
  enqueued_first(repeated_call&& c, std::shared_ptr<repeated> of, Start start) noexcept
      : call_(std::move(c)), of_(std::move(of)), served_(std::move(start), MPI_STATUS_IGNORE) {}
  int begin() noexcept override {
    ask(std::move(call_), *of_);
    return served_.begin();
  }
  bool poll(int& code) noexcept override { return served_.poll(code); }

 private:
  repeated_call call_;
  std::shared_ptr<repeated> of_;
  enqueued<Start> served_;
};

/// Enqueues a collective; `start` issues its non-blocking form. `longest`: the bytes of the longest
/// vector of any rank, by the number of ranks and the own rank; the same at all.
template <class Described, class Longest, class Start>
int enqueue_collective(const char* call, MPI_Comm comm, void* native, const Described& what,
                       const Longest& longest, Start start) noexcept {
  int size = 0, rank = 0;
  if (!may_repeat(comm, size, rank))
    return enqueue(call, comm, native, MPI_STATUS_IGNORE, std::move(start));
  device::adopted_stream s(native);
  using coll::exchange::takes;
  repeated_call c{call, comm, native, what.read(size, rank, takes::both)};
  repeated_turn turn = next_turn(c, {c.a, longest(size, rank)}, s);
  int code = MPI_ERR_OTHER;  // has been raised
  switch (turn.by) {
    case repeated_turn::way::proxy:
      return enqueue(call, comm, native, MPI_STATUS_IGNORE, std::move(start));
    case repeated_turn::way::proxy_asks:
      code = enqueue(
          call, comm, native,
          std::make_unique<enqueued_first<Start>>(std::move(c), turn.of, std::move(start)), true);
      if (code != MPI_SUCCESS)
        turn.of->become(repeated::state::unasked);  // the next call is the first
      else if (code = enqueue(call, comm, native, make_asking(turn.of), false); code != MPI_SUCCESS)
        give_up(*turn.of);
      break;
    case repeated_turn::way::replay:
      if (start_replay(c, *turn.of, s, code)) break;
      c.a = what.read(size, rank, takes::host_memory);
      code = enqueue(call, comm, native, make_aside(std::move(c), turn.of, s), true);
      break;
    case repeated_turn::way::fails:
      break;
  }
  return code;
}

template <class Described, class Start>
int enqueue_collective(const char* call, MPI_Comm comm, void* native, const Described& what,
                       Start start) noexcept {
  const auto longest = [&](int ranks, int) { return what.bytes(ranks); };
  return enqueue_collective(call, comm, native, what, longest, std::move(start));
}

}  // namespace telpher::mpi
