// SPDX-License-Identifier: BSD-3-Clause
// The functions that programs call before they pass device pointers, by the names of both families
// of MPI (mpi-ext.h of Open MPI, mpi_proto.h of MPICH). Also a few functions for tools and tests,
// which are not part of telpher.h. An answer says what this process can do now. Before MPI_Init,
// and where Telpher is not active, it says what the host MPI can do.
#include <dlfcn.h>

#include <cstring>

#include "codec/accounting.hpp"
#include "device/registry.hpp"
#include "host_mpi/objects.hpp"
#include "mpi/entry.hpp"
#include "mpi/request_object.hpp"
#include "path/path.hpp"
#include "telpher/telpher.h"
#include "ticket/progress.hpp"
#include "ticket/ticket.hpp"

using namespace telpher;

namespace {

// While Telpher is not active the host MPI gets device pointers as they are, so it is asked, if it
// has such a function.
int supports(device::vendor v, const char* name) noexcept {
  if (entry::active()) return device::find(v) != nullptr;
  auto* const ask = host_mpi::find_function<int()>(name);
  return ask ? ask() : 0;
}

// MPICH's MPIX_GPU_SUPPORT_CUDA, _ZE, _HIP.
device::vendor vendor_of(int mpich_type) noexcept {
  switch (mpich_type) {
    case 0:
      return device::vendor::cuda;
    case 1:
      return device::vendor::sycl;
    case 2:
      return device::vendor::hip;
    default:
      return device::vendor::none;
  }
}

// Telpher's own function of that name, wherever others of the name are.
void* own_symbol(const char* name) noexcept {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&own_symbol), &here) == 0) return nullptr;
  void* const handle = ::dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* const found = handle ? ::dlsym(handle, name) : nullptr;
  if (handle) ::dlclose(handle);
  return host_mpi::is_ours(found) ? found : nullptr;
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

int MPIX_Query_cuda_support(void) {
  return supports(device::vendor::cuda, "MPIX_Query_cuda_support");
}
int MPIX_Query_rocm_support(void) {
  return supports(device::vendor::hip, "MPIX_Query_rocm_support");
}
int MPIX_Query_hip_support(void) {
  return supports(device::vendor::hip, "MPIX_Query_hip_support");
}
int MPIX_Query_ze_support(void) {
  return supports(device::vendor::sycl, "MPIX_Query_ze_support");
}

int MPIX_GPU_query_support(int type, int* is_supported) {
  if (!entry::active())
    if (auto* const ask = host_mpi::find_function<int(int, int*)>("MPIX_GPU_query_support"))
      return ask(type, is_supported);
  const device::vendor v = vendor_of(type);
  *is_supported = v != device::vendor::none && entry::active() && device::find(v) != nullptr;
  return v == device::vendor::none ? MPI_ERR_ARG : MPI_SUCCESS;
}

void* telpher_symbol(const char* name) {
  if (!name) return nullptr;
  void* const own = own_symbol(name);
  return own ? own : host_mpi::find_global(name);
}

/// The path that moved this process's last device message, e.g. "ipc_get"; "-" before the first.
const char* telpher_last_path(void) {
  return path::last() == path::kind::none ? "-" : to_string(path::last());
}

/// No value was changed by more than this by lossy compression, as far as this process knows: what
/// MPI_Finalize reports.
double telpher_compression_error(void) {
  return codec::totals_of(codec::method::zfp).error;
}

/// Sends, receives and requests of ours that are not finished: 0 when the program has completed
/// all.
long telpher_outstanding(void) {
  if (!entry::active()) return 0;
  auto held = ticket::progress().lock();
  ticket::progress().poll();
  mpi::sweep();
  const ticket::tally t = ticket::progress().outstanding();
  return static_cast<long>(t.sends + t.posted + t.arriving + mpi::entered_requests() +
                           mpi::abandoned());
}

/// For tests: a well-formed ticket of 480 or 48 bytes that names nothing; what they do with it is
/// forgery.
int telpher_test_ticket(void* out, int size) {
  if (!entry::active()) return -1;
  const host_mpi::job& job = ticket::job();
  ticket::ticket t{};
  t.bytes = 4096;
  t.sender = job.rank;
  t.slot = 0;
  t.epoch = path::epoch_mask;
  t.reply_tag = -1;
  ticket::seal(t, job.nonce, static_cast<std::size_t>(size));
  std::memcpy(out, &t, static_cast<std::size_t>(size));
  return 0;
}

#pragma GCC visibility pop

}  // extern "C"
