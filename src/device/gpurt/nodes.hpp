// SPDX-License-Identifier: BSD-3-Clause
// What the system's files tell about GPUs, for both vendors, without any call to a runtime.
#pragma once

#include <cstddef>

namespace telpher::device::gpurt {

/// The NUMA node of a PCI device, -1 where unknown.
int numa_node_of(int pci_domain, int pci_bus, int pci_device) noexcept;

/// How many entries a list like CUDA_VISIBLE_DEVICES leaves of `devices`: entries count until the
/// first that is empty or negative; an unset variable leaves all.
int visible_of(const char* variable, int devices) noexcept;

/// Device files /dev/nvidia<number>.
int nvidia_device_files() noexcept;

/// GPUs among the nodes of AMD's kernel driver.
int amd_topology_gpus() noexcept;

/// Whether the CPU may load and store all of a range, by this process's own map.
bool cpu_may_access(const void* first, std::size_t bytes) noexcept;

}  // namespace telpher::device::gpurt
