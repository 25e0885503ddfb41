// SPDX-License-Identifier: BSD-3-Clause
// Information about GPUs from system files, for both vendors, without calling a runtime.
#pragma once

#include <cstddef>

namespace telpher::device::gpurt {

/// The NUMA node of a PCI device; -1 if unknown.
int numa_node_of(int pci_domain, int pci_bus, int pci_device) noexcept;

/// How many of `devices` a list like CUDA_VISIBLE_DEVICES leaves visible. Entries count up to the
/// first empty or negative one. If the variable is unset, all are visible.
int visible_of(const char* variable, int devices) noexcept;

/// The number of device files /dev/nvidia<number>.
int nvidia_device_files() noexcept;

/// The number of GPUs among the nodes of AMD's kernel driver.
int amd_topology_gpus() noexcept;

/// Whether the CPU may load and store the whole range, according to /proc/self/maps.
bool cpu_may_access(const void* first, std::size_t bytes) noexcept;

}  // namespace telpher::device::gpurt
