// SPDX-License-Identifier: BSD-3-Clause
#include "device/stream_variables.hpp"

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>

#include "base/settings.hpp"

namespace telpher::device {
namespace {

bool under_mps() noexcept {
  return std::getenv("CUDA_MPS_PIPE_DIRECTORY") ||
         ::access("/tmp/nvidia-mps/control", F_OK) == 0;  // the daemon's default
}

bool one_thread() noexcept {
  DIR* const listing = ::opendir("/proc/self/task");
  if (!listing) return false;
  int threads = 0;
  while (const dirent* entry = ::readdir(listing)) threads += entry->d_name[0] != '.';
  ::closedir(listing);
  return threads == 1;
}

}  // namespace

void set_stream_variables() noexcept {
  constexpr bool replace = false;
  const bool queues = config().streams || under_mps();
  if (!queues || !one_thread()) return;
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", replace);
  if (config().streams) ::setenv("CUDA_MODULE_LOADING", "EAGER", replace);
}

}  // namespace telpher::device
