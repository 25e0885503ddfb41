// SPDX-License-Identifier: BSD-3-Clause
// Windows of device memory on communicators that have ranks outside the job. Those may not carry
// Telpher, so a rank does only what it can do without them: its part of the host MPI's window is an
// image (image.hpp), as between nodes. The call that makes the window is the program's own at every
// rank. So an image for MPI_Win_allocate is memory that the host MPI allocates. A rank without
// device memory, with Telpher or not, has the host MPI's window and no record.
#include <new>

#include "api/api.hpp"
#include "base/log.hpp"
#include "host_mpi/error.hpp"
#include "host_mpi/intracomm.hpp"
#include "rma/making.hpp"

namespace telpher::rma {
namespace {

int fail(const creation& c, status s) noexcept {
  return host_mpi::fail(
      c.comm, c.call, s,
      "the host image of this rank's device memory; other ranks wait in the call");
}

/// Of this rank, whose device memory is at `base`.
std::unique_ptr<window> own_part(const creation& c, int flavour, void* base, status& s) noexcept {
  s = status::out_of_memory;
  try {
    auto w = std::make_unique<window>();
    const host_mpi::place_in place(c.comm);
    w->by = window::way::image;
    w->not_direct.what = obstacle::why::outside_job;
    w->flavour = flavour;
    w->rank = place.rank;
    w->ranks.resize(static_cast<std::size_t>(place.ranks));
    exposed& own = w->ranks[static_cast<std::size_t>(w->rank)];
    own.bytes = c.bytes, own.unit = c.unit, own.on_device = 1;
    w->base = base, w->bytes = c.bytes, w->unit = static_cast<int>(c.unit);
    w->said.no_locks = says(c.info, "no_locks");
    w->mirror = std::make_unique<image>();
    s = w->mirror->start(memory::classify(base), static_cast<std::byte*>(base),
                         static_cast<std::size_t>(c.bytes));
    TELPHER_INFO("%s: device memory is served through a host image: ranks are outside the job",
                 c.call);
    return w;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

int create_alone(const creation& c, const host_call& host) noexcept {
  if (c.comm == MPI_COMM_NULL || c.bytes <= 0 || memory::surely_host(c.base) ||
      !memory::classify(c.base).on_device())
    return call_host(host);  // which says what is wrong, if anything is
  status s = status::ok;
  auto w = own_part(c, MPI_WIN_FLAVOR_CREATE, c.base, s);
  if (failed(s)) return fail(c, s);
  if (pmpi::Alloc_mem(c.bytes, MPI_INFO_NULL, &w->own_host) != MPI_SUCCESS)
    return fail(c, status::out_of_memory);
  w->mirror->lie_over(static_cast<std::byte*>(w->own_host));
  return complete_window(c, std::move(w));
}

int allocate_alone(const creation& c, bool on_device, const host_call& host) noexcept {
  if (c.comm == MPI_COMM_NULL || c.bytes <= 0 || !on_device) return call_host(host);
  void* device = nullptr;
  if (telpher_malloc(&device, static_cast<std::size_t>(c.bytes), TELPHER_MEMORY_DEVICE) !=
      TELPHER_SUCCESS)
    return fail(c, status::out_of_memory);
  status s = status::ok;
  auto w = own_part(c, MPI_WIN_FLAVOR_ALLOCATE, device, s);
  int code = failed(s) ? fail(c, s) : call_host(host);
  if (code != MPI_SUCCESS) {
    telpher_free(device);
    return code;
  }
  void*& base = *static_cast<void**>(c.base);
  w->own_device = device;
  w->mirror->lie_over(static_cast<std::byte*>(base));
  base = device;
  return keep_as(*c.win, c.call, c.comm, std::move(w));
}

int refuse_shared_alone(const creation& c, bool on_device, const host_call& host) noexcept {
  if (!on_device) return call_host(host);
  return host_mpi::fail_with(
      c.comm, c.call, MPI_ERR_RMA_SHARED,
      "device memory is shared among ranks of the job only: use MPI_Win_allocate, or a "
      "communicator of ranks that carry Telpher; programs with sessions make one of all "
      "processes first");
}

}  // namespace telpher::rma
