// SPDX-License-Identifier: BSD-3-Clause
// Pooled buffers. A pool holds one kind of memory of one owner. Its buffers have power-of-two sizes
// from one page up, above 1 MiB also three sizes between two powers, with a free list for each
// size. Allocating pinned or device memory takes tens to hundreds of microseconds, for large
// buffers as many milliseconds, and may synchronise the device. So idle buffers are kept, within
// limits:
// - at most `kept_of_a_size` buffers of a size;
// - of host memory, buffers of a size up to a number of bytes (below), and always at least one;
// - of pinned memory, also whatever fits into a number of bytes of the pool: a staged collective
//   takes two buffers of one size;
// - of registered memory, all, because in use and idle together it is no more than a number of
//   bytes;
// - of device memory, a number of bytes in all, because the program needs the device's memory; but
//   always the buffer that was returned last.
// If a pool cannot allocate, it first releases all its idle buffers and tries again.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/lasting.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "memory/allocations.hpp"
#include "memory/held_streams.hpp"
#include "memory/memory.hpp"
#include "memory/streams.hpp"

namespace telpher::memory {
namespace {

constexpr std::size_t smallest = 4096;
constexpr std::size_t kept_of_a_size = 256;
// Idle bytes of one size that a pool keeps. The limit for mapped memory is larger, because filling
// fresh pages takes seven times as long as filling old ones (docs/understand/optimization.md).
constexpr std::size_t kept_pinned_bytes = std::size_t{64} << 20;
// Idle bytes of a pinned pool up to which all buffers are kept.
constexpr std::size_t kept_pinned_pool = std::size_t{2} << 30;
constexpr std::size_t kept_mapped_bytes = std::size_t{256} << 20;
// Idle bytes of a device that a pool keeps.
constexpr std::size_t kept_device_bytes = std::size_t{256} << 20;

// Bytes of large buffers, in use or idle, that are registered with their device: a share of the
// machine's memory, because a window of messages that does not fit pays for fresh pages each time.
std::size_t most_registered_bytes() noexcept {
  constexpr std::size_t least = std::size_t{1} << 30, most = std::size_t{8} << 30;
  static const std::size_t bytes = [&] {
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    const std::size_t all = pages > 0 && page > 0
                                ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
                                : 0;
    return std::clamp(all / 64, least, most);
  }();
  return bytes;
}

// Fresh pages are filled at twice the speed where they are huge. The first ones of a buffer are
// small: often nothing but a ticket is written there.
void ask_for_huge_pages(void* address, std::size_t bytes) noexcept {
  constexpr std::size_t huge = std::size_t{2} << 20;
  if (bytes > 2 * huge)
    static_cast<void>(
        ::madvise(static_cast<std::byte*>(address) + huge, bytes - huge, MADV_HUGEPAGE));
}

// Mapped host memory is touched lazily. A mapped buffer that was filled is registered with its
// device when it is given back. The next device copy from it is asynchronous: copies from pageable
// memory go through the driver's own buffers and block the caller.
enum class source { mapped, registered, pinned, device };

// Sizes: 2^k, and above `fine` also 5/4, 6/4 and 7/4 of it.
constexpr std::size_t fine = 20;
constexpr std::size_t size_classes = fine + 4 * (48 - fine) + 1;

constexpr std::size_t size_of_class(std::size_t c) {
  if (c <= fine) return std::size_t{1} << c;
  const std::size_t octave = fine + (c - fine) / 4;
  return (4 + (c - fine) % 4) << (octave - 2);
}

constexpr std::size_t class_of(std::size_t bytes) {
  const auto above = static_cast<std::size_t>(std::bit_width(std::max(bytes, smallest) - 1));
  if (above <= fine) return above;
  if (above > 48) return size_classes;
  std::size_t c = fine + 4 * (above - 1 - fine);
  while (size_of_class(c) < bytes) ++c;
  return c;
}
static_assert(size_of_class(class_of(1)) == smallest);
static_assert(size_of_class(class_of((1 << 20) + 1)) == 5 << 18);
static_assert(size_of_class(class_of(7 << 18)) == 7 << 18);
static_assert(size_of_class(class_of((7 << 18) + 1)) == 2 << 20);

struct pool {
  source kind;
  place where;  // whose memory; of mapped memory whose copies it serves, if any
  std::array<std::vector<void*>, size_classes> free;
  std::size_t idle_bytes = 0;
  std::size_t registered_bytes = 0;  // of registered memory only

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
    case source::registered:
      break;
  }
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address != MAP_FAILED) {
    ask_for_huge_pages(address, bytes);
    return address;
  }
  TELPHER_ERROR("cannot map %zu bytes of host memory: %m", bytes);
  return status::out_of_memory;
}

