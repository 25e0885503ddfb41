// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/workspace.hpp"

#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "base/lasting.hpp"
#include "base/settings.hpp"
#include "memory/held_streams.hpp"
#include "memory/streams.hpp"
#include "path/exported.hpp"

namespace telpher::coll::exchange {

namespace {

// Put off while a stream waits for us: releasing memory waits for the device.
void release_when_free(const memory::place& where, void* base) {
  memory::held_streams::instance().call_when_free(
      [where, base] { static_cast<void>(where.owner->release(where.device, base)); });
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

// --- segments ---

result<registered_segment> registered_segment::of(shared_memory memory,
                                                  const memory::place& where) noexcept {
  registered_segment s;
  TELPHER_TRY(where.owner->register_host(memory.data(), memory.size()));
  s.memory_ = std::move(memory);
  s.owner_ = where.owner;
  return s;
}

// The mapping must outlive its registration.
registered_segment::~registered_segment() {
  if (!owner_) return;
  memory::held_streams::instance().call_when_free(
      [owner = owner_, mapped = std::make_shared<shared_memory>(std::move(memory_))] {
        static_cast<void>(owner->unregister_host(mapped->data()));
      });
}

// --- workspaces ---

workspace_kind workspace::first_kind() noexcept {
  return config().coll_workspace == "host" ? workspace_kind::host : workspace_kind::device;
}

bool workspace::tries_host_next() noexcept {
  return config().coll_workspace == "auto";
}

namespace {

status make_device(const memory::place& where, std::byte*& base, path::exported_memory& exported) {
  const std::size_t bytes = workspace_bytes();
  auto memory = where.owner->allocate_flags(where.device, bytes);
  TELPHER_TRY(memory);
  base = static_cast<std::byte*>(*memory);
  device::pointer_info info;
  memory::classify(base, info);
  status s = path::export_region({where, base, bytes}, info, exported);
  if (s == status::ok && !exported.exportable) s = status::not_supported;
  if (s != status::ok) {
    release_when_free(where, base);
    base = nullptr;
  }
  return s;
}

status make_segment(const memory::place& where, registered_segment& made,
                    path::exported_memory& exported) {
  const bool forced = workspace::first_kind() == workspace_kind::host;
  if (!forced && !where.owner->shares_host_memory(where.device)) return status::not_supported;
  const std::size_t bytes = registered_segment::data_at + workspace_bytes();
  auto memory = shared_memory::create(bytes, "telpher-coll");
  TELPHER_TRY(memory);
  TELPHER_TRY(registered_segment::of(std::move(*memory), where).into(made));
  device::pointer_info info;
  info.device = static_cast<std::int16_t>(where.device);
  info.owner = where.owner->owner();
  TELPHER_TRY(path::export_region({where, made.data(), bytes}, info, exported));
  static_assert(sizeof(shared_memory_name) <= device::ipc_handle::capacity);
  std::memcpy(exported.handle.bytes, &made.name(), sizeof(shared_memory_name));
  return status::ok;
}

}  // namespace

result<workspace> workspace::make(workspace_kind kind, const memory::place& where) noexcept {
  workspace w;
  w.kind_ = kind;
  w.where_ = where;
  if (kind == workspace_kind::host) {
    TELPHER_TRY(make_segment(where, w.segment_, w.exported_));
    w.base_ = w.segment_.data();
  } else {
    TELPHER_TRY(make_device(where, w.base_, w.exported_));
  }
  TELPHER_TRY(clear(kind, where, w.base_, scratch_at()));
  return w;
}

workspace& workspace::operator=(workspace&& o) noexcept {
  std::swap(kind_, o.kind_);
  std::swap(where_, o.where_);
  std::swap(base_, o.base_);
  std::swap(segment_, o.segment_);
  std::swap(exported_, o.exported_);
  return *this;
}

workspace::~workspace() {
  if (base_ && kind_ == workspace_kind::device) release_when_free(where_, base_);
}

void workspace::abandon() noexcept {
  base_ = nullptr;
  exported_ = {};
  if (kind_ == workspace_kind::host) segment_.abandon();
}

status workspace::clear_inbox() noexcept {
  return clear(kind_, where_, base_ + inbox_at, scratch_at() - inbox_at);
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
  std::weak_ptr<registered_segment> segment;
};
std::mutex segments_guard;
lasting<std::vector<open_segment>> open_segments;

result<std::shared_ptr<registered_segment>> open_peer_segment(const shared_memory_name& name,
                                                              const memory::place& where) noexcept {
  std::lock_guard lock(segments_guard);
  auto& all = *open_segments;
  std::erase_if(all, [](const open_segment& s) { return s.segment.expired(); });
  for (const open_segment& s : all)
    if (std::memcmp(&s.name, &name, sizeof name) == 0 && s.where == where)
      if (auto found = s.segment.lock()) return found;
  auto memory = shared_memory::open(name);
  TELPHER_TRY(memory);
  auto segment = registered_segment::of(std::move(*memory), where);
  TELPHER_TRY(segment);
  try {
    auto shared = std::make_shared<registered_segment>(std::move(*segment));
    all.push_back({name, where, shared});
    return shared;
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

}  // namespace

result<mapped_workspace> mapped_workspace::open(workspace_kind kind, int process,
                                                const path::exported_memory& there,
                                                const memory::place& where) noexcept {
  mapped_workspace w;
  w.id_ = workspace::id_of(there);
  if (kind == workspace_kind::host) {
    shared_memory_name name;
    std::memcpy(&name, there.handle.bytes, sizeof name);
    TELPHER_TRY(open_peer_segment(name, where).into(w.segment_));
    w.base_ = w.segment_->data();
    return w;
  }
  auto opened = path::open_for(process, there, where);
  TELPHER_TRY(opened);
  w.mapping_ = std::move(opened->mapping);
  w.base_ = opened->data;
  return w;
}

}  // namespace telpher::coll::exchange
