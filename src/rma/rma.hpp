// SPDX-License-Identifier: BSD-3-Clause
// One-sided communication on device memory (MPI 5.0, chapter 12), as the wrappers call it. Each
// function returns the call's error code. Errors are raised on the window, or on the communicator
// while there is no window yet. `host` makes the program's call in the host MPI. window.hpp says
// how windows are served.
#pragma once

#include <functional>
#include <limits>

#include "host_mpi/host_mpi.hpp"

namespace telpher::rma {

using host_call = std::function<int()>;

// --- windows ---

struct creation {
  const char* call;
  void* base;
  MPI_Aint bytes;
  MPI_Aint unit;
  MPI_Info info;
  MPI_Comm comm;
  MPI_Win* win;
};

int create(const creation& c, const host_call& host) noexcept;
/// `base` is where the address goes. `on_device`: the info asks for device memory.
int allocate(const creation& c, bool on_device, const host_call& host) noexcept;
int allocate_shared(const creation& c, bool on_device, const host_call& host) noexcept;
/// The result of MPI_Win_shared_query. If `found` is false, the host MPI has written the program's
/// arguments, or query() has returned an error.
struct shared_part {
  bool found = false;
  MPI_Aint bytes = 0;
  MPI_Aint unit = 0;
  void* base = nullptr;
  int query(MPI_Win win, int rank, const host_call& host) noexcept;
};
template <class Unit>
int shared_query(MPI_Win win, int rank, MPI_Aint* bytes, Unit* unit, void* base,
                 const host_call& host) noexcept {
  shared_part part;
  const int code = part.query(win, rank, host);
  if (!part.found) return code;
  *bytes = part.bytes;
  *unit = static_cast<Unit>(part.unit);
  *static_cast<void**>(base) = part.base;
  return code;
}
int create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win, const host_call& host) noexcept;
int attach(MPI_Win win, void* base, MPI_Aint bytes, const host_call& host) noexcept;
int detach(MPI_Win win, const void* base, const host_call& host) noexcept;
int free(MPI_Win* win, const host_call& host) noexcept;
int get_attr(MPI_Win win, int key, void* value, int* flag, const host_call& host) noexcept;

// --- operations ---

enum class verb { put, get, accumulate, get_accumulate, compare_and_swap };

struct buffer {
  const void* address = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// What the host MPI is given for the program's buffers, and for the place at the target.
struct stand_ins {
  const void* origin;
  void* result;
  const void* compare;
  MPI_Aint displacement;
};
using host_access = std::function<int(const stand_ins&)>;

/// A call. The origin of a get is its `result`.
struct access {
  const char* call;
  verb what;
  MPI_Win win;
  int rank;
  MPI_Aint displacement;
  MPI_Count count;
  MPI_Datatype type;
  buffer origin = {};
  buffer result = {};
  const void* compare = nullptr;
  MPI_Op op = MPI_OP_NULL;
  MPI_Request* request = nullptr;

  /// Whether no buffer is in device memory, and the target's memory is no device memory that the
  /// host MPI does not know. Then the host MPI's call is made unchanged.
  bool plain() const noexcept;
  int run(const host_access& host) const noexcept;

 private:
  bool on_host() const noexcept;
};

// --- synchronisation ---

int fence(int assertion, MPI_Win win, const host_call& host) noexcept;
int post(MPI_Group group, int assertion, MPI_Win win, const host_call& host) noexcept;
int start(MPI_Group group, MPI_Win win, const host_call& host) noexcept;
int complete(MPI_Win win, const host_call& host) noexcept;
int wait(MPI_Win win, const host_call& host) noexcept;
int test(MPI_Win win, int* flag, const host_call& host) noexcept;
int lock(int type, int rank, int assertion, MPI_Win win, const host_call& host) noexcept;
int unlock(int rank, MPI_Win win, const host_call& host) noexcept;
int lock_all(int assertion, MPI_Win win, const host_call& host) noexcept;
int unlock_all(MPI_Win win, const host_call& host) noexcept;
/// In place of a rank.
constexpr int everyone = std::numeric_limits<int>::min();
int flush(const char* call, int rank, MPI_Win win, const host_call& host) noexcept;
int sync(MPI_Win win, const host_call& host) noexcept;

}  // namespace telpher::rma
