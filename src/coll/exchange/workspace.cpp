// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/workspace.hpp"

#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "base/lasting.hpp"
#include "base/settings.hpp"
#include "base/shared_memory.hpp"
#include "memory/held_streams.hpp"
#include "memory/streams.hpp"
#include "path/exported.hpp"

namespace telpher::coll::exchange {

namespace {

// Both kinds are given back when nobody holds them. That is put off while a stream waits for us,
// because it waits for the device. Both may throw std::bad_alloc.

std::shared_ptr<std::byte> held(const memory::place& where, void* allocated) {
  return {static_cast<std::byte*>(allocated), [where](std::byte* base) {
            memory::held_streams::instance().call_when_free(
                [where, base] { static_cast<void>(where.owner->release(where.device, base)); });
          }};
}

constexpr std::size_t data_at = 4096;  // in a segment, behind the cookie

/// Registered with the device. The mapping outlives the registration.
result<std::shared_ptr<std::byte>> held(const memory::place& where, shared_memory&& segment) {
  auto mapped = std::make_shared<shared_memory>(std::move(segment));
  TELPHER_TRY(where.owner->register_host(mapped->data(), mapped->size()));
  return std::shared_ptr<std::byte>(
      mapped->data() + data_at, [owner = where.owner, mapped](std::byte*) {
        memory::held_streams::instance().call_when_free(
            [owner, mapped] { static_cast<void>(owner->unregister_host(mapped->data())); });
      });
}

constexpr std::size_t inbox_at = 64 * 1024;
static_assert(kernel::exchange::most_blocks * most_ranks * sizeof(std::uint64_t) <= inbox_at);

std::size_t scratch_at() {
  return inbox_at + (config().coll_inbox + 4095) / 4096 * 4096;
}

std::size_t workspace_bytes() {
  return scratch_at() + config().coll_scratch;
}

status clear(workspace_kind kind, const memory::place& where, std::byte* from,
             std::size_t bytes) noexcept {
  if (kind == workspace_kind::host) {
    std::memset(from, 0, bytes);
    return status::ok;
  }
  return memory::clear_and_wait(where, from, bytes);
}

}  // namespace

// --- workspaces ---

workspace_kind workspace::first_kind() noexcept {
  return config().coll_workspace == "host" ? workspace_kind::host : workspace_kind::device;
}

bool workspace::tries_host_next() noexcept {
  return config().coll_workspace == "auto";
}

namespace {

result<std::shared_ptr<std::byte>> make_device(const memory::place& where,
                                               path::exported_memory& exported) {
  const std::size_t bytes = workspace_bytes();
  auto memory = where.owner->allocate_flags(where.device, bytes);
  TELPHER_TRY(memory);
  auto base = held(where, *memory);
  device::pointer_info info;
  memory::classify(base.get(), info);
  TELPHER_TRY(path::export_region({where, base.get(), bytes}, info, exported));
  if (!exported.exportable) return status::not_supported;
  return base;
}

result<std::shared_ptr<std::byte>> make_segment(const memory::place& where,
                                                path::exported_memory& exported) {
  const bool forced = workspace::first_kind() == workspace_kind::host;
  if (!forced && !where.owner->shares_host_memory(where.device)) return status::not_supported;
  const std::size_t bytes = data_at + workspace_bytes();
  auto memory = shared_memory::create(bytes, "telpher-coll");
  TELPHER_TRY(memory);
  const shared_memory_name name = memory->name();
  auto base = held(where, std::move(*memory));
  TELPHER_TRY(base);
  device::pointer_info info;
  info.device = static_cast<std::int16_t>(where.device);
  info.owner = where.owner->owner();
  TELPHER_TRY(path::export_region({where, base->get(), bytes}, info, exported));
  static_assert(sizeof name <= device::ipc_handle::capacity);
  std::memcpy(exported.handle.bytes, &name, sizeof name);
  return base;
}

}  // namespace

result<workspace> workspace::make(workspace_kind kind, const memory::place& where) noexcept {
  workspace w;
  w.kind_ = kind;
  w.where_ = where;
  try {
    auto base = kind == workspace_kind::host ? make_segment(where, w.exported_)
                                             : make_device(where, w.exported_);
    TELPHER_TRY(std::move(base).into(w.base_));
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  TELPHER_TRY(clear(kind, where, w.base_.get(), scratch_at()));
  return w;
}

void workspace::abandon() noexcept {
  new std::shared_ptr<std::byte>(std::move(base_));
  exported_ = {};
}

status workspace::clear_inbox() noexcept {
  return clear(kind_, where_, base_.get() + inbox_at, scratch_at() - inbox_at);
}

void workspace::place_in(spaces& s, std::byte* base) noexcept {
  s.inbox = reinterpret_cast<std::uintptr_t>(base + inbox_at);
  s.scratch = reinterpret_cast<std::uintptr_t>(base + scratch_at());
}

// --- those of peers ---

namespace {

// Segments of peers that are mapped here, by their names.
struct open_segment {
  shared_memory_name name;
  memory::place where;
  std::weak_ptr<std::byte> data;
};
std::mutex segments_guard;
lasting<std::vector<open_segment>> open_segments;

/// May throw std::bad_alloc.
result<std::shared_ptr<std::byte>> open_peer_segment(const shared_memory_name& name,
                                                     const memory::place& where) {
  std::lock_guard lock(segments_guard);
  auto& all = *open_segments;
  std::erase_if(all, [](const open_segment& s) { return s.data.expired(); });
  for (const open_segment& s : all)
    if (std::memcmp(&s.name, &name, sizeof name) == 0 && s.where == where)
      if (auto found = s.data.lock()) return found;
  auto memory = shared_memory::open(name);
  TELPHER_TRY(memory);
  auto data = held(where, std::move(*memory));
  TELPHER_TRY(data);
  all.push_back({name, where, *data});
  return data;
}

}  // namespace

result<mapped_workspace> mapped_workspace::open(workspace_kind kind, int process,
                                                const path::exported_memory& there,
                                                const memory::place& where) noexcept {
  mapped_workspace w{workspace::id_of(there), nullptr};
  try {
    if (kind == workspace_kind::host) {
      shared_memory_name name;
      std::memcpy(&name, there.handle.bytes, sizeof name);
      TELPHER_TRY(open_peer_segment(name, where).into(w.base));
      return w;
    }
    auto opened = path::open_for(process, there, where);
    TELPHER_TRY(opened);
    const auto mapping = std::make_shared<memory::mapping>(std::move(opened->mapping));
    w.base = std::shared_ptr<std::byte>(mapping, opened->data);
    return w;
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

}  // namespace telpher::coll::exchange
