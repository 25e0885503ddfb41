// SPDX-License-Identifier: BSD-3-Clause
// The C API of telpher.h on top of the device interface: memory of the active back end, synchronous
// copies and fills, and the kind of an address. Nothing here is on the path of a message.
// Invariant: an address from telpher_malloc has exactly one record until telpher_free, and the
// record alone decides which function releases it.
#include "api/api.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/lasting.hpp"
#include "base/log.hpp"
#include "device/registry.hpp"
#include "memory/allocations.hpp"
#include "memory/memory.hpp"

namespace {

using telpher::result;
using telpher::status;
using telpher::api::current_device;
using telpher::api::error_code;
using telpher::device::active_backend;
using telpher::device::backend;
using telpher::device::memory_kind;
using telpher::device::pointer_info;
using telpher::device::stream;

std::span<backend* const> opened_backends() {
  telpher::device::discover();
  return telpher::device::backends();
}

// --- devices ---

// The rank's number on its node, as launchers set it before MPI_Init; 0 if none does.
int local_rank() {
  static constexpr const char* launcher_variables[] = {
      "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",   "MV2_COMM_WORLD_LOCAL_RANK",
      "MVP_COMM_WORLD_LOCAL_RANK",  "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID",
      "JSM_NAMESPACE_LOCAL_RANK",   "SLURM_LOCALID"};
  for (const char* name : launcher_variables) {
    const char* text = std::getenv(name);
    if (!text || !*text) continue;
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*end == '\0' && value >= 0 && value <= INT32_MAX) return static_cast<int>(value);
  }
  return 0;
}

thread_local int chosen_device = -1;

}  // namespace

int telpher::api::current_device(int count) {
  if (chosen_device >= 0 && chosen_device < count) return chosen_device;
  static const int rank = local_rank();
  return rank % count;
}

namespace {

// --- allocations ---

struct allocation {
  memory_kind kind;
  backend* owner;
  int device;
};

// Never destroyed: a program may free device memory from its own static destructors.
struct allocation_table {
  std::mutex mutex;
  std::unordered_map<void*, allocation> records;
};

allocation_table& allocations() {
  static auto* table = new allocation_table;
  return *table;
}

result<void*> allocate(const allocation& a, std::size_t bytes) {
  switch (a.kind) {
    case memory_kind::device:
      return a.owner->allocate(a.device, bytes);
    case memory_kind::pinned:
      return a.owner->allocate_pinned(bytes);
    case memory_kind::managed:
      return a.owner->allocate_managed(bytes);
    case memory_kind::host:
      break;
  }
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (bytes > SIZE_MAX - page) return status::out_of_memory;
  void* address = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  if (!address) return status::out_of_memory;
  return address;
}

status release(const allocation& a, void* address) {
  switch (a.kind) {
    case memory_kind::device:
      return a.owner->release(a.device, address);
    case memory_kind::pinned:
      return a.owner->release_pinned(address);
    case memory_kind::managed:
      return a.owner->release_managed(address);
    case memory_kind::host:
      break;
  }
  std::free(address);
  return status::ok;
}

// --- copies ---

// Where a copy or fill runs; a null owner means on the CPU.
struct place {
  backend* owner = nullptr;
  int device = -1;
};

status find_place(const void* address, pointer_info& info, backend*& owner) {
  owner = nullptr;
  for (backend* b : opened_backends()) {
    if (!b->started()) continue;
    TELPHER_TRY(b->classify(address, false, info));
    if (info.kind != memory_kind::host) {
      telpher::memory::settle(*b, info);
      owner = b;
      return status::ok;
    }
  }
  info = {};
  return status::ok;
}

// The device that must do the work for an address. None if the CPU may access the memory and no
// device can be using it without the CPU knowing.
status worker_of(const void* address, place& out) {
  pointer_info info;
  backend* owner = nullptr;
  TELPHER_TRY(find_place(address, info, owner));
  if (info.kind == memory_kind::device || info.kind == memory_kind::managed)
    out = {owner, std::max<int>(info.device, 0)};
  return status::ok;
}

// One stream per device, created at first use and never destroyed.
status stream_of(const place& p, stream& out) {
  struct entry {
    place at;
    stream work;
  };
  static constinit std::mutex mutex;
  static constinit telpher::lasting<std::vector<entry>> streams;
  std::lock_guard lock(mutex);
  for (const entry& e : *streams) {
    if (e.at.owner != p.owner || e.at.device != p.device) continue;
    out = e.work;
    return status::ok;
  }
  auto made = p.owner->create_stream(p.device);
  TELPHER_TRY(made);
  out = *made;
  streams->push_back({p, out});
  return status::ok;
}

status copy(void* to, const void* from, std::size_t bytes) {
  place target, source;
  TELPHER_TRY(worker_of(to, target));
  TELPHER_TRY(worker_of(from, source));
  if (!target.owner && !source.owner) {
    std::memmove(to, from, bytes);
    return status::ok;
  }
  // Memory of two vendors: no runtime knows both addresses.
  if (target.owner && source.owner && target.owner != source.owner) return status::not_supported;
  const place worker = target.owner ? target : source;
  stream work;
  TELPHER_TRY(stream_of(worker, work));
  TELPHER_TRY(worker.owner->copy(to, from, bytes, work));
  return worker.owner->synchronise(work);
}

status fill(void* to, int byte, std::size_t bytes) {
  place worker;
  TELPHER_TRY(worker_of(to, worker));
  if (!worker.owner) {
    std::memset(to, byte, bytes);
    return status::ok;
  }
  stream work;
  TELPHER_TRY(stream_of(worker, work));
  TELPHER_TRY(worker.owner->fill(to, byte, bytes, work));
  return worker.owner->synchronise(work);
}

}  // namespace

