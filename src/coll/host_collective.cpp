// SPDX-License-Identifier: BSD-3-Clause
// What happens once a buffer has turned out to be device memory.
#include "coll/host_collective.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/lasting.hpp"

namespace telpher::coll {

namespace {

// How many collectives this rank has called on groups of a key.
struct calls_of_group {
  std::uint64_t key;
  long long calls;
};
std::mutex counts_guard;
lasting<std::vector<calls_of_group>> calls_by_group;

}  // namespace

// By the number of the call on its group, tools find the same call in the traces of other ranks.
trace::facts host_collective::traced_facts(MPI_Comm comm) noexcept {
  int size = 0;
  pmpi::Comm_size(comm, &size);
  const std::uint64_t key = host_mpi::group_key(ticket::job(), comm);
  trace::facts f;
  f.add("group", static_cast<long long>(key)).add("size", size);
  std::lock_guard lock(counts_guard);
  auto at = std::ranges::find(*calls_by_group, key, &calls_of_group::key);
  if (at == calls_by_group->end()) at = calls_by_group->insert(at, {key, 0});
  f.add("number", at->calls++);
  return f;
}

// A call of which one buffer has an image gets images for all: addresses must not meet
// (host_images::add). What MPI_BOTTOM stands for may lie anywhere.
bool host_collective::hands_over(const void* buffer, const plan& p) noexcept {
  if (effect_ == effect::reduces || buffer == MPI_BOTTOM || work_) return false;
  if (!handover_) handover_.emplace(call_, p);
  return handover_->as_they_are();
}

void* host_collective::image_of(void* buffer, const plan& p) {
  auto work = work_ ? std::move(work_) : std::make_unique<staging::host_images>();
  const auto image = work->add(buffer, p);
  if (!work->empty()) work_ = std::move(work);
  if (image) return *image;
  failure_ = image.error();
  return buffer;
}

int host_collective::copy_in() noexcept {
  trace::span traced("copy to the host",
                     [&] { return trace::facts().add("bytes", work_->bytes()); });
  if (!failed(failure_)) failure_ = work_->copy_in();
  return failed(failure_) ? fail(failure_) : MPI_SUCCESS;
}

int host_collective::copy_out() noexcept {
  trace::span traced("copy to the device",
                     [&] { return trace::facts().add("bytes", work_->bytes()); });
  const status s = work_->copy_out();
  return failed(s) ? fail(s) : MPI_SUCCESS;
}

// The host MPI may give all calls that are complete at once the same request. So nothing is
// attached to a complete one.
int host_collective::finish_later(MPI_Request* request) noexcept {
  int complete = 0;
  if (host_mpi::look_at(*request, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && complete)
    return copy_out();
  staging::attach(call_, group_.comm(), request, std::move(work_), false);
  return MPI_SUCCESS;
}

int host_collective::fail(status s) const noexcept {
  return host_mpi::fail(group_.comm(), call_, s, "a device buffer could not be staged to the host");
}

}  // namespace telpher::coll
