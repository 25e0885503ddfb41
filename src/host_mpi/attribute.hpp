// SPDX-License-Identifier: BSD-3-Clause
// What Telpher keeps for a communicator is an attribute of it. The host MPI deletes the attribute
// with the communicator, whoever frees that and by which call. So a handle that is used again
// starts without the attribute. A duplicate does, too, or gets a copy. The destructor and the copy
// constructor of a value run inside the host MPI, which may hold a lock of its own: they must not
// wait for a lock under which the host MPI is called.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "base/thread_local.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

/// While it lives, what this thread makes of a communicator is no duplicate, and must get no
/// attribute of ours. Open MPI 5.0 copies the parent's attributes in MPI_Comm_create_group.
class no_duplicate {
 public:
  no_duplicate() noexcept { ++alive; }
  ~no_duplicate() { --alive; }
  no_duplicate(const no_duplicate&) = delete;
  no_duplicate& operator=(const no_duplicate&) = delete;
  static bool being_made() noexcept { return alive > 0; }

 private:
  static inline constinit thread_local TELPHER_NEAR_TLS int alive = 0;
};

/// A key made at first use; it lasts until the job is left.
class attribute_key {
 public:
  using copier = MPI_Comm_copy_attr_function;
  using deleter = MPI_Comm_delete_attr_function;
  constexpr attribute_key(copier* copy, deleter* remove) noexcept : copy_(copy), remove_(remove) {}

  void* get(MPI_Comm comm) noexcept;
  /// False if the host MPI refuses; then the value still belongs to the caller.
  bool set(MPI_Comm comm, void* value) noexcept;
  static void free_all() noexcept;

 private:
  copier* const copy_;
  deleter* const remove_;
  std::atomic<bool> made_{false};
  int key_{};                      // under the mutex until made_
  attribute_key* next_ = nullptr;  // of those that were made
};

/// A duplicate of the communicator gets a copy where T::passes_on() says so, else nothing.
template <class T>
class comm_attribute {
 public:
  T* find(MPI_Comm comm) noexcept { return static_cast<T*>(key_.get(comm)); }
  bool attach(MPI_Comm comm, std::unique_ptr<T> value) noexcept {
    return key_.set(comm, value.get()) && (static_cast<void>(value.release()), true);
  }

 private:
  static int copy(MPI_Comm, int, void*, void* value, void* fresh, int* flag) {
    *flag = 0;
    if constexpr (requires(T & v) { v.passes_on(); }) {
      T& there = *static_cast<T*>(value);
      if (no_duplicate::being_made() || !there.passes_on()) return MPI_SUCCESS;
      *static_cast<T**>(fresh) = new T(there);
      *flag = 1;
    }
    return MPI_SUCCESS;
  }
  static int remove(MPI_Comm, int, void* value, void*) {
    delete static_cast<T*>(value);
    return MPI_SUCCESS;
  }
  constinit static inline attribute_key key_{&copy, &remove};
};

}  // namespace telpher::host_mpi
