// SPDX-License-Identifier: BSD-3-Clause
#include "path/staged.hpp"

#include <algorithm>
#include <cstring>

#include "base/log.hpp"

namespace telpher::path {
namespace {

constexpr std::size_t most_ring_blocks = 4;

}  // namespace

// --- copies of blocks ---

status block_copies::start(void* to, const void* from, std::size_t bytes,
                           std::size_t uncut) noexcept {
  if (!mover_.on_device()) {
    std::memcpy(to, from, bytes);
    ++finished_;
    ++started_;
    return status::ok;
  }
  return start_by([&](device::stream s) noexcept {
    std::size_t most = uncut;
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t n = std::min(bytes - done, most);
      TELPHER_TRY(mover_.owner->copy(static_cast<std::byte*>(to) + done,
                                     static_cast<const std::byte*>(from) + done, n, s));
      done += n;
      most = memory::pinned_range::chunk_bytes;
    }
    return status::ok;
  });
}

result<std::size_t> block_copies::finished() noexcept {
  while (!running_.empty()) {
    const status s = running_.front().end.query();
    if (s == status::would_block) break;
    if (s != status::ok) {
      stop();
      return s;
    }
    running_.pop_front();
    ++finished_;
  }
  return finished_;
}

void block_copies::stop() noexcept {
  if (mover_.on_device()) memory::wait_for(mover_, role_);
  running_.clear();
}

// --- receiver ---

staged_receive::staged_receive(segment& sender, slot& cell, std::uint32_t epoch,
                               const region& to) noexcept
    : sender_(sender),
      cell_(cell),
      epoch_(epoch),
      to_(to),
      source_(sender, cell),
      copies_(to.where, memory::stream_role::in) {
  if (cell.state_in(epoch) == slot_state::claimed)
    sender.answer(cell, epoch, slot_state::pipe_asked);
}

status staged_receive::poll() noexcept {
  switch (cell_.state_in(epoch_)) {
    case slot_state::pipe_asked:
    case slot_state::staging:
      return status::would_block;
    case slot_state::staged:
      return take_whole();
    case slot_state::piping:
      return take_blocks();
    case slot_state::refused:
      copies_.stop();
      sender_.answer(cell_, epoch_, slot_state::done);
      return status::device_error;
    default:
      return status::corrupt;
  }
}

status staged_receive::take_whole() noexcept {
  const status s = copy_whole();
  if (s != status::would_block) sender_.answer(cell_, epoch_, slot_state::done);
  return s;
}

status staged_receive::copy_whole() noexcept {
  if (copies_.started() == 0) {
    std::byte* from = source_.find(0, to_.bytes, to_.where.owner);
    if (!from) return status::corrupt;
    TELPHER_TRY(copies_.start(to_.data, from, to_.bytes, source_.uncut(0)));
  }
  auto finished = copies_.finished();
  TELPHER_TRY(finished);
  return *finished == 0 ? status::would_block : status::ok;
}

status staged_receive::take_blocks() noexcept {
  if (!plan_) {
    plan_ = block_plan::from(to_.bytes, cell_.plan);
    ring_blocks_ = cell_.ring_blocks;
    ring_block_bytes_ = cell_.ring_block_bytes;
  }
  std::size_t taken = cell_.produced.load(std::memory_order_acquire);
  if (outcome_ == status::ok) {
    const auto copied = copy_blocks(taken);
    outcome_ = copied.error();
    if (copied)
      taken = *copied;
    else
      copies_.stop();
  }
  cell_.consumed.store(taken, std::memory_order_release);
  if (taken < plan_->count()) return status::would_block;
  sender_.answer(cell_, epoch_, slot_state::done);
  return outcome_;
}

