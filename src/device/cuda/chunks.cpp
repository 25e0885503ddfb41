// SPDX-License-Identifier: BSD-3-Clause
// Memory that the program mapped itself (virtual memory management), for other processes by POSIX
// file descriptors. An importer's mapping keeps the memory, so the program may unmap it at any
// time.
//
// Allocations of shareable pools (cuMemPoolExportPointer) are not imported. An importer must free
// its pointer before the exporter frees the allocation, and the program frees at any time, in a
// stream's order, without this library's being told. So imports could not be kept between messages.
#include <cstdint>
#include <iterator>
#include <span>

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

// On an H200 the three together take 0.10 us, as one of them.
bool look(CUdeviceptr address, chunk& found) noexcept {
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID,
                                 CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR,
                                 CU_POINTER_ATTRIBUTE_MAPPING_SIZE};
  void* answers[] = {&found.block, &found.base, &found.bytes};
  return driver.cuPointerGetAttributes(std::size(asked), asked, answers, address) == CUDA_SUCCESS &&
         found.block != 0;
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

// Each mapping is unmapped by a call of its own: CUDA's documentation speaks of the range of one.
CUresult unmap_all(CUdeviceptr at, chunk_sizes bytes) noexcept {
  CUresult all = CUDA_SUCCESS;
  for (const std::size_t one : bytes) {
    const CUresult r = driver.cuMemUnmap(at, one);
    if (all == CUDA_SUCCESS) all = r;
    at += one;
  }
  return all;
}

CUresult map_one(CUdeviceptr at, int file, std::size_t bytes) noexcept {
  CUmemGenericAllocationHandle memory = 0;
  const auto number = reinterpret_cast<void*>(static_cast<std::uintptr_t>(file));
  CUresult r = driver.cuMemImportFromShareableHandle(&memory, number, by_file);
  if (r != CUDA_SUCCESS) return r;
  r = driver.cuMemMap(at, bytes, 0, memory, 0);
  driver.cuMemRelease(memory);  // the mapping keeps it
  return r;
}

// Side by side from `at` on; where one fails, none stays.
CUresult map_all(CUdeviceptr at, int device, std::span<const int> files,
                 chunk_sizes bytes) noexcept {
  CUdeviceptr end = at;
  CUresult r = CUDA_SUCCESS;
  std::size_t mapped = 0;
  for (; mapped < files.size() && r == CUDA_SUCCESS; ++mapped) {
    r = map_one(end, files[mapped], bytes[mapped]);
    end += bytes[mapped];
  }
  if (r != CUDA_SUCCESS) {
    unmap_all(at, bytes.first(mapped - 1));
    return r;
  }
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  r = driver.cuMemSetAccess(at, end - at, &access, 1);
  if (r != CUDA_SUCCESS) unmap_all(at, bytes);
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

// Sizes are multiples of the memory's granularity, as cuMemMap wants it. So chunks side by side
// begin where a chunk may.
cudaError_t cuda_rt::descriptors_open(void** address, int device, std::span<const int> files,
                                      chunk_sizes bytes) noexcept {
  CUdeviceptr at = 0;
  const std::size_t all = sum_of(bytes);
  CUresult r = driver.cuMemAddressReserve(&at, all, 0, 0, 0);
  if (r != CUDA_SUCCESS) return refused(r);
  r = map_all(at, device, files, bytes);
  if (r != CUDA_SUCCESS) driver.cuMemAddressFree(at, all);
  *address = reinterpret_cast<void*>(at);
  return refused(r);
}

cudaError_t cuda_rt::descriptors_close(void* address, chunk_sizes bytes) noexcept {
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  const CUresult r = unmap_all(at, bytes);
  return runtime_error(r == CUDA_SUCCESS ? driver.cuMemAddressFree(at, sum_of(bytes)) : r);
}

}  // namespace telpher::device::cuda
