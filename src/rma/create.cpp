// SPDX-License-Identifier: BSD-3-Clause
// How windows are made and freed. By one collective of the host MPI all ranks learn which of them
// expose device memory. If any does, a second collective carries the name of the shared words. Then
// a vote says whether every rank could open everything.
#include <limits>
#include <new>

#include "api/api.hpp"
#include "base/log.hpp"
#include "host_mpi/error.hpp"
#include "host_mpi/intracomm.hpp"
#include "path/exported.hpp"
#include "rma/making.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::rma {

using ticket::blocking_call;

namespace {

const host_mpi::job& job() noexcept {
  return ticket::job();
}

bool all_agree(MPI_Comm comm, bool own) noexcept {
  const blocking_call guard;
  int mine = own, all = 0;
  return pmpi::Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

}  // namespace

bool ours(MPI_Comm comm) noexcept {
  return host_mpi::is_our_intracomm(job(), comm);
}

int call_host(const host_call& host) noexcept {
  const blocking_call guard;
  return host();
}

// --- what the ranks tell each other ---

exposed describe(const void* base, MPI_Aint bytes, MPI_Aint unit) noexcept {
  exposed e{};
  e.bytes = bytes, e.unit = unit;
  if (bytes <= 0 || memory::surely_host(base)) return e;
  device::pointer_info info;
  const memory::place where = memory::classify(base, info);
  if (!where.on_device()) return e;
  e.on_device = 1;
  const auto size = static_cast<std::size_t>(bytes);
  auto* const data = static_cast<std::byte*>(const_cast<void*>(base));
  if (failed(path::export_region({where, data, size}, info, e.memory)) || !e.memory.holds(size))
    e.failed = 1;
  return e;
}

int learn(MPI_Comm comm, const exposed& own, window& w) noexcept {
  const blocking_call guard;
  int size = 0;
  pmpi::Comm_rank(comm, &w.rank);
  pmpi::Comm_size(comm, &size);
  try {
    w.ranks.resize(static_cast<std::size_t>(size));
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
  return pmpi::Allgather(&own, sizeof own, MPI_BYTE, w.ranks.data(), sizeof own, MPI_BYTE, comm);
}

// --- direct ---

namespace {

// None if all ranks are on this node.
obstacle other_node(MPI_Comm comm) noexcept {
  const auto ranks = host_mpi::world_ranks(job(), comm);
  if (!ranks) return {obstacle::why::other_node, -1};
  for (std::size_t r = 0; r < ranks->size(); ++r)
    if ((*ranks)[r] != job().rank && !job().segment((*ranks)[r]))
      return {obstacle::why::other_node, static_cast<int>(r)};
  return {};
}

obstacle not_exported(const window& w) noexcept {
  for (std::size_t r = 0; r < w.ranks.size() && w.size() > 1; ++r)
    if (w.ranks[r].on_device && !w.ranks[r].memory.exportable)
      return {obstacle::why::not_exported, static_cast<int>(r)};
  return {};
}

// Collective: every rank maps the shared words, or no rank has any.
status share_words(MPI_Comm comm, window& w) {
  shared_memory_name name{};
  if (w.rank == 0) {
    auto made = shared_memory::create(words::bytes(w.size(), w.dynamic()), "telpher-window");
    if (made) {
      name = made->name();
      w.shared = words(std::move(*made), w.size());
    }
  }
  {
    const blocking_call guard;
    if (pmpi::Bcast(&name, sizeof name, MPI_BYTE, 0, comm) != MPI_SUCCESS)
      return status::host_mpi_error;
  }
  if (name.bytes == 0) return status::out_of_memory;
  if (w.rank != 0) {
    auto opened = shared_memory::open(name);
    TELPHER_TRY(opened);
    w.shared = words(std::move(*opened), w.size());
  }
  const auto n = static_cast<std::size_t>(w.size());
  w.targets.resize(n), w.held.resize(n), w.starts.resize(n), w.posts.resize(n);
  w.copies = std::make_shared<under_way>(w.size());
  return status::ok;
}

/// The device of this rank's own part; none if that is host memory.
memory::place own_place(const window& w) noexcept {
  return w.ranks[static_cast<std::size_t>(w.rank)].on_device ? memory::classify(w.base)
                                                             : memory::place{};
}

status reach_all(MPI_Comm comm, window& w) {
  w.processes = host_mpi::world_ranks(job(), comm);
  for (std::size_t r = 0; r < w.ranks.size(); ++r) {
    if (!w.ranks[r].on_device) continue;
    const path::exported_memory& there = w.ranks[r].memory;
    const int owner = w.owner(static_cast<int>(r));
    if (owner == w.rank) {
      auto* const own = reinterpret_cast<std::byte*>(there.address);
      w.targets[r].at = {memory::classify(own), own};
      continue;
    }
    const int process = (*w.processes)[static_cast<std::size_t>(owner)];
    TELPHER_TRY(w.flavour == MPI_WIN_FLAVOR_SHARED
                    ? reach(there, process, w.kernels_on, w.targets[r])
                    : reach_best(there, process, own_place(w), w.targets[r]));
  }
  return status::ok;
}

}  // namespace

// Only the last vote may change what ranks find from what they told each other.
bool make_direct(MPI_Comm comm, window& w) noexcept {
  w.not_direct = other_node(comm);
  if (!all_agree(comm, w.not_direct.what == obstacle::why::none)) {
    w.not_direct.what = obstacle::why::other_node;
    return false;
  }
  w.not_direct = not_exported(w);
  if (w.not_direct.what != obstacle::why::none) return false;
  status s = status::out_of_memory;
  try {
    s = share_words(comm, w);
    if (!failed(s)) s = reach_all(comm, w);
  } catch (const std::bad_alloc&) {
  }
  if (!all_agree(comm, !failed(s))) {
    w.not_direct = {obstacle::why::not_opened, failed(s) ? w.rank : -1};
    w.targets.clear();
    return false;
  }
  w.shared.close_descriptor();
  w.by = window::way::direct;
  w.model = MPI_WIN_UNIFIED;
  w.host_too = w.dynamic() || any(w, [](const exposed& e) { return !e.on_device && e.bytes > 0; });
  return true;
}

// --- image ---

namespace {

status make_image(window& w) noexcept {
  w.by = window::way::image;
  if (!w.ranks[static_cast<std::size_t>(w.rank)].on_device) return status::ok;
  if (pmpi::Alloc_mem(w.bytes, MPI_INFO_NULL, &w.own_host) != MPI_SUCCESS)
    return status::out_of_memory;
  w.mirror.reset(new (std::nothrow) image);
  if (!w.mirror) return status::out_of_memory;
  TELPHER_TRY(w.mirror->start(memory::classify(w.base), static_cast<std::byte*>(w.base),
                              static_cast<std::size_t>(w.bytes)));
  w.mirror->lie_over(static_cast<std::byte*>(w.own_host));
  return status::ok;
}

}  // namespace

// --- making ---

void give_back(window& w) noexcept {
  w.mirror.reset();
  if (w.own_host) pmpi::Free_mem(w.own_host);
  if (w.own_device) telpher_free(w.own_device);
}

namespace {

/// The program's info, less what is not true of the host MPI's window: where device memory is
/// hidden from it, sizes differ.
class own_info {
 public:
  own_info(MPI_Info programs, const window& w) noexcept : info_(programs) {
    constexpr const char* same_size = "same_size";
    if (w.by != window::way::direct || !says(programs, same_size) ||
        !any(w, [](const exposed& e) { return !e.on_device; }) ||
        pmpi::Info_dup(programs, &copy_) != MPI_SUCCESS)
      return;
    pmpi::Info_delete(copy_, same_size);
    info_ = copy_;
  }
  own_info(const own_info&) = delete;
  own_info& operator=(const own_info&) = delete;
  ~own_info() {
    if (copy_ != MPI_INFO_NULL) pmpi::Info_free(&copy_);
  }
  MPI_Info get() const noexcept { return info_; }

 private:
  MPI_Info info_;
  MPI_Info copy_ = MPI_INFO_NULL;
};

// The host MPI's window, which gives the program's its handle. Collective.
int host_window(const creation& c, const window& w) noexcept {
  const bool on_device = w.ranks[static_cast<std::size_t>(w.rank)].on_device;
  const bool hidden = on_device && w.by == window::way::direct;
  void* const base = on_device ? w.own_host : w.base;
  const MPI_Aint bytes = hidden ? 0 : w.bytes;
  const own_info info(c.info, w);
  const blocking_call guard;
  if (c.unit > std::numeric_limits<int>::max())
    return pmpi::Win_create_c(base, bytes, c.unit, info.get(), c.comm, c.win);
  return pmpi::Win_create(base, bytes, static_cast<int>(c.unit), info.get(), c.comm, c.win);
}

}  // namespace

int keep_as(MPI_Win handle, const char* call, MPI_Comm comm, std::unique_ptr<window> w) noexcept {
  w->handle = handle;
  try {
    keep(std::move(w));
  } catch (const std::bad_alloc&) {
    return host_mpi::fail(comm, call, status::out_of_memory, nullptr);
  }
  return MPI_SUCCESS;
}

int complete_window(const creation& c, std::unique_ptr<window> w) noexcept {
  const int code = host_window(c, *w);
  if (code == MPI_SUCCESS) return keep_as(*c.win, c.call, c.comm, std::move(w));
  give_back(*w);
  return code;
}

namespace {

// `w` has this rank's part and knows the others'; some rank exposes device memory.
int establish(const creation& c, std::unique_ptr<window> w, status own) noexcept {
  w->said.no_locks = says(c.info, "no_locks");
  if (!make_direct(c.comm, *w)) {
    if (!failed(own)) own = make_image(*w);
    if (w->rank == 0)
      TELPHER_INFO("%s: device memory is served through host images: not all ranks can open it",
                   c.call);
  }
  if (!all_agree(c.comm, !failed(own))) {
    give_back(*w);
    if (!failed(own)) own = status::out_of_memory;
    return host_mpi::fail(c.comm, c.call, own, "a rank's part of the window could not be made");
  }
  return complete_window(c, std::move(w));
}

}  // namespace

int refuse_part(const creation& c, bool own) noexcept {
  return host_mpi::fail_with(c.comm, c.call, own ? MPI_ERR_ARG : MPI_ERR_OTHER,
                             own ? "the window's device memory does not lie in one allocation, or "
                                   "could not be allocated"
                                 : "another rank could not make its part of the window");
}

int create(const creation& c, const host_call& host) noexcept {
  if (!ours(c.comm)) return create_alone(c, host);
  const exposed own = describe(c.base, c.bytes, c.unit);
  std::unique_ptr<window> w(new (std::nothrow) window);
  if (!w) return host_mpi::fail(c.comm, c.call, status::out_of_memory, nullptr);
  if (const int code = learn(c.comm, own, *w); code != MPI_SUCCESS) return code;
  if (!any(*w, [](const exposed& e) { return e.on_device != 0; })) return call_host(host);
  if (any(*w, [](const exposed& e) { return e.failed != 0; })) return refuse_part(c, own.failed);
  w->base = c.base, w->bytes = c.bytes, w->unit = static_cast<int>(c.unit);
  return establish(c, std::move(w), status::ok);
}

int allocate(const creation& c, bool on_device, const host_call& host) noexcept {
  if (!ours(c.comm)) return allocate_alone(c, on_device, host);
  std::unique_ptr<window> w(new (std::nothrow) window);
  if (!w) return host_mpi::fail(c.comm, c.call, status::out_of_memory, nullptr);
  bool failed_here = false;
  if (on_device && c.bytes > 0)
    failed_here = telpher_malloc(&w->own_device, static_cast<std::size_t>(c.bytes),
                                 TELPHER_MEMORY_DEVICE) != TELPHER_SUCCESS;
  exposed own = describe(w->own_device, w->own_device ? c.bytes : 0, c.unit);
  own.bytes = c.bytes;
  own.failed |= failed_here;
  const int code = learn(c.comm, own, *w);
  const bool bad = any(*w, [](const exposed& e) { return e.failed != 0; });
  const bool some = any(*w, [](const exposed& e) { return e.on_device != 0; });
  if (code != MPI_SUCCESS || bad || !some) {
    give_back(*w);
    if (code != MPI_SUCCESS) return code;
    return bad ? refuse_part(c, own.failed) : call_host(host);
  }
  w->flavour = MPI_WIN_FLAVOR_ALLOCATE;
  w->bytes = c.bytes, w->unit = static_cast<int>(c.unit);
  status s = status::ok;
  if (!own.on_device && c.bytes > 0 &&
      pmpi::Alloc_mem(c.bytes, MPI_INFO_NULL, &w->own_host) != MPI_SUCCESS)
    s = status::out_of_memory;
  void* const base = w->base = own.on_device ? w->own_device : w->own_host;
  const int made = establish(c, std::move(w), s);
  if (made == MPI_SUCCESS) *static_cast<void**>(c.base) = base;
  return made;
}

// --- the end ---

// Operations of all ranks are complete when the host MPI's call returns. Direct ones are complete
// when all ranks have come here.
int free(MPI_Win* win, const host_call& host) noexcept {
  auto w = win ? take(*win) : nullptr;
  if (!w) return call_host(host);
  if (w->for_kernels) w->for_kernels->end("MPI_Win_free");
  // The calls that end the epochs have reported errors; the handle's errors are nobody's from here.
  if (w->by == window::way::direct) {
    [[maybe_unused]] const status ended = w->copies->finish(everyone, "MPI_Win_free");
    meet(*w, "MPI_Win_free");
  }
  if (const int code = call_host(host); code != MPI_SUCCESS) {
    keep(std::move(w));
    return code;
  }
  status s = status::ok;
  bool found = false;
  if (w->mirror && !w->own_device) s = w->mirror->merge_written(found);
  if (w->attached) s = w->attached->close();
  give_back(*w);
  return s == status::ok ? MPI_SUCCESS
                         : host_mpi::fail(MPI_COMM_SELF, "MPI_Win_free", s, "device memory");
}

}  // namespace telpher::rma
