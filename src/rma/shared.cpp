// SPDX-License-Identifier: BSD-3-Clause
// MPI_Win_allocate_shared on device memory (MPI 5.0, 12.2.3). Each rank gets addresses of all parts
// that the kernels of its device may use. As the standard has it, the parts follow one another in
// memory: rank 0 allocates them as one on its device, and the others map it. With the info key
// alloc_shared_noncontig each rank allocates its part on its own device.
#include <cstdio>
#include <new>

#include "api/api.hpp"
#include "device/registry.hpp"
#include "host_mpi/error.hpp"
#include "rma/making.hpp"

namespace telpher::rma {
namespace {

/// Of all ranks; they ask alike.
int refuse(const creation& c, int error_class, const char* why, int rank = -1) noexcept {
  char text[240];
  std::snprintf(text, sizeof text, why, rank);
  return host_mpi::fail_with(c.comm, c.call, error_class, text);
}

int refuse_mapping(const creation& c, const obstacle& o) noexcept {
  switch (o.what) {
    case obstacle::why::other_node:
      return refuse(c, MPI_ERR_RMA_SHARED,
                    "ranks on several nodes share no memory: make the communicator by "
                    "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED");
    case obstacle::why::not_exported:
      return refuse(c, MPI_ERR_RMA_SHARED,
                    "the device memory of rank %d cannot be mapped by its peers: leave "
                    "TELPHER_IPC on ('telpher doctor' says more)",
                    o.rank);
    default:
      return refuse(c, MPI_ERR_RMA_SHARED,
                    "a rank's device cannot map the memory of a peer's: the devices need peer "
                    "access and one vendor ('telpher doctor' says more), or ask MPI_Win_allocate");
  }
}

/// Rank 0's memory holds all parts, one behind the other.
void lay_out(window& w) noexcept {
  const path::exported_memory all = w.ranks.front().memory;
  std::uint64_t at = all.address;
  for (exposed& e : w.ranks) {
    e.memory = all;
    e.memory.address = at;
    at += static_cast<std::uint64_t>(e.bytes);
  }
}

/// Collective: every rank's part is allocated and described. `sizes` are what the ranks asked for.
int allocate_parts(const creation& c, const std::vector<exposed>& sizes, window& w) noexcept {
  MPI_Aint own = w.contiguous ? 0 : c.bytes;
  if (w.contiguous && w.rank == 0)
    for (const exposed& e : sizes) own += e.bytes;
  const bool failed_here = own > 0 && telpher_malloc(&w.own_device, static_cast<std::size_t>(own),
                                                     TELPHER_MEMORY_DEVICE) != TELPHER_SUCCESS;
  exposed part = describe(w.own_device, w.own_device ? own : 0, c.unit);
  part.failed |= failed_here;
  if (const int code = learn(c.comm, part, w); code != MPI_SUCCESS) return code;
  if (any(w, [](const exposed& e) { return e.failed != 0; })) return refuse_part(c, part.failed);
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    w.ranks[r].bytes = sizes[r].bytes;
    w.ranks[r].unit = sizes[r].unit;
    w.ranks[r].on_device = sizes[r].bytes > 0;
  }
  if (w.contiguous) lay_out(w);
  return MPI_SUCCESS;
}

int establish(const creation& c, std::unique_ptr<window> w) {
  const std::vector<exposed> sizes = w->ranks;
  int code = allocate_parts(c, sizes, *w);
  if (code == MPI_SUCCESS && !make_direct(c.comm, *w)) code = refuse_mapping(c, w->not_direct);
  if (code != MPI_SUCCESS) return give_back(*w), code;
  void* const base = w->base = w->targets[static_cast<std::size_t>(w->rank)].at.data;
  w->bytes = c.bytes, w->unit = static_cast<int>(c.unit);
  code = complete_window(c, std::move(w));
  if (code == MPI_SUCCESS) *static_cast<void**>(c.base) = base;
  return code;
}

}  // namespace

int allocate_shared(const creation& c, bool on_device, const host_call& host) noexcept {
  if (!ours(c.comm)) return refuse_shared_alone(c, on_device, host);
  try {
    auto w = std::make_unique<window>();
    exposed own{};
    own.bytes = c.bytes, own.unit = c.unit, own.on_device = on_device;
    own.apart = says(c.info, "alloc_shared_noncontig");
    if (const int code = learn(c.comm, own, *w); code != MPI_SUCCESS) return code;
    if (!any(*w, [](const exposed& e) { return e.on_device != 0; })) return call_host(host);
    for (int r = 0; r < w->size(); ++r)
      if (!w->ranks[static_cast<std::size_t>(r)].on_device)
        return refuse(c, MPI_ERR_UNSUPPORTED_OPERATION,
                      "rank %d has none of the kinds of device memory that others have asked for: "
                      "leave it out of the communicator",
                      r);
    w->flavour = MPI_WIN_FLAVOR_SHARED;
    w->contiguous = !w->ranks.front().apart;
    int device = 0;
    telpher_get_device(&device);
    w->kernels_on = {device::active_backend(), device};
    return establish(c, std::move(w));
  } catch (const std::bad_alloc&) {
    return host_mpi::fail(c.comm, c.call, status::out_of_memory, nullptr);
  }
}

int shared_part::query(MPI_Win win, int rank, const host_call& host) noexcept {
  const window* const w = find(win);
  if (!w || w->flavour != MPI_WIN_FLAVOR_SHARED) return host();
  if (rank != MPI_PROC_NULL && !w->valid(rank))
    return host_mpi::fail_with(host_mpi::error_owner::window(win), "MPI_Win_shared_query",
                               MPI_ERR_RANK, "not a rank of the window");
  std::size_t at = rank == MPI_PROC_NULL ? 0 : static_cast<std::size_t>(rank);
  // The first part that has any bytes.
  while (rank == MPI_PROC_NULL && at + 1 < w->ranks.size() && w->ranks[at].bytes == 0) ++at;
  bytes = w->ranks[at].bytes;
  unit = w->ranks[at].unit;
  base = w->targets[at].at.data;
  return found = true, MPI_SUCCESS;
}

}  // namespace telpher::rma
