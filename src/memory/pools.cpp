// SPDX-License-Identifier: BSD-3-Clause
// Pooled buffers. A pool holds one kind of memory of one owner. Its buffers have power-of-two sizes
// from one page up, with a free list for each size. Allocating pinned or device memory takes tens
// to hundreds of microseconds and may synchronise the device, so idle buffers are kept, within
// limits:
// - at most `kept_of_a_size` buffers of a size;
// - of host memory, buffers of a size up to a number of bytes (below), and always at least one;
// - of device memory, a number of bytes in all, because the program needs the device's memory; but
//   always the buffer that was returned last.
// If a pool cannot allocate, it first releases all its idle buffers and tries again.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "memory/ipc_cache.hpp"
#include "memory/memory.hpp"
#include "memory/streams.hpp"
#include "memory/windows.hpp"

namespace telpher::memory {
namespace {

constexpr std::size_t smallest = 4096;
constexpr std::size_t kept_of_a_size = 256;
// Idle bytes of one size that a pool keeps. The limit for mapped memory is larger, because filling
// fresh pages takes seven times as long as filling old ones (docs/understand/optimization.md).
constexpr std::size_t kept_pinned_bytes = std::size_t{64} << 20;
constexpr std::size_t kept_mapped_bytes = std::size_t{256} << 20;
// Idle bytes of a device that a pool keeps.
constexpr std::size_t kept_device_bytes = std::size_t{256} << 20;

enum class source { mapped, pinned, device };

struct pool {
  source kind;
  place where;  // the owner of pinned or device memory
  std::array<std::vector<void*>, 48> free;
  std::size_t idle_bytes = 0;

  result<void*> make(std::size_t bytes) noexcept;
  void release(void* address, std::size_t bytes) noexcept;
  /// Releases idle buffers, the largest first, until at most `bytes` idle bytes are left.
  void shrink(std::size_t bytes) noexcept;
};

result<void*> pool::make(std::size_t bytes) noexcept {
  switch (kind) {
    case source::pinned:
      return where.owner->allocate_pinned(bytes);
    case source::device:
      return where.owner->allocate(where.device, bytes);
    case source::mapped:
      break;
  }
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address != MAP_FAILED) return address;
  TELPHER_ERROR("cannot map %zu bytes of host memory: %m", bytes);
  return status::out_of_memory;
}

// The device layer logs a failed release; nothing else can be done about it.
void pool::release(void* address, std::size_t bytes) noexcept {
  [[maybe_unused]] status ignored = status::ok;
  switch (kind) {
    case source::pinned:
      ignored = where.owner->release_pinned(address);
      break;
    case source::device:
      ignored = where.owner->release(where.device, address);
      break;
    case source::mapped:
      ::munmap(address, bytes);
      break;
  }
}

void pool::shrink(std::size_t bytes) noexcept {
  for (std::size_t c = free.size(); c-- > 0;)
    while (idle_bytes > bytes && !free[c].empty()) {
      release(free[c].back(), std::size_t{1} << c);
      free[c].pop_back();
      idle_bytes -= std::size_t{1} << c;
    }
}

std::mutex guard;
std::deque<pool>& pools() {
  static auto* one = new std::deque<pool>;  // a deque: elements do not move
  return *one;
}

int pool_of(source kind, const place& where) {
  auto& all = pools();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].kind == kind && all[i].where == where) return static_cast<int>(i);
  all.push_back({kind, where, {}});
  return static_cast<int>(all.size()) - 1;
}

std::size_t class_of(std::size_t bytes) {
  return static_cast<std::size_t>(std::bit_width(std::max(bytes, smallest) - 1));
}

result<void*> make_room_for(pool& p, std::size_t size) {
  auto fresh = p.make(size);
  if (fresh.error() != status::out_of_memory || p.idle_bytes == 0) return fresh;
  p.shrink(0);
  return p.make(size);
}

struct taken {
  void* address;
  int pool;
};

result<taken> take_from(source kind, const place& where, std::size_t bytes) {
  std::lock_guard lock(guard);
  const int index = pool_of(kind, where);
  pool& p = pools()[static_cast<std::size_t>(index)];
  const std::size_t c = class_of(bytes);
  if (c >= p.free.size()) return status::out_of_memory;
  if (!p.free[c].empty()) {
    void* address = p.free[c].back();
    p.free[c].pop_back();
    p.idle_bytes -= std::size_t{1} << c;
    return taken{address, index};
  }
  const std::size_t size = std::size_t{1} << c;
  auto fresh = make_room_for(p, size);
  if (!fresh) return fresh.error();
  return taken{*fresh, index};
}

// Mapped memory that was hardly touched costs almost nothing, so it is limited by number and not by
// bytes. Otherwise a landing buffer that only receives tickets would be mapped afresh for each
// message.
bool worth_keeping(const pool& p, std::size_t waiting, std::size_t size, bool filled) {
  if (waiting >= kept_of_a_size) return false;
  switch (p.kind) {
    case source::mapped:
      return !filled || waiting * size < kept_mapped_bytes;
    case source::pinned:
      return waiting * size < kept_pinned_bytes;
    case source::device:
      break;
  }
  return true;
}

void give_to(int index, void* address, std::size_t bytes, bool filled) {
  std::lock_guard lock(guard);
  pool& p = pools()[static_cast<std::size_t>(index)];
  const std::size_t c = class_of(bytes);
  const std::size_t size = std::size_t{1} << c;
  if (!worth_keeping(p, p.free[c].size(), size, filled)) return p.release(address, size);
  // Always keep the buffer that was used last. If it were allocated and released for each message,
  // its receiver would have to open it anew each time.
  if (p.kind == source::device) p.shrink(kept_device_bytes - std::min(size, kept_device_bytes));
  p.free[c].push_back(address);
  p.idle_bytes += size;
}

}  // namespace

result<buffer> buffer::host(std::size_t bytes, device::backend* owner, bool pinned) noexcept {
  const bool pin = owner && (pinned || bytes <= config().landing_pinned_limit);
  if (pin)
    if (auto t = take_from(source::pinned, place{owner, 0}, bytes))
      return buffer(t->address, bytes, t->pool);
  auto t = take_from(source::mapped, {}, bytes);
  TELPHER_TRY(t);
  return buffer(t->address, bytes, t->pool);
}

result<buffer> buffer::device(const place& p, std::size_t bytes) noexcept {
  auto t = take_from(source::device, p, bytes);
  TELPHER_TRY(t);
  return buffer(t->address, bytes, t->pool);
}

void buffer::give_back() noexcept {
  give_to(pool_, address_, bytes_, filled_);
}

void shut_down() noexcept {
  ipc_cache::instance().clear();
  release_windows();
  release_streams();
  std::lock_guard lock(guard);
  for (pool& p : pools()) p.shrink(0);
}

}  // namespace telpher::memory
