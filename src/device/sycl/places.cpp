// SPDX-License-Identifier: BSD-3-Clause
#include "device/sycl/places.hpp"

#include <dirent.h>
#include <link.h>
#include <pthread.h>

#include <sycl/platform.hpp>
#include <sycl/usm.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/library.hpp"
#include "base/settings.hpp"
#include "device/sycl/guarded.hpp"

namespace telpher::device::sycl {
namespace {

std::atomic<bool> forked{false};  // contexts and queues do not survive a fork

// Drivers that SYCL loads when it first looks for devices, not earlier.
constexpr const char* drivers[] = {"libur_adapter_level_zero.so.0",
                                   "libur_adapter_level_zero_v2.so.0", "libur_adapter_opencl.so.0",
                                   "libOpenCL.so.1"};

// How many libraries were ever loaded. Searching by name is needed only after this has changed.
unsigned long long libraries_loaded() noexcept {
  unsigned long long loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;
      },
      &loaded);
  return loaded;
}

// The libraries that were there at the last look, at whose end alone they count as seen: a thread
// that comes meanwhile looks, too.
std::atomic<unsigned long long> seen_libraries{0};

bool a_driver_is_loaded() noexcept {
  return std::any_of(std::begin(drivers), std::end(drivers),
                     [](const char* name) { return bool(library::already_open(name)); });
}

int intel_gpus() noexcept {
  const std::string folder = "/sys/class/drm/";
  DIR* listing = ::opendir(folder.c_str());
  if (!listing) return 0;
  int found = 0;
  while (const dirent* entry = ::readdir(listing)) {
    if (std::strncmp(entry->d_name, "renderD", 7) != 0) continue;
    std::FILE* file = std::fopen((folder + entry->d_name + "/device/vendor").c_str(), "re");
    if (!file) continue;
    unsigned vendor_id = 0;
    found += std::fscanf(file, "%x", &vendor_id) == 1 && vendor_id == 0x8086;
    std::fclose(file);
  }
  ::closedir(listing);
  return found;
}

// The name since oneAPI 2025.1, or the older one.
template <class Platform>
::sycl::context default_context(const Platform& p) {
  if constexpr (requires { p.khr_get_default_context(); })
    return p.khr_get_default_context();
  else
    return p.ext_oneapi_get_default_context();
}

// An Intel GPU appears under Level Zero and under OpenCL; Level Zero is used. CPU devices are used
// only if there is no GPU.
std::vector<::sycl::device> chosen_devices() {
  std::vector<::sycl::device> best;
  int best_rank = 0;
  for (const ::sycl::device& d : ::sycl::device::get_devices()) {
    int rank = 0;
    if (d.is_gpu())
      rank = d.get_backend() == ::sycl::backend::ext_oneapi_level_zero ? 3 : 2;
    else if (d.is_cpu())
      rank = 1;
    if (rank == 0 || rank < best_rank || !d.has(::sycl::aspect::usm_device_allocations)) continue;
    if (rank > best_rank) best.clear();
    best_rank = rank;
    best.push_back(d);
  }
  return best;
}

// A device of several tiles spreads an allocation over them, and Level Zero's handle covers the
// part on one tile only. Such memory is staged. Compiled, but not run.
bool has_whole_handles(const ::sycl::device& d) {
  return d.has(::sycl::aspect::ext_oneapi_ipc_memory) &&
         d.get_info<::sycl::info::device::partition_max_sub_devices>() <= 1;
}

}  // namespace

places& places::instance() noexcept {
  static auto* one = new places;  // never destroyed: used until the process ends
  return *one;
}

bool places::started() noexcept {
  if (forked.load(std::memory_order_relaxed)) return false;
  if (started_.load(std::memory_order_acquire)) [[likely]]
    return true;
  const unsigned long long loaded = libraries_loaded();
  if (seen_libraries.load(std::memory_order_acquire) == loaded) return false;
  const bool starts = a_driver_is_loaded() && start() == status::ok;
  seen_libraries.store(loaded, std::memory_order_release);
  return starts;
}

