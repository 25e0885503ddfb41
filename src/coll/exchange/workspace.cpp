// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/workspace.hpp"

#include <cstring>
#include <list>
#include <mutex>

#include "base/settings.hpp"
#include "path/pull.hpp"

namespace telpher::coll::exchange {

struct workspace::block {
  workspace_kind kind;
  memory::place where;
  std::byte* base = nullptr;
  registered_segment segment;  // of the host's kind
  path::exported_memory exported{};
  bool taken = false;
};

namespace {

constexpr std::size_t inbox_at = 64 * 1024;
static_assert(kernel::exchange::most_blocks * most_ranks * sizeof(std::uint64_t) <= inbox_at);

std::size_t scratch_at() {
  return inbox_at + (config().coll_inbox + 4095) / 4096 * 4096;
}

std::mutex guard;

template <class Block>
std::list<Block>& kept() {
  static auto* one = new std::list<Block>;
  return *one;
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
  auto s = memory::stream(where, memory::lane::copy);
  TELPHER_TRY(s);
  TELPHER_TRY(where.owner->fill(from, 0, bytes, *s));
  return where.owner->synchronise(*s);
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

registered_segment::~registered_segment() {
  if (owner_) static_cast<void>(owner_->unregister_host(memory_.data()));
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
  auto memory = where.owner->allocate(where.device, bytes);
  TELPHER_TRY(memory);
  base = static_cast<std::byte*>(*memory);
  device::pointer_info info;
  memory::classify(base, info);
  status s = path::export_region({where, base, bytes}, info, exported);
  if (s == status::ok && !exported.exportable) s = status::not_supported;
  if (s != status::ok) static_cast<void>(where.owner->release(where.device, base));
  return s;
}

status make_segment(const memory::place& where, registered_segment& made,
                    path::exported_memory& exported) {
  const bool forced = workspace::first_kind() == workspace_kind::host;
  if (!forced && !where.owner->shares_host_memory(where.device)) return status::not_supported;
  const std::size_t bytes = registered_segment::data_at + workspace_bytes();
  auto memory = shared_memory::create(bytes, "telpher-coll");
  TELPHER_TRY(memory);
  auto segment = registered_segment::of(std::move(*memory), where);
  TELPHER_TRY(segment);
  made = std::move(*segment);
  device::pointer_info info;
  info.device = static_cast<std::int16_t>(where.device);
  info.owner = where.owner->owner();
  TELPHER_TRY(path::export_region({where, made.data(), bytes}, info, exported));
  static_assert(sizeof(shared_memory_name) <= device::ipc_handle::capacity);
  std::memcpy(exported.handle.bytes, &made.name(), sizeof(shared_memory_name));
  return status::ok;
}

}  // namespace

result<workspace::block*> workspace::make(workspace_kind kind,
                                          const memory::place& where) noexcept {
  block fresh{kind, where, nullptr, {}, {}, false};
  if (kind == workspace_kind::host) {
    TELPHER_TRY(make_segment(where, fresh.segment, fresh.exported));
    fresh.base = fresh.segment.data();
  } else {
    TELPHER_TRY(make_device(where, fresh.base, fresh.exported));
  }
  kept<block>().push_back(std::move(fresh));
  return &kept<block>().back();
}

result<workspace> workspace::take(workspace_kind kind, const memory::place& where) noexcept {
  std::lock_guard lock(guard);
  block* found = nullptr;
  for (block& b : kept<block>())
    if (!b.taken && b.kind == kind && b.where == where) found = &b;
  if (!found) {
    auto made = make(kind, where);
    TELPHER_TRY(made);
    found = *made;
  }
  TELPHER_TRY(clear(kind, where, found->base, scratch_at()));
  found->taken = true;
  return workspace(found);
}

status workspace::clear_inbox() noexcept {
  return clear(block_->kind, block_->where, block_->base + inbox_at, scratch_at() - inbox_at);
}

workspace::~workspace() {
  if (!block_) return;
  std::lock_guard lock(guard);
  block_->taken = false;
}

std::byte* workspace::base() const noexcept {
  return block_->base;
}

const path::exported_memory& workspace::exported() const noexcept {
  return block_->exported;
}

void workspace::place_in(spaces& s, std::byte* base) noexcept {
  s.inbox = reinterpret_cast<std::uintptr_t>(base + inbox_at);
  s.scratch = reinterpret_cast<std::uintptr_t>(base + scratch_at());
}

void workspace::release_kept() noexcept {
  std::lock_guard lock(guard);
  for (auto b = kept<block>().begin(); b != kept<block>().end();) {
    if (b->taken) {
      ++b;
      continue;
    }
    if (b->kind == workspace_kind::device)
      static_cast<void>(b->where.owner->release(b->where.device, b->base));
    b = kept<block>().erase(b);
  }
}

// --- those of peers ---

result<peer_workspace> peer_workspace::open(workspace_kind kind, int process,
                                            const path::exported_memory& there,
                                            const memory::place& where) noexcept {
  peer_workspace w;
  if (kind == workspace_kind::host) {
    shared_memory_name name;
    std::memcpy(&name, there.handle.bytes, sizeof name);
    auto memory = shared_memory::open(name);
    TELPHER_TRY(memory);
    auto segment = registered_segment::of(std::move(*memory), where);
    TELPHER_TRY(segment);
    w.segment_ = std::move(*segment);
    w.base_ = w.segment_.data();
    return w;
  }
  if (!path::importer_for(there, where)) return status::not_supported;
  auto opened = memory::ipc_cache::instance().acquire(
      {process, static_cast<std::uintptr_t>(there.base), there.generation, where},
      there.allocation_bytes, there.handle);
  TELPHER_TRY(opened);
  w.mapping_ = std::move(*opened);
  w.base_ = w.mapping_.base() + (there.address - there.base);
  return w;
}

}  // namespace telpher::coll::exchange
