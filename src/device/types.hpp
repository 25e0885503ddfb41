// SPDX-License-Identifier: BSD-3-Clause
// The plain data types of the device interface. All are trivially copyable; a static_assert checks
// this for handles that travel in a ticket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>

namespace telpher::device {

/// The kind of memory that an address lies in.
enum class memory_kind : std::uint8_t {
  host = 0,  // plain memory, or memory that the driver does not know
  pinned,    // host memory that the device can access (allocated or registered)
  managed,   // one address, migrates; the CPU may access it
  device,    // memory of a GPU; the CPU must not access it
};

enum class vendor : std::uint8_t { none = 0, cuda, hip, sycl, emu };
/// Plug-ins from outside this tree use numbers from here on.
constexpr int first_outside_vendor = 16;

/// What the runtime knows about an address. For host memory only `kind` is set.
struct pointer_info {
  memory_kind kind = memory_kind::host;
  vendor owner = vendor::none;
  std::int16_t device = -1;      // ordinal as this process numbers its devices
  std::uintptr_t base = 0;       // first byte of the allocation
  std::size_t bytes = 0;         // size of the allocation
  std::uint64_t generation = 0;  // differs between two allocations that share an address
  bool cpu_accessible = false;   // managed memory that counts as its device's
  bool exportable = false;       // other processes can open it
  bool is_chunk = false;  // mapped by the program (virtual memory management): exported as a file
                          // descriptor, and a buffer may reach into the next chunk
  bool is_run = false;    // several chunks side by side, taken as one (memory/chunk_runs.hpp); no
                          // back end says this
};

/// One block of a kernel that is a function of this process.
using block_function = void (*)(const void* parameters, unsigned block, unsigned blocks);

/// By what another process opens one whole allocation, as it travels in a ticket: a vendor's IPC
/// handle, or where file descriptors of chunks are to be fetched (memory/imported.hpp).
struct ipc_handle {
  static constexpr std::size_t capacity = 128;  // CUDA and HIP take 64, Level Zero by SYCL some 120
  std::uint8_t bytes[capacity];
  std::uint32_t chunks;  // so many descriptors; 0: a vendor's handle
  bool is_run() const noexcept { return chunks > 1; }
};
static_assert(std::is_trivially_copyable_v<ipc_handle>);

/// The sizes of chunks that lie side by side.
using chunk_sizes = std::span<const std::size_t>;

inline std::size_t sum_of(chunk_sizes bytes) noexcept {
  return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
}

/// Handles of the vendor's objects; null means none.
struct stream {
  void* handle = nullptr;
  explicit operator bool() const { return handle != nullptr; }
};
struct event {
  void* handle = nullptr;
  explicit operator bool() const { return handle != nullptr; }
};

/// The file names of a vendor's own shared libraries; null: there is none.
struct vendor_libraries {
  const char* collectives = nullptr;  // with NCCL's interface
  bool measured =
      false;  // it is known where that is faster than Telpher's kernels on these devices
  const char* files = nullptr;  // with cuFile's interface
};

/// How near two devices are; smaller is nearer. Used to rank paths, never for correctness.
enum class distance : std::uint8_t { same = 0, fabric, pcie, unreachable };

/// Identity of a device, the same in every process of a node. CUDA_VISIBLE_DEVICES and similar
/// variables renumber devices, but do not change it.
struct device_uuid {
  std::uint8_t bytes[16];
  friend bool operator==(const device_uuid&, const device_uuid&) = default;
};

struct device_properties {
  char name[64];
  device_uuid uuid;
  std::size_t memory_bytes;
  int processors;                       // multiprocessors, compute units, cores
  int pci_domain, pci_bus, pci_device;  // -1 if there is none
  int numa_node;                        // -1 if unknown
  bool runs_together;  // kernels of several processes run concurrently (NVIDIA: under MPS)
};

}  // namespace telpher::device