status places::start() noexcept {
  if (forked.load()) return status::device_error;
  if (started_.load(std::memory_order_acquire)) return status::ok;
  std::lock_guard lock(mutex_);
  if (started_.load()) return status::ok;
  const status s = guarded("device list", [&] {
    list_default_devices();
    return count_.load() > 0 ? status::ok : status::not_supported;
  });
  if (s == status::ok) {
    ::pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
    started_.store(true, std::memory_order_release);
  } else {
    count_.store(0);
  }
  return s;
}

status places::adopt(const ::sycl::queue& queue) noexcept {
  TELPHER_TRY(start());
  std::lock_guard lock(mutex_);
  return guarded("queue registration", [&] {
    const ::sycl::context context = queue.get_context();
    for (const ::sycl::device& d : context.get_devices())
      if (number_of(context, d) < 0) add(context, d);
    if (number_of(context, queue.get_device()) >= 0) return status::ok;
    TELPHER_ERROR("more than %d devices and contexts: the queue is not registered", capacity);
    return status::out_of_memory;
  });
}

int places::count() noexcept {
  if (started()) return count_.load(std::memory_order_acquire);
  // If the user names SYCL, it has at least the CPU device; asking would start the runtime.
  return std::max(intel_gpus(), config().backend == "sycl" ? 1 : 0);
}

const place& places::at(int device) const {
  if (device < 0 || device >= count_.load(std::memory_order_acquire))
    throw std::out_of_range("no such device");
  return *entries_[device];
}

const place* places::look_up(const void* address, pointer_info& out) {
  const int count = count_.load(std::memory_order_acquire);
  const ::sycl::context* asked = nullptr;
  for (int i = 0; i < count; ++i) {
    const place& p = *entries_[i];
    if (asked && *asked == p.context) continue;  // devices of one context are adjacent
    asked = &p.context;
    const ::sycl::usm::alloc kind = ::sycl::get_pointer_type(address, p.context);
    if (kind == ::sycl::usm::alloc::unknown) continue;
    const bool shared_is_device = config().sycl_shared == "device";
    out.owner = vendor::sycl;
    out.kind = kind == ::sycl::usm::alloc::device ? memory_kind::device
               : kind == ::sycl::usm::alloc::host ? memory_kind::pinned
               : shared_is_device                 ? memory_kind::device
                                                  : memory_kind::managed;
    int number = i;
    if (kind != ::sycl::usm::alloc::host && i + 1 < count && entries_[i + 1]->context == p.context)
      number = std::max(i, number_of(p.context, ::sycl::get_pointer_device(address, p.context)));
    out.device = static_cast<std::int16_t>(number);
    return entries_[number];
  }
  return nullptr;
}

void places::list_default_devices() {
  for (const ::sycl::device& d : chosen_devices()) add(default_context(d.get_platform()), d);
}

void places::add(const ::sycl::context& context, const ::sycl::device& device) {
  const int n = count_.load();
  if (n == capacity) return;
  const bool registers =
      device.is_cpu() || device.has(::sycl::aspect::ext_oneapi_register_host_memory);
  entries_[n] =
      new place{context, device, native_context(context), has_whole_handles(device), registers};
  if (device.is_cpu()) cpu_.store(true);
  if (n > 0 && entries_[0]->context != context) several_.store(true);
  count_.store(n + 1, std::memory_order_release);
}

// Memory of a tile counts as memory of the whole device, unless the tile itself is listed.
int places::number_of(const ::sycl::context& context, ::sycl::device device) const {
  const int count = count_.load();
  for (;;) {
    for (int i = 0; i < count; ++i)
      if (entries_[i]->device == device && entries_[i]->context == context) return i;
    if (device.get_info<::sycl::info::device::partition_type_property>() ==
        ::sycl::info::partition_property::no_partition)
      return -1;
    device = device.get_info<::sycl::info::device::parent_device>();
  }
}

}  // namespace telpher::device::sycl
