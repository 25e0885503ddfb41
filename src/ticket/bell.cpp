// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/bell.hpp"

#include "base/log.hpp"

namespace telpher::ticket {

void bell::start(const host_mpi::job& job) noexcept {
  job_ = &job;
  tag_ = job.tag_limit - 1;  // the reply tags stay below
  rung_.assign(static_cast<std::size_t>(job.size), 0);
  heard_ = 0;
}

// The send is empty, so nothing has to live until it is done.
void bell::ring(int world_rank) noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  if (pmpi::Isend(nullptr, 0, MPI_BYTE, world_rank, tag_, job_->control, &request) != MPI_SUCCESS)
    return;
  ++rung_[static_cast<std::size_t>(world_rank)];
  pmpi::Request_free(&request);
}

bool bell::take() noexcept {
  int flag = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  if (pmpi::Improbe(MPI_ANY_SOURCE, tag_, job_->control, &flag, &message, MPI_STATUS_IGNORE) !=
          MPI_SUCCESS ||
      !flag)
    return false;
  pmpi::Mrecv(nullptr, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  ++heard_;
  return true;
}

void bell::listen() noexcept {
  while (take()) continue;
}

void bell::stop() noexcept {
  if (job_->node.size() == static_cast<std::size_t>(job_->size)) return;
  std::vector<int> here(rung_.size());
  if (pmpi::Alltoall(rung_.data(), 1, MPI_INT, here.data(), 1, MPI_INT, job_->control) !=
      MPI_SUCCESS)
    return;
  int expected = 0;
  for (const int n : here) expected += n;
  TELPHER_DEBUG("%d doorbells were rung here between nodes", expected);
  while (heard_ < expected) take();
}

}  // namespace telpher::ticket
