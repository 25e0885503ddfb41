// SPDX-License-Identifier: BSD-3-Clause
#include "path/segment.hpp"

#include <algorithm>
#include <new>

#include "base/settings.hpp"

namespace telpher::path {
namespace {

std::size_t slots_bytes() {
  const std::size_t bytes = static_cast<std::size_t>(config().slots) * sizeof(slot);
  return (bytes + 4095) / 4096 * 4096;
}

}  // namespace

std::size_t segment_bytes() noexcept {
  return segment_slots_at + slots_bytes() + (config().staging_memory + 4095) / 4096 * 4096;
}

segment::segment(std::byte* base) noexcept
    : base_(base), pins_(base + header().arena_at, header().arena_bytes) {}

std::byte* segment::staging(std::uint64_t at, std::size_t bytes, device::backend* owner) noexcept {
  const segment_header& h = header();
  if (at < h.arena_at || bytes > h.arena_bytes || at - h.arena_at > h.arena_bytes - bytes)
    return nullptr;
  if (owner) pins_.prepare(owner, base_ + at, bytes);
  return base_ + at;
}

own_segment::own_segment(std::byte* base) noexcept {
  auto& h = *reinterpret_cast<segment_header*>(base);
  h.slots = static_cast<std::uint32_t>(config().slots);
  h.slots_at = segment_slots_at;
  h.arena_at = segment_slots_at + slots_bytes();
  h.arena_bytes = segment_bytes() - h.arena_at;
  for (std::uint32_t i = 0; i < h.slots; ++i) new (base + h.slots_at + i * sizeof(slot)) slot{};
  static_cast<segment&>(*this) = segment(base);
  arena_ = memory::arena(h.arena_at, h.arena_bytes);
  for (std::uint32_t i = h.slots; i > 0; --i) free_slots_.push_back(i - 1);
}

std::optional<std::uint32_t> own_segment::take_slot(std::uint32_t& epoch) noexcept {
  if (free_slots_.empty()) return std::nullopt;
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  epoch = ((cell(index).word.load(std::memory_order_relaxed) >> 8) + 1) & epoch_mask;
  return index;
}

void own_segment::give_slot(std::uint32_t index) noexcept {
  slot& s = cell(index);
  s.set(s.word.load(std::memory_order_relaxed) >> 8, slot_state::free);
  free_slots_.push_back(index);
}

// --- pieces of the arena ---

std::unique_ptr<staging_piece> staging_piece::take(own_segment& own, std::size_t bytes,
                                                   device::backend* owner) noexcept {
  const auto at = own.arena().take(bytes);
  if (!at) return nullptr;
  auto p = std::make_unique<staging_piece>();
  p->own_ = &own;
  p->at = *at;
  p->bytes = bytes;
  p->data = own.staging(*at, bytes, owner);
  return p;
}

staging_piece::~staging_piece() {
  if (own_) own_->arena().give(at, bytes);
}

}  // namespace telpher::path
