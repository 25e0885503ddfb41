// SPDX-License-Identifier: BSD-3-Clause
#include "device/stream_variables.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/settings.hpp"

namespace telpher::device {
namespace {

bool under_mps() noexcept {
  return std::getenv("CUDA_MPS_PIPE_DIRECTORY") ||
         ::access("/tmp/nvidia-mps/control", F_OK) == 0;  // the daemon's default
}

/// The ranks of this node, as the launcher tells them; 0 if it does not.
int local_ranks() noexcept {
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE",
        "PMI_LOCAL_SIZE", "JSM_NAMESPACE_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE"})
    if (const char* const text = std::getenv(name))
      if (const int ranks = std::atoi(text); ranks > 0) return ranks;
  return 0;
}

/// All ranks of the node may be clients of one device.
int queues_under_mps() noexcept {
  constexpr int most = 32, of_a_device = 64, unknown = 8;
  const int ranks = local_ranks();
  return ranks == 0 ? unknown : std::clamp(of_a_device / ranks, 2, most);
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
  const bool mps = under_mps();
  if (!(config().streams || mps) || !one_thread()) return;
  const std::string queues = mps ? std::to_string(queues_under_mps()) : "32";
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", queues.c_str(), replace);
  if (config().streams) ::setenv("CUDA_MODULE_LOADING", "EAGER", replace);
}

}  // namespace telpher::device
