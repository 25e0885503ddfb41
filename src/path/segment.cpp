// SPDX-License-Identifier: BSD-3-Clause
#include "path/segment.hpp"

#include <algorithm>
#include <new>

#include "base/clock.hpp"
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
    : base_(base),
      slots_at_(header().slots_at),
      arena_at_(header().arena_at),
      arena_bytes_(header().arena_bytes),
      pins_(base + arena_at_, arena_bytes_) {}

void segment::take_doorbell() noexcept {
  const std::size_t index = header().doorbells_taken.fetch_add(1, std::memory_order_relaxed);
  if (index < most_doorbells) doorbell_ = &doorbells()[index];
}

std::byte* segment::staging(std::uint64_t at, std::size_t bytes, device::backend* owner) noexcept {
  if (at < arena_at_ || bytes > arena_bytes_ || at - arena_at_ > arena_bytes_ - bytes)
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
  for (std::size_t i = 0; i < most_doorbells; ++i)
    new (&doorbells()[i]) std::atomic<std::uint64_t>{0};
  for (std::size_t i = 0; i < most_inboxes; ++i) new (&inbox(i)) inbox_card{};
  arena_ = memory::arena(h.arena_at, h.arena_bytes);
  for (std::uint32_t i = h.slots; i > 0; --i) free_slots_.push_back({i - 1, 0, 0});
}

void own_segment::keep_slots(std::uint32_t count) noexcept {
  std::erase_if(free_slots_, [&](const slot_use& s) { return s.index >= count; });
}

std::uint64_t own_segment::rung() const noexcept {
  const std::size_t taken = header().doorbells_taken.load(std::memory_order_relaxed);
  std::uint64_t sum = header().common_doorbell.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < std::min(taken, most_doorbells); ++i)
    sum += doorbells()[i].load(std::memory_order_acquire);
  return sum;
}

std::optional<slot_use> own_segment::take_slot() noexcept {
  if (free_slots_.empty()) return std::nullopt;
  slot_use next = free_slots_.back();
  free_slots_.pop_back();
  next.epoch = (next.epoch + 1) & epoch_mask;
  return next;
}

void own_segment::give_slot(const slot_use& last) noexcept {
  cell(last.index).set(last.epoch, slot_state::free);
  free_slots_.push_back(last);
}

// --- staging memory ---

namespace {

// Separate memory begins with its cookie. No arena has this offset, because a segment begins with
// its slots.
constexpr std::uint64_t first_apart = 4096;
static_assert(first_apart < segment_slots_at);
constexpr auto never_cut = static_cast<std::size_t>(-1);

}  // namespace

std::unique_ptr<staging_piece> staging_piece::take(own_segment& own, std::size_t bytes,
                                                   device::backend* owner) noexcept {
  const auto at = own.arena().take(bytes);
  if (!at) return nullptr;
  auto p = std::make_unique<staging_piece>();
  p->own_ = &own;
  p->at_ = *at;
  p->bytes_ = bytes;
  p->data_ = own.staging(*at, bytes, owner);
  return p;
}

std::unique_ptr<staging_piece> staging_piece::take_any(own_segment& own, std::size_t bytes,
                                                       device::backend* owner) noexcept {
  if (auto p = take(own, bytes, owner)) return p;
  // If the system has no memory (create() logs that), try again at most once a second.
  static std::uint64_t next_try_ns = 0;  // under the progress lock
  if (now_ns() < next_try_ns) return nullptr;
  auto apart = shared_memory::create(first_apart + bytes, "telpher-staging");
  if (!apart) {
    next_try_ns = now_ns() + 1'000'000'000;
    return nullptr;
  }
  auto p = std::make_unique<staging_piece>();
  p->apart_ = std::move(*apart);
  p->at_ = first_apart;
  p->data_ = p->apart_.data() + first_apart;
  return p;
}

staging_piece::~staging_piece() {
  if (own_) own_->arena().give(at_, bytes_);
}

std::size_t staging_piece::uncut(std::size_t offset) const noexcept {
  return own_ ? own_->uncut(at_ + offset) : never_cut;
}

void staging_piece::tell(slot& cell) const noexcept {
  cell.where = at_;
  if (apart_) cell.apart = apart_.name();
}

bool staged_source::is_apart() const noexcept {
  return sender_.before_arena(cell_.where);
}

std::byte* staged_source::find(std::uint64_t offset, std::size_t bytes,
                               device::backend* owner) noexcept {
  const std::uint64_t at = cell_.where + offset;
  if (!is_apart()) return sender_.staging(at, bytes, owner);
  if (!apart_) {
    auto opened = shared_memory::open(cell_.apart);
    if (!opened) return nullptr;
    apart_ = std::move(*opened);
  }
  return at < apart_.size() && bytes <= apart_.size() - at ? apart_.data() + at : nullptr;
}

std::size_t staged_source::uncut(std::uint64_t offset) const noexcept {
  return is_apart() ? never_cut : sender_.uncut(cell_.where + offset);
}

}  // namespace telpher::path
