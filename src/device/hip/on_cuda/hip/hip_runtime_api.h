// SPDX-License-Identifier: BSD-3-Clause
// HIP's host interface on NVIDIA's hardware, as far as src/device/hip and the kernels use it. Types
// are CUDA's own; each function calls the CUDA runtime function with the same meaning. With
// TELPHER_HIP_ON_CUDA this file is found in place of HIP's header. So the sources of the HIP back
// end can run without an AMD GPU.
#ifndef TELPHER_HIP_ON_CUDA_RUNTIME_API_H
#define TELPHER_HIP_ON_CUDA_RUNTIME_API_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

// --- types ---
using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
using hipEvent_t = cudaEvent_t;
using hipDevice_t = int;
using hipUUID = cudaUUID_t;
using hipIpcMemHandle_t = cudaIpcMemHandle_t;
using hipFuncAttributes = cudaFuncAttributes;
using hipStreamCaptureMode = cudaStreamCaptureMode;
using hipMemcpyKind = cudaMemcpyKind;
using hipDeviceAttribute_t = cudaDeviceAttr;
using hipPointer_attribute = CUpointer_attribute;
using hipGraph_t = cudaGraph_t;
using hipUserObject_t = cudaUserObject_t;

// --- values ---
constexpr hipError_t hipSuccess = cudaSuccess;
constexpr hipError_t hipErrorNotReady = cudaErrorNotReady;
constexpr hipError_t hipErrorNotSupported = cudaErrorNotSupported;
constexpr hipError_t hipErrorStreamCaptureInvalidated = cudaErrorStreamCaptureInvalidated;
constexpr hipError_t hipErrorOutOfMemory = cudaErrorMemoryAllocation;
constexpr hipError_t hipErrorInvalidValue = cudaErrorInvalidValue;
constexpr hipError_t hipErrorInvalidDevice = cudaErrorInvalidDevice;
constexpr hipError_t hipErrorInvalidDevicePointer = cudaErrorInvalidDevicePointer;
constexpr hipError_t hipErrorInvalidContext = cudaErrorDeviceUninitialized;
constexpr hipError_t hipErrorInvalidHandle = cudaErrorInvalidResourceHandle;
constexpr hipError_t hipErrorMapBufferObjectFailed = cudaErrorMapBufferObjectFailed;
constexpr hipError_t hipErrorAlreadyMapped = cudaErrorAlreadyMapped;
constexpr hipError_t hipErrorPeerAccessUnsupported = cudaErrorPeerAccessUnsupported;

constexpr auto hipStreamCaptureModeRelaxed = cudaStreamCaptureModeRelaxed;
constexpr auto hipMemcpyDefault = cudaMemcpyDefault;
using hipStreamCaptureStatus = cudaStreamCaptureStatus;
constexpr auto hipStreamCaptureStatusNone = cudaStreamCaptureStatusNone;
constexpr auto hipStreamCaptureStatusActive = cudaStreamCaptureStatusActive;
constexpr auto hipStreamCaptureStatusInvalidated = cudaStreamCaptureStatusInvalidated;
constexpr unsigned hipUserObjectNoDestructorSync = cudaUserObjectNoDestructorSync;
constexpr unsigned hipGraphUserObjectMove = cudaGraphUserObjectMove;
constexpr hipError_t hipErrorStreamCaptureImplicit = cudaErrorStreamCaptureImplicit;
#define hipStreamPerThread cudaStreamPerThread
constexpr unsigned hipStreamWaitValueGte = CU_STREAM_WAIT_VALUE_GEQ;
constexpr unsigned hipStreamNonBlocking = cudaStreamNonBlocking;
constexpr unsigned hipEventDisableTiming = cudaEventDisableTiming;
constexpr unsigned hipHostMallocPortable = cudaHostAllocPortable;
constexpr unsigned hipHostMallocMapped = cudaHostAllocMapped;
constexpr unsigned hipHostMallocCoherent = 0;  // the only kind that CUDA has
constexpr unsigned hipHostRegisterPortable = cudaHostRegisterPortable;
constexpr unsigned hipHostRegisterMapped = cudaHostRegisterMapped;
constexpr unsigned hipMemAttachGlobal = cudaMemAttachGlobal;
constexpr unsigned hipIpcMemLazyEnablePeerAccess = cudaIpcMemLazyEnablePeerAccess;

