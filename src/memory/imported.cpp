// SPDX-License-Identifier: BSD-3-Clause
#include "memory/imported.hpp"

#include <atomic>

#include "base/log.hpp"
#include "memory/held_streams.hpp"

namespace telpher::memory {
namespace {

std::atomic<std::uint64_t> refusals{0};

struct exported final : facet {
  device::ipc_handle handle{};
};

struct imported final : facet {
  place importer;
  std::size_t bytes = 0;  // that are mapped and may be accessed
  ~imported() override {
    if (base)
      held_streams::instance().call_when_free([where = importer, address = base] {
        static_cast<void>(where.owner->ipc_close(where.device, address));
      });
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

result<std::unique_ptr<facet>> open(const allocation& there, const place& importer,
                                    const device::ipc_handle& handle) noexcept {
  // A handle must not be open twice, and what is still to be closed may be this one's.
  if (held_streams::instance().any_put_off()) return status::not_supported;
  auto made = std::unique_ptr<imported>(new (std::nothrow) imported);
  if (!made) return status::not_supported;
  auto address = importer.owner->ipc_open(importer.device, handle);
  TELPHER_TRY(address);
  made->importer = importer;
  made->base = static_cast<std::byte*>(*address);
  made->bytes = bytes_at(importer, *address, there.bytes);
  TELPHER_TRY(check_size(there.process, there.bytes, made->bytes));
  return std::unique_ptr<facet>(std::move(made));
}

}  // namespace

result<device::ipc_handle> export_handle(const place& p,
                                         const device::pointer_info& info) noexcept {
  const auto ask = [&]() noexcept -> result<std::unique_ptr<facet>> {
    auto handle = p.owner->ipc_export(info);
    TELPHER_TRY(handle);
    auto made = std::unique_ptr<exported>(new (std::nothrow) exported);
    if (!made) return status::not_supported;
    made->handle = *handle;
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
