// SPDX-License-Identifier: BSD-3-Clause
#include "memory/imported.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/descriptor_broker.hpp"
#include "base/lasting.hpp"
#include "base/log.hpp"
#include "memory/held_streams.hpp"

namespace telpher::memory {
namespace {

std::atomic<std::uint64_t> refusals{0};

struct exported final : facet {
  device::ipc_handle handle{};
  kept_offer offer;  // of a chunk's file descriptor
};

// --- mappings that are to be closed ---

/// Where an allocation is open.
struct opening {
  allocation there;
  place importer;
  std::byte* base = nullptr;
  bool by_descriptor = false;
};

void close_opened(const opening& o) noexcept {
  device::backend& b = *o.importer.owner;
  static_cast<void>(o.by_descriptor ? b.descriptor_close(o.importer.device, o.base, o.there.bytes)
                                    : b.ipc_close(o.importer.device, o.base));
}

/// To close a mapping waits for all that runs on the device, so that may be put off. Meanwhile what
/// is named again is used again.
class closings {
 public:
  void add(const opening& o) noexcept {
    {
      const std::lock_guard lock(mutex_);
      all_.push_back(o);
    }
    held_streams::instance().call_when_free([this, o] { close(o); });
  }
  /// What is open of the allocation, or null. not_supported: a former one at its addresses is still
  /// open, and a vendor may refuse to open both.
  result<std::byte*> take(const allocation& there, const place& importer) noexcept {
    if (const auto found = look(there, importer)) return found;
    held_streams::instance().make_needed_calls();
    return look(there, importer);
  }

 private:
  result<std::byte*> look(const allocation& there, const place& importer) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const opening& o) {
      return o.importer == importer && o.there.same(there);
    });
    if (found != all_.end()) {
      std::byte* const base = found->base;
      all_.erase(found);
      return base;
    }
    const bool in_its_way = std::any_of(all_.begin(), all_.end(), [&](const opening& o) {
      return !o.there.same(there) && o.there.overlaps(there);
    });
    if (in_its_way) return status::not_supported;
    return nullptr;
  }
  void close(const opening& o) noexcept {
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::find_if(all_.begin(), all_.end(), [&](const opening& one) {
        return one.base == o.base && one.importer == o.importer;
      });
      if (found == all_.end()) return;  // it is in use again
      all_.erase(found);
    }
    close_opened(o);
  }

  std::mutex mutex_;
  std::vector<opening> all_;
};
lasting<closings> to_close;

// --- facets ---

struct imported final : facet {
  allocation there;
  place importer;
  std::size_t bytes = 0;  // that are mapped and may be accessed
  bool by_descriptor = false;
  ~imported() override {
    if (base) to_close->add({there, importer, base, by_descriptor});
  }
};

// The size of the mapping according to the back end, or `told` (the exporter's size) if the back
// end does not know.
std::size_t bytes_at(const place& importer, const void* address, std::size_t told) noexcept {
  device::pointer_info info;
  if (importer.owner->classify(address, true, info) != status::ok) return told;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const bool known = info.kind == device::memory_kind::device && at - info.base < info.bytes;
  return known ? info.bytes - (at - info.base) : told;
}

// A mismatch is not an error: the message is staged, because the exporter can read its own memory.
status check_size(int process, std::size_t told, std::size_t opened) noexcept {
  if (told <= opened) return status::ok;
  static std::atomic<bool> said{false};
  if (!said.exchange(true, std::memory_order_relaxed))
    TELPHER_WARN(
        "rank %d names an allocation of %zu bytes of which %zu could be opened: staging through "
        "host memory",
        process, told, opened);
  return status::not_supported;
}

// --- what handles hold of chunks ---

static_assert(sizeof(offered_descriptor) <= device::ipc_handle::capacity);

result<void*> open_chunk(const allocation& there, const place& importer,
                         const device::ipc_handle& handle) noexcept {
  offered_descriptor offer;
  std::memcpy(&offer, handle.bytes, sizeof offer);
  const auto file = descriptor_broker::fetch(offer);
  if (!file) return status::not_supported;
  auto opened = importer.owner->descriptor_open(importer.device, *file, there.bytes);
  ::close(*file);
  return opened;
}

status export_chunk(const place& p, const device::pointer_info& info, exported& out) noexcept {
  const auto file = p.owner->descriptor_export(info);
  TELPHER_TRY(file);
  const auto offer = descriptor_broker::instance().offer(*file);
  if (!offer) return status::not_supported;
  out.offer = kept_offer(*offer);
  out.handle = {};
  out.handle.by_descriptor = true;
  std::memcpy(out.handle.bytes, &*offer, sizeof *offer);
  return status::ok;
}

// --- facets, made ---

result<std::unique_ptr<facet>> open(const allocation& there, const place& importer,
                                    const device::ipc_handle& handle) noexcept {
  auto made = std::unique_ptr<imported>(new (std::nothrow) imported);
  if (!made) return status::not_supported;
  auto open_still = to_close->take(there, importer);
  TELPHER_TRY(open_still);
  made->base = *open_still;
  made->by_descriptor = handle.by_descriptor;
  if (!made->base) {
    auto address = handle.by_descriptor ? open_chunk(there, importer, handle)
                                        : importer.owner->ipc_open(importer.device, handle);
    TELPHER_TRY(address);
    made->base = static_cast<std::byte*>(*address);
  }
  made->there = there;
  made->importer = importer;
  made->bytes = bytes_at(importer, made->base, there.bytes);
  TELPHER_TRY(check_size(there.process, there.bytes, made->bytes));
  return std::unique_ptr<facet>(std::move(made));
}

}  // namespace

result<device::ipc_handle> export_handle(const place& p,
                                         const device::pointer_info& info) noexcept {
  const auto ask = [&]() noexcept -> result<std::unique_ptr<facet>> {
    auto made = std::unique_ptr<exported>(new (std::nothrow) exported);
    if (!made) return status::not_supported;
    TELPHER_TRY(info.is_chunk ? export_chunk(p, info, *made)
                              : p.owner->ipc_export(info).into(made->handle));
    return std::unique_ptr<facet>(std::move(made));
  };
  auto known =
      allocations::instance().acquire(facet::kind::exported, allocation::own(p, info), {p}, ask);
  TELPHER_TRY(known);
  return static_cast<const exported*>(known->what())->handle;
}

result<mapping> import_memory(const allocation& there, const place& importer,
                              const device::ipc_handle& handle) noexcept {
  auto open_it = [&]() noexcept { return open(there, importer, handle); };
  auto known = allocations::instance().acquire(facet::kind::imported, there, {importer}, open_it);
  if (!known) {
    if (refusals.fetch_add(1, std::memory_order_relaxed) == 0)
      TELPHER_INFO(
          "device memory of rank %d cannot be opened here (%s): staging through host memory",
          there.process, to_string(known.error()));
    return status::not_supported;
  }
  TELPHER_TRY(
      check_size(there.process, there.bytes, static_cast<const imported*>(known->what())->bytes));
  return known;
}

std::uint64_t refused_imports() noexcept {
  return refusals.load(std::memory_order_relaxed);
}

}  // namespace telpher::memory
