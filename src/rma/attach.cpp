// SPDX-License-Identifier: BSD-3-Clause
// Dynamic windows, and the memory that ranks attach to them.
#include <new>

#include "host_mpi/error.hpp"
#include "rma/making.hpp"

namespace telpher::rma {
namespace {

// For ranks of one node.
bool attach_to_words(const words& shared, int rank, const exposed& own) noexcept {
  attachment* const all = shared.attachments(rank);
  for (std::size_t i = 0; i < words::most_attached; ++i) {
    std::uint32_t expected = attachment::free;
    if (!all[i].attached.compare_exchange_strong(expected, attachment::claimed)) continue;
    all[i].memory = own.memory;
    all[i].bytes = static_cast<std::uint64_t>(own.bytes);
    all[i].attached.store(attachment::valid, std::memory_order_release);
    return true;
  }
  return false;
}

bool detach_from_words(const words& shared, int rank, const void* base) noexcept {
  attachment* const all = shared.attachments(rank);
  for (std::size_t i = 0; i < words::most_attached; ++i)
    if (all[i].attached.load(std::memory_order_acquire) == attachment::valid &&
        all[i].memory.address == reinterpret_cast<std::uintptr_t>(base)) {
      all[i].attached.store(attachment::free, std::memory_order_release);
      return true;
    }
  return false;
}

/// Collective. MPI's code.
int make_attached_images(MPI_Comm comm, window& w) noexcept {
  w.by = window::way::image;
  w.attached.reset(new (std::nothrow) attached_images);
  return w.attached ? w.attached->open(comm) : MPI_ERR_NO_MEM;
}

}  // namespace

// Nobody knows yet which memory will be attached, so it is prepared for in any case.
int create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win, const host_call& host) noexcept {
  constexpr const char* call = "MPI_Win_create_dynamic";
  if (!ours(comm)) return call_host(host);
  std::unique_ptr<window> w(new (std::nothrow) window);
  if (!w) return host_mpi::fail(comm, call, status::out_of_memory, nullptr);
  w->flavour = MPI_WIN_FLAVOR_DYNAMIC;
  w->said.no_locks = says(info, "no_locks");
  if (const int code = learn(comm, exposed{}, *w); code != MPI_SUCCESS) return code;
  if (!make_direct(comm, *w))
    if (const int code = make_attached_images(comm, *w); code != MPI_SUCCESS)
      return host_mpi::fail_with(comm, call, code,
                                 "the host MPI made no window for what ranks tell each other of "
                                 "the memory that they attach");
  if (const int code = call_host(host); code != MPI_SUCCESS) return code;
  return keep_as(*win, call, comm, std::move(w));
}

int attach(MPI_Win win, void* base, MPI_Aint bytes, const host_call& host) noexcept {
  constexpr const char* call = "MPI_Win_attach";
  const exposed own = describe(base, bytes, 1);
  if (!own.on_device) return host();
  const auto owner = host_mpi::error_owner::window(win);
  const auto refuse = [&](int error_class, const char* why) {
    return host_mpi::fail_with(owner, call, error_class, why);
  };
  window* const w = find(win);
  if (!w || !w->dynamic())
    return refuse(
        MPI_ERR_RMA_ATTACH,
        "device memory needs a dynamic window whose ranks are all in the job, because "
        "origins name it by its address: use MPI_Win_create or MPI_Win_allocate, or a "
        "communicator of ranks that carry Telpher; programs with sessions make one of all "
        "processes first");
  if (own.failed) return refuse(MPI_ERR_RMA_ATTACH, "the range does not lie in one allocation");
  status s = status::ok;
  int raised = MPI_SUCCESS;
  if (w->attached)
    s = w->attached->attach(win, memory::classify(base), static_cast<std::byte*>(base),
                            static_cast<std::size_t>(bytes), raised);
  else if (!own.memory.exportable && w->size() > 1)
    return refuse(MPI_ERR_UNSUPPORTED_OPERATION,
                  "device memory that ranks of the window cannot open (a stream-ordered pool): use "
                  "MPI_Win_create");
  else if (!attach_to_words(w->shared, w->rank, own))
    s = status::not_supported;
  if (s == status::ok) return raised;
  return s == status::not_supported
             ? refuse(MPI_ERR_RMA_ATTACH, "at most 256 ranges of device memory can be attached")
             : host_mpi::fail(owner, call, s, "the range's image in host memory");
}

int detach(MPI_Win win, const void* base, const host_call& host) noexcept {
  window* const w = find(win);
  if (!w || !w->dynamic()) return host();
  if (!w->attached) return detach_from_words(w->shared, w->rank, base) ? MPI_SUCCESS : host();
  int raised = MPI_SUCCESS;
  const status s = w->attached->detach(win, base, raised);
  if (s == status::not_supported) return host();
  return s == status::ok ? raised
                         : host_mpi::fail(host_mpi::error_owner::window(win), "MPI_Win_detach", s,
                                          "the range's image in host memory");
}

}  // namespace telpher::rma