/// Starts the copies of produced blocks; returns how many blocks have arrived.
result<std::size_t> staged_receive::copy_blocks(std::size_t produced) noexcept {
  const block_plan& plan = *plan_;
  if (plan.count() == 0 || ring_blocks_ == 0) return status::corrupt;
  while (copies_.started() < std::min(produced, plan.count())) {
    const std::size_t k = copies_.started();
    const std::uint64_t at = k % ring_blocks_ * ring_block_bytes_;
    std::byte* from = source_.find(at, plan.size(k), to_.where.owner);
    if (!from) return status::corrupt;
    TELPHER_TRY(copies_.start(to_.data + plan.offset(k), from, plan.size(k), source_.uncut(at)));
  }
  return copies_.finished();
}

// --- sender: ring ---

staged_feed::staged_feed(own_segment& own, slot& cell, std::uint32_t epoch,
                         const region& from) noexcept
    : own_(own),
      cell_(cell),
      epoch_(epoch),
      from_(from),
      plan_(block_plan::of(from.bytes)),
      copies_(from.where, memory::stream_role::out) {}

// A ring as deep as the arena has room for.
std::unique_ptr<staging_piece> staged_feed::room_for(std::size_t block) noexcept {
  const std::size_t most = std::min(plan_.count(), most_ring_blocks);
  for (depth_ = most; depth_ > 0; depth_ /= 2)
    if (auto room = staging_piece::take(own_, depth_ * block, from_.where.owner)) return room;
  depth_ = most;
  return staging_piece::take_any(own_, depth_ * block, from_.where.owner);
}

status staged_feed::make_ring() noexcept {
  block_bytes_ = (plan_.largest() + 4095) / 4096 * 4096;
  ring_ = room_for(block_bytes_);
  if (!ring_) return status::would_block;  // wait until other messages free their memory
  ring_->tell(cell_);
  cell_.plan = plan_.told();
  cell_.ring_blocks = static_cast<std::uint32_t>(depth_);
  cell_.ring_block_bytes = block_bytes_;
  cell_.produced.store(0, std::memory_order_relaxed);
  cell_.consumed.store(0, std::memory_order_relaxed);
  cell_.set(epoch_, slot_state::piping);
  return status::ok;
}

status staged_feed::poll() noexcept {
  if (!ring_) TELPHER_TRY(make_ring());
  const std::uint64_t consumed = cell_.consumed.load(std::memory_order_acquire);
  while (copies_.started() < plan_.count() && copies_.started() - consumed < depth_) {
    const std::size_t k = copies_.started();
    const std::size_t at = k % depth_ * block_bytes_;
    TELPHER_TRY(copies_.start(ring_->data() + at, from_.data + plan_.offset(k), plan_.size(k),
                              ring_->uncut(at)));
  }
  auto finished = copies_.finished();
  TELPHER_TRY(finished);
  cell_.produced.store(*finished, std::memory_order_release);
  return *finished == plan_.count() ? status::ok : status::would_block;
}

// --- sender: whole ---

staged_whole::staged_whole(slot& cell, std::uint32_t epoch, const region& from,
                           std::unique_ptr<staging_piece> room) noexcept
    : cell_(cell),
      epoch_(epoch),
      room_(std::move(room)),
      copies_(from.where, memory::stream_role::out),
      started_(copies_.start(room_->data(), from.data, from.bytes, room_->uncut(0))) {
  room_->tell(cell);
}

status staged_whole::poll() noexcept {
  TELPHER_TRY(started_);
  auto finished = copies_.finished();
  TELPHER_TRY(finished);
  if (*finished == 0) return status::would_block;
  cell_.set(epoch_, slot_state::staged);
  return status::ok;
}

namespace {

status ask_for_ring(receive_end& e) noexcept {
  e.transfer = std::make_unique<staged_receive>(*e.sender, *e.cell, e.epoch, e.to);
  return status::ok;
}

std::unique_ptr<transfer> feed_ring(const send_end& e) noexcept {
  return std::make_unique<staged_feed>(*e.own, *e.cell, e.epoch, e.from);
}

}  // namespace

constinit const record staged_path{.name = kind::staged,
                                   .between = process | node,
                                   .when = use::always,
                                   .start_receive = ask_for_ring,
                                   .asks = slot_state::pipe_asked,
                                   .answer = feed_ring};

}  // namespace telpher::path
