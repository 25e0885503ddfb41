// SPDX-License-Identifier: BSD-3-Clause
#include "rma/merging.hpp"

#include <cstring>
#include <utility>

#include "host_mpi/error.hpp"
#include "rma/window.hpp"

namespace telpher::rma {
namespace {

bool has_images(const window& w) noexcept {
  return w.mirror || w.attached;
}

int code_of(const window& w, const char* call, status s) noexcept {
  return s == status::ok ? MPI_SUCCESS
                         : host_mpi::fail(host_mpi::error_owner::window(w.handle), call, s,
                                          "the window's device memory could not be copied");
}

/// Whether NOSTORE may be believed here.
bool stored_nothing(const window& w, int assertion) noexcept {
  return (assertion & MPI_MODE_NOSTORE) != 0 && w.said.shown && !w.for_kernels;
}

}  // namespace

bool says(MPI_Info info, const char* key) noexcept {
  char value[8] = "";
  int found = 0;
  return info != MPI_INFO_NULL &&
         pmpi::Info_get(info, key, sizeof value - 1, value, &found) == MPI_SUCCESS && found &&
         std::strcmp(value, "true") == 0;
}

int show(window& w, const char* call) noexcept {
  if (!has_images(w)) return MPI_SUCCESS;
  w.said.shown = true;
  return code_of(w, call, w.mirror ? w.mirror->merge() : w.attached->merge());
}

int take(window& w, const char* call) noexcept {
  if (!has_images(w)) return MPI_SUCCESS;
  bool found = false;
  const status s = w.mirror ? w.mirror->merge_written(found) : w.attached->merge_written(found);
  if (found) w.said.shown = true;
  return code_of(w, call, s);
}

int before_fence(window& w, const char* call, int assertion) noexcept {
  if (!has_images(w) || stored_nothing(w, assertion)) return MPI_SUCCESS;
  if ((assertion & MPI_MODE_NOSUCCEED) == 0 || !w.said.no_locks) return show(w, call);
  w.said.shown = false;
  return MPI_SUCCESS;
}

int after_fence(window& w, const char* call, int assertion) noexcept {
  const bool none = std::exchange(w.said.no_puts, (assertion & MPI_MODE_NOPUT) != 0) ||
                    ((assertion & MPI_MODE_NOPRECEDE) != 0 && w.said.no_locks);
  return none ? MPI_SUCCESS : take(w, call);
}

int before_post(window& w, const char* call, int assertion) noexcept {
  w.said.no_puts = (assertion & MPI_MODE_NOPUT) != 0 && w.said.no_locks;
  return stored_nothing(w, assertion) ? MPI_SUCCESS : show(w, call);
}

int after_wait(window& w, const char* call) noexcept {
  passed(w);
  return std::exchange(w.said.no_puts, false) ? MPI_SUCCESS : take(w, call);
}

void passed(window& w) noexcept {
  w.said.shown.store(false, std::memory_order_relaxed);
}

}  // namespace telpher::rma