constexpr auto hipDeviceAttributeMultiprocessorCount = cudaDevAttrMultiProcessorCount;
constexpr auto hipDeviceAttributePciDomainID = cudaDevAttrPciDomainId;
constexpr auto hipDeviceAttributePciBusId = cudaDevAttrPciBusId;
constexpr auto hipDeviceAttributePciDeviceId = cudaDevAttrPciDeviceId;

// Values of the pointer attribute HIP_POINTER_ATTRIBUTE_MEMORY_TYPE.
constexpr unsigned hipMemoryTypeDevice = CU_MEMORYTYPE_DEVICE;
constexpr unsigned hipMemoryTypeUnified = CU_MEMORYTYPE_UNIFIED;
constexpr auto HIP_POINTER_ATTRIBUTE_MEMORY_TYPE = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
constexpr auto HIP_POINTER_ATTRIBUTE_IS_MANAGED = CU_POINTER_ATTRIBUTE_IS_MANAGED;
constexpr auto HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL = CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
constexpr auto HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR = CU_POINTER_ATTRIBUTE_RANGE_START_ADDR;
constexpr auto HIP_POINTER_ATTRIBUTE_RANGE_SIZE = CU_POINTER_ATTRIBUTE_RANGE_SIZE;
constexpr auto HIP_POINTER_ATTRIBUTE_BUFFER_ID = CU_POINTER_ATTRIBUTE_BUFFER_ID;

using hipMemRangeAttribute = cudaMemRangeAttribute;
constexpr auto hipMemRangeAttributeLastPrefetchLocation = cudaMemRangeAttributeLastPrefetchLocation;
constexpr auto hipMemRangeAttributePreferredLocation = cudaMemRangeAttributePreferredLocation;
constexpr int hipInvalidDeviceId = cudaInvalidDeviceId;
inline hipError_t hipMemRangeGetAttribute(void* data, std::size_t bytes, hipMemRangeAttribute asked,
                                          const void* address, std::size_t count) {
  return cudaMemRangeGetAttribute(data, bytes, asked, address, count);
}

// --- errors, devices ---
inline const char* hipGetErrorString(hipError_t e) {
  return cudaGetErrorString(e);
}
inline hipError_t hipGetLastError() {
  return cudaGetLastError();
}
inline hipError_t hipPeekAtLastError() {
  return cudaPeekAtLastError();
}
inline hipError_t hipGetDeviceCount(int* count) {
  return cudaGetDeviceCount(count);
}
inline hipError_t hipGetDevice(int* device) {
  return cudaGetDevice(device);
}
inline hipError_t hipSetDevice(int device) {
  return cudaSetDevice(device);
}
inline hipError_t hipDeviceGet(hipDevice_t* handle, int device) {
  *handle = device;
  return cudaSuccess;
}
inline hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  cudaDeviceProp properties;
  const cudaError_t e = cudaGetDeviceProperties(&properties, device);
  if (e == cudaSuccess) *uuid = properties.uuid;
  return e;
}
inline hipError_t hipDeviceGetName(char* name, int room, hipDevice_t device) {
  cudaDeviceProp properties;
  const cudaError_t e = cudaGetDeviceProperties(&properties, device);
  if (e == cudaSuccess)
    std::snprintf(name, static_cast<std::size_t>(room), "%.*s", room - 1, properties.name);
  return e;
}
inline hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t device) {
  cudaDeviceProp properties;
  const cudaError_t e = cudaGetDeviceProperties(&properties, device);
  if (e == cudaSuccess) *bytes = properties.totalGlobalMem;
  return e;
}
inline hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t which, int device) {
  return cudaDeviceGetAttribute(value, which, device);
}
inline hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return cudaDeviceCanAccessPeer(can, device, peer);
}

