// SPDX-License-Identifier: BSD-3-Clause
#include "device/gpurt/nodes.hpp"

#include <dirent.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace telpher::device::gpurt {
namespace {

bool read_number(const std::string& path, long long& value) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return false;
  const bool one = std::fscanf(file, "%lld", &value) == 1;
  std::fclose(file);
  return one;
}

// The number of names in a folder that `counts` accepts.
template <class F>
int count_entries(const char* folder, F counts) {
  DIR* listing = ::opendir(folder);
  if (!listing) return 0;
  int found = 0;
  while (const dirent* entry = ::readdir(listing)) found += counts(entry->d_name);
  ::closedir(listing);
  return found;
}

}  // namespace

int numa_node_of(int pci_domain, int pci_bus, int pci_device) noexcept {
  char path[96];
  std::snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.0/numa_node", pci_domain,
                pci_bus, pci_device);
  long long node = -1;
  return read_number(path, node) ? static_cast<int>(node) : -1;
}

int visible_of(const char* variable, int devices) noexcept {
  const char* text = std::getenv(variable);
  if (!text) return devices;
  int entries = 0;
  for (std::string_view rest(text); !rest.empty() && rest.front() != '-' && rest.front() != ',';) {
    ++entries;
    const auto comma = rest.find(',');
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return std::min(entries, devices);
}

int nvidia_device_files() noexcept {
  return count_entries("/dev", [](const char* name) {
    return std::strncmp(name, "nvidia", 6) == 0 &&
           std::isdigit(static_cast<unsigned char>(name[6])) != 0;
  });
}

int amd_topology_gpus() noexcept {
  const std::string folder = "/sys/class/kfd/kfd/topology/nodes/";
  return count_entries(folder.c_str(), [&](const char* name) {
    long long gpu = 0;  // 0 for a CPU's node
    return read_number(folder + name + "/gpu_id", gpu) && gpu != 0;
  });
}

bool cpu_may_access(const void* first, std::size_t bytes) noexcept {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (!maps) return false;
  std::uintptr_t at = reinterpret_cast<std::uintptr_t>(first);
  const std::uintptr_t end = at + bytes;
  char line[512];
  while (at < end && std::fgets(line, sizeof line, maps)) {  // in the order of addresses
    unsigned long low = 0, high = 0;
    char access[5] = "";
    if (std::sscanf(line, "%lx-%lx %4s", &low, &high, access) != 3 || high <= at) continue;
    if (low > at || access[0] != 'r' || access[1] != 'w') break;
    at = high;
  }
  std::fclose(maps);
  return at >= end;
}

}  // namespace telpher::device::gpurt