extern "C" {

int telpher_version(void) {
  return TELPHER_VERSION_MAJOR * 10000 + TELPHER_VERSION_MINOR * 100 + TELPHER_VERSION_PATCH;
}

const char* telpher_error_string(int error) {
  switch (error) {
    case TELPHER_SUCCESS:
      return "success";
    case TELPHER_ERR_ARGUMENT:
      return "invalid argument";
    case TELPHER_ERR_NO_DEVICE:
      return "no device back end is active; 'telpher info' says why";
    case TELPHER_ERR_MEMORY:
      return "out of memory";
    case TELPHER_ERR_DEVICE:
      return "the device's runtime failed; the log has its text";
    case TELPHER_ERR_UNSUPPORTED:
      return "not supported by the active back end";
  }
  return "unknown error code";
}

const char* telpher_backend(void) {
  const backend* b = active_backend();
  return b ? b->name() : "none";
}

int telpher_device_count(void) {
  backend* b = active_backend();
  return b ? b->device_count() : 0;
}

int telpher_choose_backend(const char* name) {
  if (!name) return TELPHER_ERR_ARGUMENT;
  return telpher::device::choose_backend(name) ? TELPHER_SUCCESS : TELPHER_ERR_NO_DEVICE;
}

int telpher_set_device(int device) {
  const int count = telpher_device_count();
  if (count == 0) return TELPHER_ERR_NO_DEVICE;
  if (device < 0 || device >= count) return TELPHER_ERR_ARGUMENT;
  chosen_device = device;
  return TELPHER_SUCCESS;
}

int telpher_get_device(int* device) {
  if (!device) return TELPHER_ERR_ARGUMENT;
  const int count = telpher_device_count();
  if (count == 0) return TELPHER_ERR_NO_DEVICE;
  *device = current_device(count);
  return TELPHER_SUCCESS;
}

// 0 bytes give the null address, which telpher_free accepts.
int telpher_malloc(void** address, size_t bytes, enum telpher_memory kind) {
  if (!address || kind < TELPHER_MEMORY_HOST || kind > TELPHER_MEMORY_DEVICE)
    return TELPHER_ERR_ARGUMENT;
  *address = nullptr;
  if (bytes == 0) return TELPHER_SUCCESS;
  allocation made{memory_kind::host, nullptr, -1};
  if (kind != TELPHER_MEMORY_HOST) {
    made.owner = active_backend();
    if (!made.owner) return TELPHER_ERR_NO_DEVICE;
    made.device = current_device(made.owner->device_count());
    made.kind = kind == TELPHER_MEMORY_DEVICE    ? memory_kind::device
                : kind == TELPHER_MEMORY_MANAGED ? memory_kind::managed
                                                 : memory_kind::pinned;
  }
  auto memory = allocate(made, bytes);
  if (!memory) return error_code(memory.error());
  std::lock_guard lock(allocations().mutex);
  allocations().records.insert_or_assign(*memory, made);
  *address = *memory;
  return TELPHER_SUCCESS;
}

int telpher_free(void* address) {
  if (!address) return TELPHER_SUCCESS;
  allocation found;
  {
    std::lock_guard lock(allocations().mutex);
    const auto at = allocations().records.find(address);
    if (at == allocations().records.end()) return TELPHER_ERR_ARGUMENT;
    found = at->second;
    // Before the release: the runtime may reuse the address at once.
    allocations().records.erase(at);
  }
  const status released = release(found, address);
  if (found.kind == memory_kind::device) telpher::memory::allocations::instance().look_soon();
  return error_code(released);
}

int telpher_memcpy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return TELPHER_SUCCESS;
  if (!to || !from) return TELPHER_ERR_ARGUMENT;
  return error_code(copy(to, from, bytes));
}

int telpher_memset(void* to, int byte, size_t bytes) {
  if (bytes == 0) return TELPHER_SUCCESS;
  if (!to) return TELPHER_ERR_ARGUMENT;
  return error_code(fill(to, byte, bytes));
}

int telpher_classify(const void* address, enum telpher_memory* kind, int* device) {
  pointer_info info;
  backend* owner = nullptr;
  const status s = find_place(address, info, owner);
  if (s != status::ok) return error_code(s);
  if (kind) {
    switch (info.kind) {
      case memory_kind::host:
        *kind = TELPHER_MEMORY_HOST;
        break;
      case memory_kind::pinned:
        *kind = TELPHER_MEMORY_PINNED;
        break;
      case memory_kind::managed:
        *kind = TELPHER_MEMORY_MANAGED;
        break;
      case memory_kind::device:
        *kind = TELPHER_MEMORY_DEVICE;
        break;
    }
  }
  if (device) *device = info.kind == memory_kind::device ? info.device : -1;
  return TELPHER_SUCCESS;
}

int telpher_kernel_address(void* address, void** for_kernels) {
  if (!for_kernels) return TELPHER_ERR_ARGUMENT;
  pointer_info info;
  backend* owner = nullptr;
  const status s = find_place(address, info, owner);
  if (s != status::ok) return error_code(s);
  *for_kernels = info.kind == memory_kind::device ? owner->kernel_address(address) : address;
  return TELPHER_SUCCESS;
}

int telpher_register_queue(const void* queue) {
  if (!queue) return TELPHER_ERR_ARGUMENT;
  for (backend* b : opened_backends())
    if (const status s = b->adopt_queue(queue); s != status::not_supported) return error_code(s);
  return opened_backends().empty() ? TELPHER_ERR_NO_DEVICE : TELPHER_ERR_UNSUPPORTED;
}

}  // extern "C"
