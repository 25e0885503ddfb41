// SPDX-License-Identifier: BSD-3-Clause
// What Telpher keeps for a communicator is an attribute of it. The host MPI deletes the attribute
// with the communicator, whoever frees that and by which call. So a handle that is used again
// starts without the attribute, and so does a duplicate. The destructor of a value runs inside the
// host MPI, which may hold a lock of its own: it must not wait for a lock under which the host MPI
// is called.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

/// A key made at first use; it lasts until the job is left.
class attribute_key {
 public:
  using deleter = MPI_Comm_delete_attr_function;
  explicit constexpr attribute_key(deleter* remove) noexcept : remove_(remove) {}

  void* get(MPI_Comm comm) noexcept;
  /// False if the host MPI refuses; then the value still belongs to the caller.
  bool set(MPI_Comm comm, void* value) noexcept;
  static void free_all() noexcept;

 private:
  deleter* const remove_;
  std::atomic<bool> made_{false};
  int key_{};                      // under the mutex until made_
  attribute_key* next_ = nullptr;  // of those that were made
};

template <class T>
class comm_attribute {
 public:
  T* find(MPI_Comm comm) noexcept { return static_cast<T*>(key_.get(comm)); }
  bool attach(MPI_Comm comm, std::unique_ptr<T> value) noexcept {
    return key_.set(comm, value.get()) && (static_cast<void>(value.release()), true);
  }

 private:
  static int remove(MPI_Comm, int, void* value, void*) {
    delete static_cast<T*>(value);
    return MPI_SUCCESS;
  }
  constinit static inline attribute_key key_{&remove};
};

}  // namespace telpher::host_mpi
