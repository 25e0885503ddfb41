// SPDX-License-Identifier: BSD-3-Clause
// The few driver calls that the programs need. They are declared here because the portable build
// has no CUDA headers. Types and values are those of the driver's binary interface, unchanged since
// CUDA 11.2.
#include "cuda_memory.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cuda_types.hpp"

namespace telpher::bench {

namespace {

using device_address = unsigned long long;

using cuda_types::access_description, cuda_types::allocation_properties;

constexpr int device_location = 1;
constexpr unsigned attach_global = 1;
constexpr unsigned host_portable = 1;
constexpr int read_write = 3;

#define CUDA_CALLS(CALL)                                                                          \
  CALL(init, "cuInit", unsigned)                                                                  \
  CALL(device_get_count, "cuDeviceGetCount", int*)                                                \
  CALL(device_get, "cuDeviceGet", int*, int)                                                      \
  CALL(device_get_name, "cuDeviceGetName", char*, int, int)                                       \
  CALL(retain_context, "cuDevicePrimaryCtxRetain", void**, int)                                   \
  CALL(set_context, "cuCtxSetCurrent", void*)                                                     \
  CALL(error_name, "cuGetErrorName", int, const char**)                                           \
  CALL(stream_synchronize, "cuStreamSynchronize", void*)                                          \
  CALL(copy, "cuMemcpy", device_address, device_address, std::size_t)                             \
  CALL(malloc, "cuMemAlloc_v2", device_address*, std::size_t)                                     \
  CALL(free, "cuMemFree_v2", device_address)                                                      \
  CALL(malloc_managed, "cuMemAllocManaged", device_address*, std::size_t, unsigned)               \
  CALL(malloc_host, "cuMemHostAlloc", void**, std::size_t, unsigned)                              \
  CALL(free_host, "cuMemFreeHost", void*)                                                         \
  CALL(malloc_async, "cuMemAllocAsync", device_address*, std::size_t, void*)                      \
  CALL(free_async, "cuMemFreeAsync", device_address, void*)                                       \
  CALL(granularity, "cuMemGetAllocationGranularity", std::size_t*, const allocation_properties*,  \
       int)                                                                                       \
  CALL(create, "cuMemCreate", unsigned long long*, std::size_t, const allocation_properties*,     \
       unsigned long long)                                                                        \
  CALL(reserve, "cuMemAddressReserve", device_address*, std::size_t, std::size_t, device_address, \
       unsigned long long)                                                                        \
  CALL(map, "cuMemMap", device_address, std::size_t, std::size_t, unsigned long long,             \
       unsigned long long)                                                                        \
  CALL(set_access, "cuMemSetAccess", device_address, std::size_t, const access_description*,      \
       std::size_t)                                                                               \
  CALL(unmap, "cuMemUnmap", device_address, std::size_t)                                          \
  CALL(release_handle, "cuMemRelease", unsigned long long)                                        \
  CALL(free_range, "cuMemAddressFree", device_address, std::size_t)

struct driver {
#define CALL(name, symbol, ...) int (*name)(__VA_ARGS__) = nullptr;
  CUDA_CALLS(CALL)
#undef CALL
  int devices = 0;
  std::string problem;

  driver() {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      problem = "no CUDA driver (libcuda.so.1)";
      return;
    }
#define CALL(name, symbol, ...)                                                   \
  if (!(name = reinterpret_cast<int (*)(__VA_ARGS__)>(::dlsym(library, symbol)))) \
    problem = "the CUDA driver is too old: it has no " symbol;
    CUDA_CALLS(CALL)
#undef CALL
    if (problem.empty() && (init(0) != 0 || device_get_count(&devices) != 0 || devices == 0))
      problem = "the CUDA driver shows no device";
  }
};

driver& cuda() {
  static driver instance;
  return instance;
}

void check(int error, const char* call) {
  if (!error) return;
  const char* name = nullptr;
  cuda().error_name(error, &name);
  fail("%s: %s", call, name ? name : "unknown CUDA error");
}

void* pointer(device_address a) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(a));
}
device_address address_of(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p);
}

class cuda_memory final : public memory_source {
 public:
  explicit cuda_memory(std::string allocation) : allocation_(std::move(allocation)) {
    choose_device(0);
  }

  void* allocate(kind k, std::size_t bytes) override {
    if (k == kind::host) return ::operator new(bytes, std::align_val_t(4096));
    if (k == kind::pinned) {
      void* host = nullptr;
      check(cuda().malloc_host(&host, bytes, host_portable), "cuMemHostAlloc");
      return host;
    }
    device_address made = 0;
    if (k == kind::managed)
      check(cuda().malloc_managed(&made, bytes, attach_global), "cuMemAllocManaged");
    else if (allocation_ == "async") {
      check(cuda().malloc_async(&made, bytes, nullptr), "cuMemAllocAsync");
      wait();
    } else if (allocation_ == "malloc")
      check(cuda().malloc(&made, bytes), "cuMemAlloc");
    else
      made = allocate_mapped(bytes);
    return pointer(made);
  }

