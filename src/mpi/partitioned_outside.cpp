// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/partitioned_outside.hpp"

#include <algorithm>
#include <new>
#include <numeric>

#include "datatype/move.hpp"
#include "mpi/request_kinds.hpp"

namespace telpher::partitioned {
namespace {

// Open MPI 5 says too early that a partition has arrived if the sender has more of them. So there
// all are copied again in the end.
#ifdef OPEN_MPI
constexpr bool arrived_is_true = false;
#else
constexpr bool arrived_is_true = true;
#endif

std::byte* at(void* base, std::int64_t offset) noexcept {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) +
                                      static_cast<std::uintptr_t>(offset));
}

}  // namespace

// --- the image ---

status outside_end::make_image() {
  const auto bytes = static_cast<std::size_t>(partition_bytes() * args_.partitions);
  taken_.resize(static_cast<std::size_t>(args_.partitions));
  return memory::buffer::host(bytes, where_.owner, true).into(image_);
}

status outside_end::copy(int first, int count, bool to_image) noexcept {
  const datatype::elements program{
      *layout_,
      args_.count * count,
      {where_, at(args_.buffer, args_.count * first * layout_->extent)}};
  const datatype::side image{{}, at(image_.data(), partition_bytes() * first)};
  return to_image ? datatype::gather(program, image) : datatype::scatter(image, program);
}

int outside_end::raise(const char* call, status s) const noexcept {
  return s == status::ok ? MPI_SUCCESS
                         : host_mpi::fail(errors_.owner(), call, s,
                                          "the host image of a partition of device memory");
}

// --- a start ---

// Where the sender sends less than a receive may take, the rest of the buffer must stay as it is.
status outside_end::before_start() noexcept {
  active_ = true;
  if (sends_) return status::ok;
  taken_.assign(taken_.size(), false);
  return copy(0, args_.partitions, true);
}

// A partition that does not exist is the host MPI's to refuse.
int outside_end::ready(const char* call, int partition) noexcept {
  if (!sends_ || !active_ || !has(partition)) return MPI_SUCCESS;
  return raise(call, copy(partition, 1, true));
}

int outside_end::arrived(const char* call, int partition) noexcept {
  if (sends_ || !active_ || !has(partition)) return MPI_SUCCESS;
  const auto p = static_cast<std::size_t>(partition);
  if (taken_[p]) return MPI_SUCCESS;
  const status s = copy(partition, 1, false);
  taken_[p] = s == status::ok && arrived_is_true;
  return raise(call, s);
}

status outside_end::after_completion() noexcept {
  active_ = false;
  for (int p = 0; !sends_ && p < args_.partitions; ++p) {
    int end = p;
    while (end < args_.partitions && !taken_[static_cast<std::size_t>(end)]) ++end;
    if (end > p) TELPHER_TRY(copy(p, end - p, false));
    p = end;
  }
  return status::ok;
}

// --- making ---

bool needs_image(const init_args& a) noexcept {
  if (a.count <= 0 || a.partitions <= 0) return false;
  const auto l = datatype::layout_of(a.type);
  if (!l || (*l)->blocks.empty()) return false;  // the host MPI says what is wrong with it
  return memory::classify(at(a.buffer, (*l)->blocks.front().offset)).on_device();
}

#if TELPHER_HOST_HAS_Psend_init

namespace {

/// Open MPI 5 does all its partitioned communication on a duplicate of MPI_COMM_WORLD, which its
/// ranks make together in their first such calls. Those that Telpher serves are none of them.
bool host_serves([[maybe_unused]] MPI_Comm comm) {
#ifdef OPEN_MPI
  const host_mpi::job& job = ticket::job();
  if (!host_mpi::world_model || job.size == job.world_size) return false;
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  int inter = 0, size = 0;
  pmpi::Comm_test_inter(comm, &inter);
  inter ? pmpi::Comm_remote_group(comm, &group) : pmpi::Comm_group(comm, &group);
  pmpi::Comm_group(MPI_COMM_WORLD, &world);
  pmpi::Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), there(ranks.size(), MPI_UNDEFINED);
  std::iota(ranks.begin(), ranks.end(), 0);
  pmpi::Group_translate_ranks(group, size, ranks.data(), world, there.data());
  pmpi::Group_free(&world);
  pmpi::Group_free(&group);
  return std::find(there.begin(), there.end(), MPI_UNDEFINED) == there.end();
#else
  return true;
#endif
}

int refuse(const init_args& a, const char* why) noexcept {
  return host_mpi::fail_with(a.comm, a.call, MPI_ERR_UNSUPPORTED_OPERATION, why);
}

int fail(const init_args& a, status s) noexcept {
  return host_mpi::fail(a.comm, a.call, s, "the host image of its device buffer");
}

}  // namespace

int make_outside(const init_args& a, bool sends, MPI_Request* request) noexcept try {
  const datatype::layout& l = **datatype::layout_of(a.type);
  if (a.buffer == MPI_BOTTOM && datatype::mixes_places(l, a.buffer))
    return refuse(a, "a type over host and device memory, or over several devices");
  if (!host_serves(a.comm))
    return refuse(a,
                  "Open MPI's own partitioned communication needs all ranks of MPI_COMM_WORLD, and "
                  "MPI_Init: use MPI_Send and MPI_Recv, or a communicator of ranks of the job");
  auto made = std::make_unique<outside_end>(
      a, sends, l, memory::classify(at(a.buffer, l.blocks.front().offset)));
  if (const status s = made->make_image(); failed(s)) return fail(a, s);
  void* const image = made->stand_in();
  const MPI_Count bytes = made->partition_bytes();
  int rc = sends ? pmpi::Psend_init(image, a.partitions, bytes, MPI_BYTE, a.peer, a.tag, a.comm,
                                    a.info, request)
                 : pmpi::Precv_init(image, a.partitions, bytes, MPI_BYTE, a.peer, a.tag, a.comm,
                                    a.info, request);
  if (rc == MPI_SUCCESS) rc = host_mpi::started(rc, *request);
  if (rc == MPI_SUCCESS) staging::attach(a.call, a.comm, request, std::move(made), true);
  return rc;
} catch (const std::bad_alloc&) {
  return fail(a, status::out_of_memory);
}

#else

int make_outside(const init_args& a, bool, MPI_Request*) noexcept {
  return host_mpi::fail_with(a.comm, a.call, MPI_ERR_UNSUPPORTED_OPERATION,
                             "the host MPI has no partitioned communication (MPI 4.0), so device "
                             "memory needs a communicator whose ranks are all in the job");
}

#endif

outside_end* find_outside(MPI_Request request) noexcept {
  auto* const c = dynamic_cast<mpi::collective_request*>(mpi::find(request));
  return c ? dynamic_cast<outside_end*>(&c->work()) : nullptr;
}

}  // namespace telpher::partitioned
