// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/lifetime.hpp"

#include <mutex>

#include "host_mpi/attribute.hpp"

namespace telpher::host_mpi {

/// Hangs on the communicator.
struct lifetime::mark {
  std::shared_ptr<std::atomic<bool>> ended = std::make_shared<std::atomic<bool>>(false);
  mark() = default;
  mark(const mark&) = delete;
  mark& operator=(const mark&) = delete;
  ~mark() {
    ended->store(true, std::memory_order_relaxed);
    count_.fetch_add(1, std::memory_order_relaxed);
  }
};

lifetime::lifetime(MPI_Comm comm) {
  static constinit comm_attribute<mark> marks;
  static constinit std::mutex making;  // one mark for each
  const std::lock_guard lock(making);
  const mark* there = marks.find(comm);
  if (!there) {
    auto fresh = std::make_unique<mark>();
    there = fresh.get();
    if (!marks.attach(comm, std::move(fresh))) return;
  }
  ended_ = there->ended;
}

}  // namespace telpher::host_mpi
