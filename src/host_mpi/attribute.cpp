// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/attribute.hpp"

namespace telpher::host_mpi {
namespace {

constinit std::mutex making;
constinit attribute_key* first = nullptr;  // under `making`

}  // namespace

void* attribute_key::get(MPI_Comm comm) noexcept {
  if (!made_.load(std::memory_order_acquire)) return nullptr;
  void* value = nullptr;
  int there = 0;
  const bool good = pmpi::Comm_get_attr(comm, key_, &value, &there) == MPI_SUCCESS && there;
  return good ? value : nullptr;
}

bool attribute_key::set(MPI_Comm comm, void* value) noexcept {
  if (!made_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(making);
    if (!made_.load(std::memory_order_relaxed)) {
      if (pmpi::Comm_create_keyval(copy_, remove_, &key_, nullptr) != MPI_SUCCESS) return false;
      next_ = first;
      first = this;
      made_.store(true, std::memory_order_release);
    }
  }
  return pmpi::Comm_set_attr(comm, key_, value) == MPI_SUCCESS;
}

void attribute_key::free_all() noexcept {
  const std::lock_guard lock(making);
  for (; first; first = first->next_) {
    first->made_.store(false, std::memory_order_relaxed);
    pmpi::Comm_free_keyval(&first->key_);
  }
}

}  // namespace telpher::host_mpi
