// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/attached.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

namespace telpher::mpi {
namespace {

// The program's buffer by the one that stands for it. One that is never detached stays until the
// process ends: the host MPI may use it until its own end.
struct stand_ins {
  std::mutex mutex;
  std::map<void*, void*> buffers;
};

stand_ins& all() {
  static auto* const one = new stand_ins;
  return *one;
}

}  // namespace

int stand_in(MPI_Comm comm, const char* call, void*& buffer, MPI_Count bytes) noexcept {
  if (!memory::classify(buffer).on_device()) return MPI_SUCCESS;
  void* const made = std::malloc(static_cast<std::size_t>(std::max<MPI_Count>(bytes, 1)));
  if (!made)
    return entry::fail(comm, call, status::out_of_memory,
                       "host memory in place of a buffer in device memory");
  std::lock_guard lock(all().mutex);
  all().buffers[made] = buffer;
  buffer = made;
  return MPI_SUCCESS;
}

void* take_back(void* buffer) noexcept {
  std::lock_guard lock(all().mutex);
  const auto at = all().buffers.find(buffer);
  if (at == all().buffers.end()) return buffer;
  void* const own = at->second;
  all().buffers.erase(at);
  std::free(buffer);
  return own;
}

}  // namespace telpher::mpi
