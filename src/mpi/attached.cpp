// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/attached.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "base/lasting.hpp"

namespace telpher::mpi {
namespace {

// The program's buffer and the one that stands for it. One that is never detached stays until the
// process ends: the host MPI may use it until its own end.
struct replaced {
  void* stand_in;
  void* programs;
};
std::mutex attached_guard;
lasting<std::vector<replaced>> attached_buffers;

}  // namespace

int stand_in(MPI_Comm comm, const char* call, void*& buffer, MPI_Count bytes) noexcept {
  if (!memory::classify(buffer).on_device()) return MPI_SUCCESS;
  void* const made = std::malloc(static_cast<std::size_t>(std::max<MPI_Count>(bytes, 1)));
  if (!made)
    return entry::fail(comm, call, status::out_of_memory,
                       "host memory in place of a buffer in device memory");
  std::lock_guard lock(attached_guard);
  attached_buffers->push_back({made, buffer});
  buffer = made;
  return MPI_SUCCESS;
}

void* take_back(void* buffer) noexcept {
  std::lock_guard lock(attached_guard);
  const auto at = std::ranges::find(*attached_buffers, buffer, &replaced::stand_in);
  if (at == attached_buffers->end()) return buffer;
  void* const own = at->programs;
  attached_buffers->erase(at);
  std::free(buffer);
  return own;
}

}  // namespace telpher::mpi