// --- memory ---
inline hipError_t hipMalloc(void** address, std::size_t bytes) {
  return cudaMalloc(address, bytes);
}
inline hipError_t hipFree(void* address) {
  return cudaFree(address);
}
inline hipError_t hipHostMalloc(void** address, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(address, bytes, flags);
}
inline hipError_t hipHostFree(void* address) {
  return cudaFreeHost(address);
}
inline hipError_t hipMallocManaged(void** address, std::size_t bytes, unsigned flags) {
  return cudaMallocManaged(address, bytes, flags);
}
inline hipError_t hipHostRegister(void* address, std::size_t bytes, unsigned flags) {
  return cudaHostRegister(address, bytes, flags);
}
inline hipError_t hipHostUnregister(void* address) {
  return cudaHostUnregister(address);
}
inline hipError_t hipHostGetDevicePointer(void** seen, void* address, unsigned flags) {
  return cudaHostGetDevicePointer(seen, address, flags);
}
inline hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* address) {
  return cudaIpcGetMemHandle(handle, address);
}
inline hipError_t hipIpcOpenMemHandle(void** address, hipIpcMemHandle_t handle, unsigned flags) {
  return cudaIpcOpenMemHandle(address, handle, flags);
}
inline hipError_t hipIpcCloseMemHandle(void* address) {
  return cudaIpcCloseMemHandle(address);
}
/// The runtime does not report the extent of an allocation; nvidia.cpp asks the driver.
hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute* asked, void** answers,
                                      void* address);

// --- work ---
inline hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return cudaThreadExchangeStreamCaptureMode(mode);
}
inline hipError_t hipStreamCreateWithFlags(hipStream_t* s, unsigned flags) {
  return cudaStreamCreateWithFlags(s, flags);
}
inline hipError_t hipStreamCreateWithPriority(hipStream_t* s, unsigned flags, int priority) {
  return cudaStreamCreateWithPriority(s, flags, priority);
}
inline hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return cudaDeviceGetStreamPriorityRange(least, greatest);
}
inline hipError_t hipStreamDestroy(hipStream_t s) {
  return cudaStreamDestroy(s);
}
inline hipError_t hipStreamSynchronize(hipStream_t s) {
  return cudaStreamSynchronize(s);
}
inline hipError_t hipStreamIsCapturing(hipStream_t s, hipStreamCaptureStatus* captures) {
  return cudaStreamIsCapturing(s, captures);
}
// Nobody asks for the last node's dependencies, which CUDA 13 tells in another way.
inline hipError_t hipStreamGetCaptureInfo_v2(hipStream_t s, hipStreamCaptureStatus* captures,
                                             unsigned long long* id, hipGraph_t* graph,
                                             std::nullptr_t, std::nullptr_t) {
#if CUDART_VERSION >= 13000
  return cudaStreamGetCaptureInfo(s, captures, id, graph);
#else
  return cudaStreamGetCaptureInfo_v2(s, captures, id, graph);
#endif
}
inline hipError_t hipUserObjectCreate(hipUserObject_t* made, void* object, cudaHostFn_t ended,
                                      unsigned references, unsigned flags) {
  return cudaUserObjectCreate(made, object, ended, references, flags);
}
inline hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object,
                                           unsigned references, unsigned flags) {
  return cudaGraphRetainUserObject(graph, object, references, flags);
}
inline hipError_t hipDeviceSynchronize() {
  return cudaDeviceSynchronize();
}
hipError_t hipStreamWaitValue32(hipStream_t s, void* word, std::uint32_t value, unsigned flags,
                                std::uint32_t mask = 0xffffffff);
hipError_t hipStreamWriteValue32(hipStream_t s, void* word, std::uint32_t value, unsigned flags);
inline hipError_t hipEventCreateWithFlags(hipEvent_t* e, unsigned flags) {
  return cudaEventCreateWithFlags(e, flags);
}
inline hipError_t hipEventDestroy(hipEvent_t e) {
  return cudaEventDestroy(e);
}
inline hipError_t hipEventRecord(hipEvent_t e, hipStream_t s) {
  return cudaEventRecord(e, s);
}
inline hipError_t hipEventQuery(hipEvent_t e) {
  return cudaEventQuery(e);
}
inline hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind,
                                 hipStream_t s) {
  return cudaMemcpyAsync(to, from, bytes, kind, s);
}
inline hipError_t hipMemsetAsync(void* to, int byte, std::size_t bytes, hipStream_t s) {
  return cudaMemsetAsync(to, byte, bytes, s);
}

#endif
