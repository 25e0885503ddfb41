// SPDX-License-Identifier: BSD-3-Clause
// See staged.hpp: what happens once a buffer has turned out to be device memory.
#include "coll/staged.hpp"

namespace telpher::coll {

void* staged::image_of(void* buffer, const plan& p) {
  auto work = work_ ? std::move(work_) : std::make_unique<staging>();
  const auto image = work->add(buffer, p);
  if (!work->empty()) work_ = std::move(work);
  if (image) return *image;
  failure_ = image.error();
  return buffer;
}

int staged::copy_in() noexcept {
  if (!failed(failure_)) failure_ = work_->copy_in();
  return failed(failure_) ? fail(failure_) : MPI_SUCCESS;
}

int staged::copy_out() noexcept {
  const status s = work_->copy_out();
  return failed(s) ? fail(s) : MPI_SUCCESS;
}

// A request that is complete already may be one that the host MPI shares between such calls, so
// nothing can be attached to it, and nothing need be.
int staged::finish_later(MPI_Request* request) noexcept {
  int complete = 0;
  if (pmpi::Request_get_status(*request, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && complete)
    return copy_out();
  attach(*request, std::move(work_), false);
  return MPI_SUCCESS;
}

int staged::fail(status s) const noexcept {
  return host_mpi::fail(group_.comm(), call_, s, "a device buffer could not be staged to the host");
}

}  // namespace telpher::coll
