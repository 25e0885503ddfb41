// SPDX-License-Identifier: BSD-3-Clause
#include "toy_rt.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>

#include "device/gpurt/runtime.hpp"
#include "kernel/cpu.hpp"

namespace toy {
namespace {

constexpr std::size_t memory_bytes = std::size_t{256} << 20;
constexpr std::size_t alignment = 4096;

struct block {
  std::size_t bytes;
  std::uint64_t generation;
  device::memory_kind kind;
};

struct memory_map {
  std::mutex mutex;
  std::map<std::uintptr_t, block> blocks;  // by first address
  std::size_t device_bytes = 0;
  std::uint64_t last_generation = 0;
};

memory_map& memory() {
  static auto* one = new memory_map;  // never destroyed: used until the process ends
  return *one;
}
std::atomic<bool> used{false};

error allocate(device::memory_kind kind, void** out, std::size_t bytes) {
  used = true;
  memory_map& m = memory();
  const std::lock_guard lock(m.mutex);
  if (kind == device::memory_kind::device && bytes > memory_bytes - m.device_bytes)
    return error::out_of_memory;
  *out = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!*out) return error::out_of_memory;
  m.blocks[reinterpret_cast<std::uintptr_t>(*out)] = {bytes, ++m.last_generation, kind};
  if (kind == device::memory_kind::device) m.device_bytes += bytes;
  return error::success;
}

}  // namespace

// --- streams ---

queue::queue() {
  std::thread([s = state_] { run(s); }).detach();
}

queue::~queue() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->leaving = true;
  }
  state_->changed.notify_all();
}

void queue::push(std::function<void()> work) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->waiting.push_back(std::move(work));
  }
  state_->changed.notify_all();
}

void queue::drain() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->waiting.empty() && !state_->busy; });
}

void queue::run(const std::shared_ptr<state>& s) {
  std::unique_lock lock(s->mutex);
  for (;;) {
    s->changed.wait(lock, [&s] { return s->leaving || !s->waiting.empty(); });
    if (s->waiting.empty()) return;
    const auto work = std::move(s->waiting.front());
    s->waiting.pop_front();
    s->busy = true;
    lock.unlock();
    work();
    lock.lock();
    s->busy = false;
    s->changed.notify_all();
  }
}

// --- errors ---

status toy_rt::to_status(error e) noexcept {
  switch (e) {
    case error::success:
      return status::ok;
    case error::not_ready:
      return status::would_block;
    case error::invalid:
      return status::invalid_argument;
    case error::out_of_memory:
      return status::out_of_memory;
    case error::not_supported:
      return status::not_supported;
  }
  return status::device_error;
}

const char* toy_rt::error_text(error e) noexcept {
  constexpr const char* texts[] = {"success", "not ready", "invalid value", "out of memory",
                                   "not supported"};
  return texts[static_cast<int>(e)];
}

// --- the runtime and memory ---

bool toy_rt::started() noexcept {
  return used;
}

error toy_rt::properties(int, device::device_properties& out) noexcept {
  out = {};
  std::strcpy(out.name, "Toy device");
  std::memcpy(out.uuid.bytes, "telpher toy", 11);
  out.memory_bytes = memory_bytes;
  out.processors = 1;
  out.pci_domain = out.pci_bus = out.pci_device = out.numa_node = -1;
  return error::success;
}

error toy_rt::classify(const void* address, bool, device::pointer_info& out) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  memory_map& m = memory();
  const std::lock_guard lock(m.mutex);
  auto next = m.blocks.upper_bound(at);
  if (next == m.blocks.begin()) return error::success;
  const auto& [base, b] = *std::prev(next);
  if (at - base >= b.bytes) return error::success;
  out.kind = b.kind;
  out.owner = owner;
  out.device = 0;
  out.base = base;
  out.bytes = b.bytes;
  out.generation = b.generation;
  return error::success;
}

error toy_rt::malloc(void** address, std::size_t bytes) noexcept {
  return allocate(device::memory_kind::device, address, bytes);
}
error toy_rt::malloc_pinned(void** address, std::size_t bytes) noexcept {
  return allocate(device::memory_kind::pinned, address, bytes);
}
error toy_rt::malloc_managed(void** address, std::size_t bytes) noexcept {
  return allocate(device::memory_kind::managed, address, bytes);
}

error toy_rt::free(void* address) noexcept {
  memory_map& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto at = m.blocks.find(reinterpret_cast<std::uintptr_t>(address));
  if (at == m.blocks.end()) return error::invalid;
  if (at->second.kind == device::memory_kind::device) m.device_bytes -= at->second.bytes;
  m.blocks.erase(at);
  std::free(address);
  return error::success;
}

// --- work ---

error toy_rt::stream_create(stream_type* out) noexcept {
  used = true;
  *out = std::make_shared<queue>();
  return error::success;
}

error toy_rt::stream_synchronise(const stream_type& s) noexcept {
  s->drain();
  return error::success;
}

error toy_rt::event_create(event_type* out) noexcept {
  *out = std::make_shared<mark>();
  return error::success;
}

error toy_rt::event_record(const event_type& e, const stream_type& s) noexcept {
  const std::uint64_t number = e->recorded.fetch_add(1) + 1;
  s->push([e, number] { e->reached = number; });
  return error::success;
}

error toy_rt::event_query(const event_type& e) noexcept {
  return e->reached >= e->recorded ? error::success : error::not_ready;
}

error toy_rt::copy(void* to, const void* from, std::size_t bytes, const stream_type& s) noexcept {
  s->push([=] { std::memmove(to, from, bytes); });
  return error::success;
}

error toy_rt::fill(void* to, int byte, std::size_t bytes, const stream_type& s) noexcept {
  s->push([=] { std::memset(to, byte, bytes); });
  return error::success;
}

error toy_rt::launch(kernel::id k, const void* parameters, int blocks, int,
                     const stream_type& s) noexcept {
  const kernel::cpu_kernel& body = kernel::cpu_kernel_of(k);
  struct alignas(16) parameter_copy {
    std::array<std::byte, kernel::parameter_capacity> bytes;
  };
  auto copied = std::make_shared<parameter_copy>();
  std::memcpy(copied->bytes.data(), parameters, body.parameter_bytes);
  s->push([copied, &body, blocks] {
    for (unsigned b = 0; b < static_cast<unsigned>(blocks); ++b)
      body.run_block(copied->bytes.data(), b, static_cast<unsigned>(blocks));
  });
  return error::success;
}

static_assert(device::gpurt::gpu_runtime<toy_rt>);

}  // namespace toy
