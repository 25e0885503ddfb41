// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/workspace.hpp"

#include <list>
#include <mutex>

#include "base/settings.hpp"
#include "path/pull.hpp"

namespace telpher::coll::exchange {

struct workspace::block {
  memory::place where;
  std::byte* base = nullptr;
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

status clear(const memory::place& where, std::byte* from, std::size_t bytes) noexcept {
  auto s = memory::stream(where, memory::lane::copy);
  TELPHER_TRY(s);
  TELPHER_TRY(where.owner->fill(from, 0, bytes, *s));
  return where.owner->synchronise(*s);
}

}  // namespace

result<workspace::block*> workspace::make(const memory::place& where) noexcept {
  block fresh;
  fresh.where = where;
  const std::size_t bytes = scratch_at() + config().coll_scratch;
  auto memory = where.owner->allocate(where.device, bytes);
  TELPHER_TRY(memory);
  fresh.base = static_cast<std::byte*>(*memory);
  device::pointer_info info;
  memory::classify(fresh.base, info);
  TELPHER_TRY(path::export_region({where, fresh.base, bytes}, info, fresh.exported));
  kept<block>().push_back(fresh);
  return &kept<block>().back();
}

result<workspace> workspace::take(const memory::place& where) noexcept {
  std::lock_guard lock(guard);
  block* found = nullptr;
  for (block& b : kept<block>())
    if (!b.taken && b.where == where) found = &b;
  if (!found) {
    auto made = make(where);
    TELPHER_TRY(made);
    found = *made;
  }
  TELPHER_TRY(clear(where, found->base, scratch_at()));
  found->taken = true;
  return workspace(found);
}

status workspace::clear_inbox() noexcept {
  return clear(block_->where, block_->base + inbox_at, scratch_at() - inbox_at);
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
    [[maybe_unused]] const status logged = b->where.owner->release(b->where.device, b->base);
    b = kept<block>().erase(b);
  }
}

}  // namespace telpher::coll::exchange
