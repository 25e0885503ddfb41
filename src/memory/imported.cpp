// SPDX-License-Identifier: BSD-3-Clause
#include "memory/imported.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "base/descriptor_broker.hpp"
#include "base/lasting.hpp"
#include "base/log.hpp"
#include "memory/chunk_runs.hpp"
#include "memory/held_streams.hpp"

namespace telpher::memory {
namespace {

std::atomic<std::uint64_t> refusals{0};

struct exported final : facet {
  device::ipc_handle handle{};
  kept_offer offer;  // of chunks' file descriptors
};

// --- mappings that are to be closed ---

/// Where an allocation is open.
struct opening {
  allocation there;
  place importer;
  std::byte* base = nullptr;
  std::vector<std::size_t> chunks;  // their sizes; none: opened by a vendor's handle
};

void close_opened(const opening& o) noexcept {
  device::backend& b = *o.importer.owner;
  static_cast<void>(o.chunks.empty() ? b.ipc_close(o.importer.device, o.base)
                                     : b.descriptors_close(o.importer.device, o.base, o.chunks));
}

/// To close a mapping waits for all that runs on the device, so that may be put off. Meanwhile what
/// is named again is used again. Once much memory waits for that, a warning says so.
class closings {
 public:
  void add(const opening& o) noexcept {
    {
      const std::lock_guard lock(mutex_);
      all_.push_back(o);
    }
    held_streams::instance().call_when_free([this, o] { close(o); });
    warn_of_much();
  }
  /// What is open of the allocation; its base is null if nothing is. A former one at its addresses
  /// is closed first, if it may be: CUDA opens both (seen with CUDA 13), other vendors may refuse.
  opening take(const allocation& there, const place& importer) noexcept {
    bool in_its_way = false;
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::find_if(all_.begin(), all_.end(), [&](const opening& o) {
        return o.importer == importer && o.there.same(there);
      });
      if (found != all_.end()) {
        opening taken = std::move(*found);
        all_.erase(found);
        return taken;
      }
      in_its_way = std::any_of(all_.begin(), all_.end(), [&](const opening& o) {
        return !o.there.same(there) && o.there.excludes(there);
      });
    }
    if (in_its_way) held_streams::instance().make_needed_calls();
    return {there, importer, nullptr, {}};
  }

 private:
  void warn_of_much() noexcept {
    constexpr std::size_t much = std::size_t{1} << 30;
    const std::lock_guard lock(mutex_);
    if (warned_) return;
    std::size_t bytes = 0;
    for (const opening& o : all_) bytes += o.there.bytes;
    if (bytes < much) return;
    warned_ = true;
    TELPHER_WARN(
        "%zu MB of memory that other ranks gave up stay in use: mappings cannot be closed while a "
        "graph holds operations of MPI, or a stream waits for one. Keep such buffers, or destroy "
        "the graph",
        bytes >> 20);
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
  bool warned_ = false;
};
lasting<closings> to_close;

// --- facets ---

struct imported final : facet {
  opening open;
  std::size_t bytes = 0;  // that are mapped and may be accessed
  ~imported() override {
    if (open.base) to_close->add(open);
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

// A back end knows of a run's chunks one by one.
std::size_t bytes_of(const opening& o) noexcept {
  std::size_t opened = 0;
  for (std::size_t n = 0; n < std::max<std::size_t>(o.chunks.size(), 1); ++n)
    if (opened < o.there.bytes)
      opened += bytes_at(o.importer, o.base + opened, o.there.bytes - opened);
  return opened;
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

/// The runs that a back end would not open lately. To try that again costs as much as to open them.
/// Used under the registry's lock.
class refused_runs {
 public:
  bool hold(const allocation& there) const noexcept {
    return std::any_of(last_.begin(), last_.end(),
                       [&](const allocation& one) { return one.same(there); });
  }
  void add(const allocation& there) noexcept { last_[next_++ % last_.size()] = there; }

 private:
  std::array<allocation, 32> last_;
  std::size_t next_ = 0;
};
lasting<refused_runs> not_opened;

status open_chunks(const device::ipc_handle& handle, opening& out) noexcept {
  if (out.there.is_run && not_opened->hold(out.there)) return status::not_supported;
  offered_descriptor offer;
  std::memcpy(&offer, handle.bytes, sizeof offer);
  const auto files = descriptor_broker::fetch_all(offer);
  if (!files || files->size() != handle.chunks || device::sum_of(files->bytes()) != out.there.bytes)
    return status::not_supported;
  try {
    out.chunks = files->bytes();
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  const auto opened =
      out.importer.owner->descriptors_open(out.importer.device, files->numbers(), out.chunks);
  if (out.there.is_run && opened.error() == status::not_supported) not_opened->add(out.there);
  TELPHER_TRY(opened);
  out.base = static_cast<std::byte*>(*opened);
  return status::ok;
}

// out_of_memory: there are too many descriptors, which is better when others are closed.
status export_chunks(const place& p, const device::pointer_info& info, exported& out) noexcept {
  descriptor_broker& broker = descriptor_broker::instance();
  try {
    const auto chunks = info.is_run ? chunks_of(info) : std::vector<device::pointer_info>{info};
    if (info.is_run && broker.offers() + chunks.size() > most_descriptors())
      return status::out_of_memory;
    std::vector<offered_file> files;
    files.reserve(chunks.size());
    for (const device::pointer_info& one : chunks) {
      const auto file = p.owner->descriptor_export(one);
      TELPHER_TRY(file);
      files.push_back({descriptor(*file), one.bytes});
    }
    const auto offer = broker.offer(std::move(files));
    if (!offer) return status::not_supported;
    out.offer = kept_offer(*offer);
    out.handle = {};
    out.handle.chunks = static_cast<std::uint32_t>(chunks.size());
    std::memcpy(out.handle.bytes, &*offer, sizeof *offer);
    return status::ok;
  } catch (const std::bad_alloc&) {
    return status::not_supported;
  }
}

// --- facets, made ---

status open_by_handle(const device::ipc_handle& handle, opening& out) noexcept {
  const auto opened = out.importer.owner->ipc_open(out.importer.device, handle);
  TELPHER_TRY(opened);
  out.base = static_cast<std::byte*>(*opened);
  return status::ok;
}

result<std::unique_ptr<facet>> open(const allocation& there, const place& importer,
                                    const device::ipc_handle& handle) noexcept {
  auto made = std::unique_ptr<imported>(new (std::nothrow) imported);
  if (!made) return status::not_supported;
  opening& o = made->open;
  o = to_close->take(there, importer);
  if (!o.base) TELPHER_TRY(handle.chunks ? open_chunks(handle, o) : open_by_handle(handle, o));
  made->base = o.base;
  made->bytes = bytes_of(o);
  TELPHER_TRY(check_size(there.process, there.bytes, made->bytes));
  return std::unique_ptr<facet>(std::move(made));
}

}  // namespace

result<device::ipc_handle> export_handle(const place& p,
                                         const device::pointer_info& info) noexcept {
  const auto ask = [&]() noexcept -> result<std::unique_ptr<facet>> {
    auto made = std::unique_ptr<exported>(new (std::nothrow) exported);
    if (!made) return status::not_supported;
    TELPHER_TRY(info.is_chunk ? export_chunks(p, info, *made)
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