  void release(kind k, void* address) override {
    if (k == kind::host)
      ::operator delete(address, std::align_val_t(4096));
    else if (k == kind::pinned)
      check(cuda().free_host(address), "cuMemFreeHost");
    else if (k == kind::device && mapped_.count(address))
      release_mapped(address);
    else if (k == kind::device && allocation_ == "async")
      check(cuda().free_async(address_of(address), nullptr), "cuMemFreeAsync");
    else
      check(cuda().free(address_of(address)), "cuMemFree");
  }

  void copy(void* to, const void* from, std::size_t bytes) override {
    check(cuda().copy(address_of(to), address_of(from), bytes), "cuMemcpy");
  }
  void wait() override { check(cuda().stream_synchronize(nullptr), "cuStreamSynchronize"); }

  void choose_device(int device) override {
    if (device < 0 || device >= cuda().devices)
      fail("there is no CUDA device %d; this process sees %d", device, cuda().devices);
    int ordinal = 0;
    void* context = nullptr;
    check(cuda().device_get(&ordinal, device), "cuDeviceGet");
    check(cuda().retain_context(&context, ordinal), "cuDevicePrimaryCtxRetain");
    check(cuda().set_context(context), "cuCtxSetCurrent");
    device_ = device;
  }
  int device() override { return device_; }
  int device_count() override { return cuda().devices; }
  std::string backend() override { return "cuda"; }
  std::string copy_call() override { return "cuMemcpy"; }

 private:
  struct mapping {
    std::size_t bytes;
    std::size_t piece_bytes;
    std::vector<unsigned long long> handles;
  };

  device_address allocate_mapped(std::size_t bytes) {
    allocation_properties wanted{};
    wanted.type = 1;
    wanted.handle_types = allocation_ == "vmm" ? 0 : 1;
    wanted.where = {device_location, device_};
    std::size_t unit = 0;
    check(cuda().granularity(&unit, &wanted, 0), "cuMemGetAllocationGranularity");
    const std::size_t whole = (bytes + unit - 1) / unit * unit;
    mapping made{whole, allocation_ == "vmm-fd-pieces" ? unit : whole, {}};
    device_address at = 0;
    check(cuda().reserve(&at, made.bytes, 0, 0, 0), "cuMemAddressReserve");
    for (std::size_t done = 0; done < made.bytes; done += made.piece_bytes) {
      unsigned long long& handle = made.handles.emplace_back();
      check(cuda().create(&handle, made.piece_bytes, &wanted, 0), "cuMemCreate");
      check(cuda().map(at + done, made.piece_bytes, 0, handle, 0), "cuMemMap");
    }
    const access_description access{{device_location, device_}, read_write};
    check(cuda().set_access(at, made.bytes, &access, 1), "cuMemSetAccess");
    mapped_.emplace(pointer(at), std::move(made));
    return at;
  }

  void release_mapped(void* address) {
    const mapping made = mapped_.at(address);
    mapped_.erase(address);
    for (std::size_t n = 0; n < made.handles.size(); ++n) {
      check(cuda().unmap(address_of(address) + n * made.piece_bytes, made.piece_bytes),
            "cuMemUnmap");
      check(cuda().release_handle(made.handles[n]), "cuMemRelease");
    }
    check(cuda().free_range(address_of(address), made.bytes), "cuMemAddressFree");
  }

  std::string allocation_;
  int device_ = 0;
  std::unordered_map<void*, mapping> mapped_;
};

}  // namespace

std::unique_ptr<memory_source> open_cuda_memory(const std::string& allocation, std::string& why) {
  why = cuda().problem;
  if (!why.empty()) return nullptr;
  return std::make_unique<cuda_memory>(allocation);
}

void use_cuda_device(int device) {
  int ordinal = 0;
  void* context = nullptr;
  if (!cuda().problem.empty() || cuda().device_get(&ordinal, device) != 0) return;
  if (cuda().retain_context(&context, ordinal) == 0) cuda().set_context(context);
}

std::string cuda_device_name(int device) {
  if (!cuda().problem.empty()) return "";
  int ordinal = 0;
  char name[128] = "";
  if (cuda().device_get(&ordinal, device) != 0) return "";
  if (cuda().device_get_name(name, sizeof name, ordinal) != 0) return "";
  return name;
}

}  // namespace telpher::bench
