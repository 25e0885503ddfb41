// SPDX-License-Identifier: BSD-3-Clause
// telpher/window.h: a window for the program's own kernels. The mappings that operations use are
// open for whichever device copies best; these are open for the device that the kernels run on.
// Ranks of other nodes are reached by relays. What all ranks know of the window decides alike at
// each of them. Then each rank opens and fills its record, and a vote makes the outcome the same:
// in the shared words of a direct window, else on the communicator that the relays use.
#include <cstdio>
#include <cstring>
#include <new>

#include "base/log.hpp"
#include "device/registry.hpp"
#include "host_mpi/error.hpp"
#include "path/exported.hpp"
#include "rma/rma.hpp"
#include "rma/window.hpp"
#include "ticket/blocking_call.hpp"
#pragma GCC visibility push(default)
#include "telpher/device.h"
#include "telpher/window.h"
#pragma GCC visibility pop

namespace telpher::rma {
namespace {

constexpr const char* call = "telpher_win_device";

/// What is said of a refusal: which rank, why, and what to do.
struct reason {
  char text[240] = "";
  explicit operator bool() const noexcept { return text[0] != '\0'; }
  template <class... A>
  static reason of(const char* format, A... arguments) noexcept {
    reason r;
    if constexpr (sizeof...(A) == 0)
      std::snprintf(r.text, sizeof r.text, "%s", format);
    else
      std::snprintf(r.text, sizeof r.text, format, arguments...);
    return r;
  }
};

int refuse(MPI_Win win, int error_class, const reason& why) noexcept {
  return host_mpi::fail_with(host_mpi::error_owner::window(win), call, error_class, why.text);
}

reason no_place() noexcept {
  return reason::of("no place for the handle was given");
}

// --- what all ranks know ---

reason why_not_direct(const obstacle& o) noexcept {
  switch (o.what) {
    case obstacle::why::other_node:
      return reason::of(
          "ranks of the window are on several nodes, to which a thread of Telpher's calls MPI, and "
          "MPI runs below MPI_THREAD_MULTIPLE: ask for that level in MPI_Init_thread, or set "
          "TELPHER_STREAMS=on");
    case obstacle::why::not_exported:
      return reason::of(
          "the memory of rank %d cannot be mapped by its peers: allocate it by the device's "
          "ordinary allocator (no stream-ordered pool) or by MPI_Win_allocate, and leave "
          "TELPHER_IPC on",
          o.rank);
    case obstacle::why::outside_job:
      return reason::of(
          "the window's communicator has ranks outside the job: make it of ranks that carry "
          "Telpher; programs with sessions make a communicator of all processes first");
    default:
      return reason::of(
          "%s could not map the memory of its peers: each rank must see its peers' devices "
          "('telpher doctor' says more)",
          o.rank < 0 ? "another rank" : "this rank");
  }
}

reason not_for_kernels(const window* w) noexcept {
  if (!w || w->by == window::way::host)
    return reason::of(
        "no rank of the window exposes device memory: pass it to MPI_Win_create, or ask "
        "MPI_Win_allocate for it by the info key mpi_memory_alloc_kinds");
  if (w->dynamic())
    return reason::of(
        "memory of dynamic windows may be attached and detached at any time: make the window by "
        "MPI_Win_create or MPI_Win_allocate");
  const bool several_nodes = w->not_direct.what == obstacle::why::other_node;
  if (w->by != window::way::direct && !several_nodes) return why_not_direct(w->not_direct);
  for (int r = 0; r < w->size(); ++r)
    if (const exposed& e = w->ranks[static_cast<std::size_t>(r)]; !e.on_device && e.bytes > 0)
      return reason::of("rank %d exposes host memory: give the window device memory, or no bytes",
                        r);
  return {};
}

// --- this rank's part ---

// The device whose kernels will use the record.
memory::place kernels_run_on(const window& w) noexcept {
  if (w.flavour == MPI_WIN_FLAVOR_SHARED) return w.kernels_on;
  if (w.ranks[static_cast<std::size_t>(w.rank)].on_device) return memory::classify(w.base);
  int device = -1;
  if (telpher_get_device(&device) != TELPHER_SUCCESS) return {};
  return {device::active_backend(), device};
}

// Those of other nodes have none: the relay reaches them.
status open_targets(const window& w, const memory::place& here, kernel_view& v, int& rank) {
  v.targets.resize(w.ranks.size());
  for (rank = 0; rank < w.size(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (!w.ranks[r].on_device) continue;
    const int process = (*w.processes)[r];
    if (w.flavour == MPI_WIN_FLAVOR_SHARED)  // open for these kernels as long as the window is
      v.targets[r].at = w.targets[r].at;
    else if (rank == w.rank)
      v.targets[r].at = {here, static_cast<std::byte*>(w.base)};
    else if (ticket::job().segment(process))
      TELPHER_TRY(reach(w.ranks[r].memory, process, here, v.targets[r]));
    else if (w.ranks[r].memory.address % sizeof(std::uint64_t) != 0)
      return status::invalid_argument;
  }
  return status::ok;
}

status start_relay(const window& w, const memory::place& here, MPI_Comm& comm, kernel_view& v) {
  const bool exposes = w.ranks[static_cast<std::size_t>(w.rank)].on_device != 0;
  auto made = relay::make("a window in kernels", {.comm = comm}, here,
                          exposes ? static_cast<std::byte*>(w.base) : nullptr);
  TELPHER_TRY(made);
  comm = MPI_COMM_NULL;
  v.far = std::move(*made);
  return status::ok;
}

status write_record(const window& w, const memory::place& here, kernel_view& v) {
  const std::size_t bytes =
      sizeof(telpher_device_window) + w.ranks.size() * sizeof(telpher_device_part);
  std::vector<std::byte> image(bytes);
  const telpher_device_window head{w.rank, w.size(), v.far ? v.far->queue() : nullptr};
  std::memcpy(image.data(), &head, sizeof head);
  for (std::size_t r = 0; r < w.ranks.size(); ++r) {
    telpher_device_part part{};
    if (w.ranks[r].on_device) {
      if (std::byte* const near = v.targets[r].at.data)
        part.base = here.owner->kernel_address(near);
      part.bytes = static_cast<std::uint64_t>(w.ranks[r].bytes);
    }
    part.unit = static_cast<std::uint64_t>(w.ranks[r].unit);
    part.last = part.unit == 0 ? 0 : part.bytes / part.unit;
    std::memcpy(image.data() + sizeof head + r * sizeof part, &part, sizeof part);
  }
  auto made = memory::buffer::device(here, bytes);
  TELPHER_TRY(made);
  TELPHER_TRY(memory::copy_and_wait(here, made->data(), image.data(), bytes));
  v.record = std::move(*made);
  v.handle = here.owner->kernel_address(v.record.data());
  return status::ok;
}

// Why this rank cannot make its part; nothing if it has made it. `comm`: for a relay, if one is
// needed.
reason make_part(const window& w, MPI_Comm& comm, kernel_view& v) {
  // Ranks may have asked MPI for different levels.
  if (w.by != window::way::direct && !ticket::progress().threaded())
    return why_not_direct(w.not_direct);
  const memory::place here = kernels_run_on(w);
  if (!here.on_device())
    return reason::of("rank %d exposes no memory and has no device: leave it out of the window",
                      w.rank);
  if (!here.owner->kernels_may_wait(here.device))
    return reason::of(
        "kernels of the back end %s cannot wait for those of other ranks: use "
        "MPI_Put between kernels",
        here.owner->name());
  int rank = 0;
  if (failed(open_targets(w, here, v, rank)))
    return reason::of(
        "rank %d cannot map the memory of rank %d for kernels of its device %d: the "
        "devices need peer access and one vendor ('telpher doctor' says more); memory of other "
        "nodes must begin at an address that 8 divides",
        w.rank, rank, here.device);
  if (comm != MPI_COMM_NULL && failed(start_relay(w, here, comm, v)))
    return reason::of(
        "rank %d has no pinned memory left for the queue to ranks of other nodes, or no stream",
        w.rank);
  if (failed(write_record(w, here, v)))
    return reason::of(
        "rank %d has no device memory left for the record of the window, or cannot write it",
        w.rank);
  return {};
}

// --- the vote ---

/// The last rank that refuses, or -1. Collective. The two words are used in turn: nobody begins
/// the next vote but one before all have read this one.
int refusing_rank_near(window& w, bool refuses) noexcept {
  const std::uint32_t vote = ++w.votes;
  auto& word = w.shared.refused(vote);
  const std::uint64_t mine = std::uint64_t{vote} << 32 | static_cast<std::uint32_t>(w.rank);
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  while (refuses && seen < mine && !word.compare_exchange_weak(seen, mine)) {
  }
  meet(w, call);
  seen = word.load(std::memory_order_acquire);
  return seen >> 32 == vote ? static_cast<int>(seen & 0xffffffffu) : -1;
}

int refusing_rank(window& w, MPI_Comm comm, bool refuses) noexcept {
  if (w.by == window::way::direct) return refusing_rank_near(w, refuses);
  const ticket::blocking_call guard;
  int mine = refuses ? w.rank : -1, who = w.rank;
  pmpi::Allreduce(&mine, &who, 1, MPI_INT, MPI_MAX, comm);
  return who;
}

// Makes a communicator of the window's ranks; collective. Null for a direct window: it needs none.
int communicator_of(window& w, MPI_Comm& comm) noexcept {
  if (w.by == window::way::direct) return MPI_SUCCESS;
  constexpr int tag = 1;
  const ticket::blocking_call guard;
  MPI_Group group = MPI_GROUP_NULL;
  const host_mpi::job& job = ticket::job();
  int code = pmpi::Win_get_group(w.handle, &group);
  if (code != MPI_SUCCESS) return code;
  code = pmpi::Comm_create_group(job.control, group, tag, &comm);
  pmpi::Group_free(&group);
  if (code != MPI_SUCCESS) return code;
  pmpi::Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (!w.processes) w.processes = host_mpi::world_ranks(job, comm);
  return MPI_SUCCESS;
}

// A rank that gives no place for the handle takes part in the vote, so that no other waits for it.
int make(window& w, const void** handle) {
  MPI_Comm comm = MPI_COMM_NULL;
  if (const int code = communicator_of(w, comm); code != MPI_SUCCESS) return code;
  std::unique_ptr<kernel_view> v(new (std::nothrow) kernel_view);
  reason no = reason::of("rank %d has no host memory left", w.rank);
  MPI_Comm left = comm;  // the relay takes it over
  try {
    if (v && w.processes) no = handle ? make_part(w, left, *v) : no_place();
  } catch (const std::bad_alloc&) {
  }
  if (!no && v->far && !relays::add(*v->far))
    no = reason::of("rank %d cannot start a thread for ranks of other nodes", w.rank);
  const int who = refusing_rank(w, comm, static_cast<bool>(no));
  if (who >= 0) {
    if (v && v->far) relays::remove(*v->far);
    if (left != MPI_COMM_NULL) pmpi::Comm_free(&left);
  }
  if (!handle) return refuse(w.handle, MPI_ERR_ARG, no);
  if (who >= 0 && !no)
    no = reason::of("rank %d could not make its part; its own error says why", who);
  if (no) return refuse(w.handle, MPI_ERR_UNSUPPORTED_OPERATION, no);
  *handle = v->handle;
  w.for_kernels = std::move(v);
  return MPI_SUCCESS;
}

int find_or_make(MPI_Win win, const void** handle) {
  window* const w = find(win);
  const auto no = not_for_kernels(w);
  if (!no && !w->for_kernels) return make(*w, handle);
  if (!handle) return refuse(win, MPI_ERR_ARG, no_place());
  if (no) return refuse(win, MPI_ERR_UNSUPPORTED_OPERATION, no);
  *handle = w->for_kernels->handle;
  return MPI_SUCCESS;
}

}  // namespace

void kernel_view::end(const char* call_) noexcept {
  if (!far) return;
  static_cast<void>(far->quiet(call_));
  far->leave(call_);
  relays::remove(*far);
  while (!far->rests() && !far->is_broken()) far->serve();
  far.reset();
}

}  // namespace telpher::rma

extern "C" int telpher_win_device(MPI_Win win, const telpher_device_window** handle) {
  using namespace telpher;
  const void* found = nullptr;
  const int code = win == MPI_WIN_NULL
                       ? host_mpi::fail_with(MPI_COMM_SELF, rma::call, MPI_ERR_WIN, "a null window")
                       : rma::find_or_make(win, handle ? &found : nullptr);
  if (handle) *handle = static_cast<const telpher_device_window*>(found);
  return code;
}