// All but unmapping may wait for the device. The device layer logs a failed release; nothing else
// can be done about it.
void pool::release(void* address, std::size_t bytes) noexcept {
  if (kind == source::mapped) {
    ::munmap(address, bytes);
    return;
  }
  if (kind == source::registered) registered_bytes -= bytes;
  held_streams::instance().call_when_free([which = kind, owner = where, address, bytes] {
    if (which == source::device) {
      static_cast<void>(owner.owner->release(owner.device, address));
    } else if (which == source::pinned) {
      static_cast<void>(owner.owner->release_pinned(address));
    } else {
      static_cast<void>(owner.owner->unregister_host(address));
      ::munmap(address, bytes);
    }
  });
}

void pool::shrink(std::size_t bytes) noexcept {
  for (std::size_t c = free.size(); c-- > 0;)
    while (idle_bytes > bytes && !free[c].empty()) {
      release(free[c].back(), size_of_class(c));
      free[c].pop_back();
      idle_bytes -= size_of_class(c);
    }
}

std::mutex guard;
lasting<std::vector<std::unique_ptr<pool>>> pools;

pool& at(int index) {
  return *(*pools)[static_cast<std::size_t>(index)];
}

int pool_of(source kind, const place& where) {
  const auto count = static_cast<int>(pools->size());
  for (int i = 0; i < count; ++i)
    if (at(i).kind == kind && at(i).where == where) return i;
  pools->push_back(std::make_unique<pool>(pool{kind, where, {}}));
  return count;
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

std::optional<taken> idle_one(int index, std::size_t c) {
  pool& p = at(index);
  if (c >= p.free.size() || p.free[c].empty()) return std::nullopt;
  void* address = p.free[c].back();
  p.free[c].pop_back();
  p.idle_bytes -= size_of_class(c);
  return taken{address, index};
}

std::optional<taken> take_idle(source kind, const place& where, std::size_t bytes) {
  std::lock_guard lock(guard);
  return idle_one(pool_of(kind, where), class_of(bytes));
}

result<taken> take_from(source kind, const place& where, std::size_t bytes) {
  std::lock_guard lock(guard);
  const int index = pool_of(kind, where);
  const std::size_t c = class_of(bytes);
  if (c >= size_classes) return status::out_of_memory;
  if (const auto idle = idle_one(index, c)) return *idle;
  auto fresh = make_room_for(at(index), size_of_class(c));
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
      return waiting * size < kept_pinned_bytes || p.idle_bytes + size <= kept_pinned_pool;
    case source::registered:
    case source::device:
      break;
  }
  return true;
}

/// The pool where a mapped buffer belongs after it was filled; `from` itself where it stays.
int registered_pool(int from, void* address, std::size_t size) {
  const place where = at(from).where;
  if (!where.owner) return from;
  const int index = pool_of(source::registered, where);
  pool& p = at(index);
  if (p.registered_bytes + size > most_registered_bytes()) return from;
  if (where.owner->register_host(address, size) != status::ok) return from;
  p.registered_bytes += size;
  return index;
}

void give_to(int index, void* address, std::size_t bytes, bool filled) {
  std::lock_guard lock(guard);
  const std::size_t c = class_of(bytes);
  const std::size_t size = size_of_class(c);
  if (filled && at(index).kind == source::mapped) index = registered_pool(index, address, size);
  pool& p = at(index);
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
    if (auto pinned_one = for_kernels(bytes, owner)) return pinned_one;
  const place whose{owner, 0};
  if (owner)
    if (auto t = take_idle(source::registered, whose, bytes))
      return buffer(t->address, bytes, t->pool);
  auto t = take_from(source::mapped, whose, bytes);
  TELPHER_TRY(t);
  return buffer(t->address, bytes, t->pool);
}

result<buffer> buffer::for_kernels(std::size_t bytes, device::backend* owner) noexcept {
  auto t = take_from(source::pinned, place{owner, 0}, bytes);
  TELPHER_TRY(t);
  return buffer(t->address, bytes, t->pool, true);
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
  allocations::instance().clear();
  held_streams::instance().make_calls();
  release_streams();
  std::lock_guard lock(guard);
  for (const auto& p : *pools) p->shrink(0);
}

}  // namespace telpher::memory
