// SPDX-License-Identifier: BSD-3-Clause
// Memory that the program mapped itself (virtual memory management), for other processes by POSIX
// file descriptors. An importer's mapping keeps the memory, so the program may unmap it at any
// time.
//
// Allocations of shareable pools (cuMemPoolExportPointer) are not imported. An importer must free
// its pointer before the exporter frees the allocation, and the program frees at any time, in a
// stream's order, without this library's being told. So imports could not be kept between messages.
#include <cstdint>

#include "device/cuda/driver.hpp"

namespace telpher::device::cuda {
namespace {

constexpr auto by_file = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
// Blocks have numbers of their own. So a chunk never has the generation of an allocation.
constexpr std::uint64_t chunk_mark = std::uint64_t{1} << 63;

template <class T>
bool ask(T& answer, CUpointer_attribute which, CUdeviceptr address) noexcept {
  return driver.cuPointerGetAttribute(&answer, which, address) == CUDA_SUCCESS;
}

struct chunk {
  unsigned long long block = 0;
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
};

bool look(CUdeviceptr address, chunk& found) noexcept {
  return ask(found.block, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, address) && found.block != 0 &&
         ask(found.base, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, address) &&
         ask(found.bytes, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, address);
}

// What the system or the other process's memory does not allow.
cudaError_t refused(CUresult r) noexcept {
  switch (r) {
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_NOT_PERMITTED:
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_UNKNOWN:  // a file that is no memory of the driver's
      return cudaErrorNotSupported;
    default:
      return runtime_error(r);
  }
}

CUresult map_at(CUdeviceptr at, std::size_t bytes, int device,
                CUmemGenericAllocationHandle memory) noexcept {
  if (const CUresult r = driver.cuMemMap(at, bytes, 0, memory, 0); r != CUDA_SUCCESS) return r;
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const CUresult r = driver.cuMemSetAccess(at, bytes, &access, 1);
  if (r != CUDA_SUCCESS) driver.cuMemUnmap(at, bytes);
  return r;
}

}  // namespace

// RANGE_START_ADDR would be that of the reservation, which may hold many chunks. The block is the
// physical memory: a chunk that is mapped anew at its address has another one.
bool describe_chunk(CUdeviceptr address, unsigned long long handle_types,
                    pointer_info& out) noexcept {
  CUmemoryPool pool = nullptr;
  if (!(handle_types & by_file) || !ask(pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address) || pool)
    return false;
  chunk found;
  if (!look(address, found)) return false;
  out.base = found.base;
  out.bytes = found.bytes;
  out.generation = found.block | chunk_mark;
  out.exportable = out.is_chunk = true;
  return true;
}

bool chunk_is_there(const pointer_info& e, CUdeviceptr address) noexcept {
  chunk found;
  return look(address, found) && (found.block | chunk_mark) == e.generation &&
         found.base == e.base && found.bytes == e.bytes;
}

cudaError_t cuda_rt::descriptor_get(int* file, const pointer_info& info) noexcept {
  CUmemGenericAllocationHandle memory = 0;
  const auto base = reinterpret_cast<void*>(info.base);
  if (const CUresult r = driver.cuMemRetainAllocationHandle(&memory, base); r != CUDA_SUCCESS)
    return refused(r);
  const CUresult exported = driver.cuMemExportToShareableHandle(file, memory, by_file, 0);
  driver.cuMemRelease(memory);
  return refused(exported);
}

cudaError_t cuda_rt::descriptor_open(void** address, int device, int file,
                                     std::size_t bytes) noexcept {
  CUmemGenericAllocationHandle memory = 0;
  const auto number = reinterpret_cast<void*>(static_cast<std::uintptr_t>(file));
  CUresult r = driver.cuMemImportFromShareableHandle(&memory, number, by_file);
  if (r != CUDA_SUCCESS) return refused(r);
  CUdeviceptr at = 0;
  r = driver.cuMemAddressReserve(&at, bytes, 0, 0, 0);
  if (r == CUDA_SUCCESS) {
    r = map_at(at, bytes, device, memory);
    if (r != CUDA_SUCCESS) driver.cuMemAddressFree(at, bytes);
  }
  driver.cuMemRelease(memory);  // the mapping keeps it
  *address = reinterpret_cast<void*>(at);
  return refused(r);
}

cudaError_t cuda_rt::descriptor_close(void* address, std::size_t bytes) noexcept {
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  const CUresult r = driver.cuMemUnmap(at, bytes);
  return runtime_error(r == CUDA_SUCCESS ? driver.cuMemAddressFree(at, bytes) : r);
}

}  // namespace telpher::device::cuda
