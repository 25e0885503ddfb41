// SPDX-License-Identifier: BSD-3-Clause
// What must be known before MPI_Init.
#include <algorithm>
#include <cstdlib>

#include "options.hpp"

namespace telpher::bench {
namespace {

// The value of `--name value` or `--name=value`, or "".
std::string value_of(int argc, char** argv, const std::string& name) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == name && i + 1 < argc) return argv[i + 1];
    if (word.starts_with(name + '=')) return word.substr(name.size() + 1);
  }
  return "";
}

}  // namespace

bool early_enqueue(int argc, char** argv) {
  return std::any_of(argv, argv + argc,
                     [](const std::string& word) { return word == "--enqueue"; });
}

int early_cuda_device(int argc, char** argv) {
  const std::string allocation = value_of(argc, argv, "--alloc");
  const std::string devices = value_of(argc, argv, "--device");
  if (allocation.empty() || allocation == "telpher" || devices.empty()) return -1;
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    const char* rank = std::getenv(variable);
    if (!rank) continue;
    const auto listed = split(devices, ':');
    return std::atoi(listed[std::strtoul(rank, nullptr, 10) % listed.size()].c_str());
  }
  return -1;
}

}  // namespace telpher::bench
