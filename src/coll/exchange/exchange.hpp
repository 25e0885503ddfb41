// SPDX-License-Identifier: BSD-3-Clause
// Collectives among the devices of a node. Blocking calls come here first, others after
// coll/between. A blocking call returns true, with MPI's code, if it was done, and false, at all
// ranks alike, if it does not run here. A non-blocking call returns null if the wrapper must
// initiate it in the host MPI now. Every rank must call this for every collective that may run
// among devices, whatever its buffers.
#pragma once

#include <initializer_list>

#include "base/short_way.hpp"
#include "coll/exchange/communicator.hpp"
#include "coll/exchange/launch.hpp"
#include "host_mpi/asserted.hpp"
#include "memory/surely_host.hpp"

namespace telpher::coll::exchange {

/// Whether TELPHER_COLL allows such calls.
bool enabled() noexcept;
/// Whether a setting says that calls of an operation go through host memory.
bool is_to_be_staged(operation what) noexcept;

/// True: a blocking call with these buffers and no others is the host MPI's. They are surely in
/// host memory, the communicator is one node's, and this rank has told the others. False: that is
/// not known, and nothing was done.
inline bool left_to_host(MPI_Comm comm, std::initializer_list<const void*> buffers) noexcept {
  if (!short_way::open_to_all_threads() || !enabled()) return false;
  if (!host_mpi::asserts_host(comm))
    for (const void* const b : buffers)
      if (b != MPI_IN_PLACE && !memory::known_host(b)) return false;
  communicator* const c = communicator::ready(comm);
  return c && c->protocol.leave_next_to_host();
}

/// A blocking call on a communicator that may do it (call.cpp).
bool run_blocking(const char* name, communicator& c, arguments&& a, int* code) noexcept;

template <class Described>
bool call_blocking(const char* name, MPI_Comm comm, const Described& d, int* code) noexcept {
  if (!enabled()) return false;
  communicator* c = communicator::ready(comm);
  return c && run_blocking(name, *c, d.read(c->ranks, c->rank), code);
}

/// A non-blocking call; `host` initiates it in the host MPI, at once or later.
template <class Described, class Host>
std::shared_ptr<call> defer(const char* name, MPI_Comm comm, const Described& d,
                            const Host& host) noexcept {
  if (!enabled()) return nullptr;
  communicator* c = communicator::get(comm);
  if (!c) return nullptr;
  arguments a = d.read(c->ranks, c->rank);
  auto held = ticket::progress().lock();
  return c->calls.add(held, name, std::move(a), host);
}

/// The agreement of a channel's ranks on a replay: one call on the channel. For a match on any
/// buffers the channel is released when the replay ends, or by take() if there is none; else with
/// the persistent request (channel_rounds).
class matching {
 public:
  matching(const char* name, communicator& channel, arguments&& a, bool any_buffers) noexcept
      : channel_(channel),
        call_(name, channel, std::move(a), call::form::blocking),
        any_buffers_(any_buffers) {
    call_.prepare_replay(any_buffers);
  }
  /// True once all ranks have come and agreed. Never waits.
  bool advance() noexcept;
  /// Then, once: the replay. Null, at all ranks alike: the collective stays with the host MPI or
  /// the progress engine.
  std::unique_ptr<kernel_replay> take() noexcept;

 private:
  communicator& channel_;
  call call_;
  bool any_buffers_;
  bool begun_ = false;
  bool over_ = false;
};

/// The rounds of a persistent collective are the calls of a channel.
class channel_rounds final : public persistent_rounds {
 public:
  channel_rounds(communicator& channel, arguments&& a) noexcept
      : channel_(channel), arguments_(std::move(a)) {}
  ~channel_rounds() override { channel_.release(); }

  started start(ticket::held_lock& held, const char* name, host_form&& host) noexcept override {
    std::shared_ptr<deferred_call> made =
        channel_.calls.add(held, name, arguments_.looked_up_again(), host);
    return made;
  }
  std::unique_ptr<matching> match(const char* name) noexcept override;

 private:
  communicator& channel_;
  arguments arguments_;
};

/// Collective. Null: the host MPI has all of its rounds.
template <class Described>
std::unique_ptr<persistent_rounds> persistent(MPI_Comm comm, const Described& d) noexcept {
  int size = 0, rank = 0;
  if (!communicator::may_serve(comm, size, rank)) return nullptr;
  arguments a = d.read(size, rank);
  const bool moves_nothing = !a.input && !a.output;
  communicator* const channel =
      communicator::channel(comm, a.possible && (a.where.on_device() || moves_nothing));
  return channel ? std::make_unique<channel_rounds>(*channel, std::move(a)) : nullptr;
}

/// Begins the agreement on a replay that starts on any buffers. Collective, without waiting. Null:
/// there is none, at all ranks alike.
std::unique_ptr<matching> match_any_buffers(const char* name, MPI_Comm comm,
                                            arguments&& a) noexcept;

/// Starts a reduction of runs of bytes on one device, in this order, into `to`, on the context's
/// stream. `to` may be one of the runs if there are at most 32. `launched` must live until it is
/// done.
status start_reduction(launch_context& on, run& launched, const reduction& r, void* to,
                       const std::vector<const void*>& runs, std::uint64_t bytes) noexcept;
/// The bytes at `to` become `from` op `to`; before that they are copied to `old`, if it is not
/// null. All are addresses that one device can use, of values' alignment.
struct update {
  void* to;
  const void* from;
  void* old;
  std::uint64_t bytes;
  /// `old` is in memory of the device that runs the kernel: reading it is faster than reading `to`.
  bool old_is_near = false;
  /// `to` may be another device's memory, which fewer blocks read and write faster over a link.
  bool to_is_far = false;
};
/// Makes the update in one launch, or by a kernel that stays, and returns when it is done. If `r`
/// is not known, `to` becomes `from`. would_block: the process has no kernel free now.
/// not_supported: the back end is without these kernels, or no memory is left for one. In both
/// cases nothing was changed.
status run_update(const memory::place& where, const reduction& r, const update& u) noexcept;
/// One value of 1, 2, 4 or 8 bytes, whose addresses are multiples of that: it is copied to `old`,
/// and if it equals the one at `compare`, `to` becomes `from`. Returns as run_update does. It is
/// not atomic: the caller must keep others from the value.
struct swap {
  update value;
  const void* compare;
};
status run_swap(const memory::place& where, const swap& s) noexcept;

/// MPI_Reduce_local on device memory, by the same kernels. False: stage it.
bool reduce_local(const void* in, void* inout, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  int* code) noexcept;

}  // namespace telpher::coll::exchange
