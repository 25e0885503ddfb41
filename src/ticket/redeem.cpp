// SPDX-License-Identifier: BSD-3-Clause
// A ticket has arrived: it is checked, the message is claimed, and a path is chosen that fetches
// the bytes. The sender is told in the end, also where nothing can be done with them.
#include "base/log.hpp"
#include "base/prefetch.hpp"
#include "host_mpi/received.hpp"
#include "path/compressed.hpp"
#include "path/pipelined.hpp"
#include "path/staged.hpp"
#include "ticket/receives.hpp"

namespace telpher::ticket {

using path::slot_state;

namespace {

/// A message that nobody can take: tells the sender that it is free.
class discarded final : public path::transfer {
 public:
  discarded(path::segment& sender, path::slot& cell, std::uint32_t epoch) noexcept
      : sender_(sender), cell_(cell), epoch_(epoch) {
    if (cell.take(epoch, slot_state::claimed)) sender.answer(cell, epoch, slot_state::done);
  }
  status poll() noexcept override {
    const slot_state s = cell_.state_in(epoch_);
    if (s == slot_state::staging) return status::would_block;
    if (s == slot_state::staged || s == slot_state::refused || s == slot_state::arrived)
      sender_.answer(cell_, epoch_, slot_state::done);
    return status::ok;
  }
  path::kind moved_by() const noexcept override { return path::kind::none; }

 private:
  path::segment& sender_;
  path::slot& cell_;
  std::uint32_t epoch_;
};

}  // namespace

void receive::redeem(const std::byte* bytes) noexcept {
  const status s = read(bytes, bytes_, peers_.job().size, peers_.slots(), more().announced);
  restore_prefix();
  leave_place();
  if (s != status::ok) return settle(s);
  if (told().slot != no_slot) {
    all_.saw_ticket();
    if (const path::segment& sender = peers_.segment_of(told().sender))
      prefetch_to_write(&sender.cell(told().slot));
  }
  bytes_ = told().bytes;
  by_ticket_ = true;
  host_mpi::set_bytes(status_, bytes_);
  phase_ = phase::redeemed;
}

void receive::start() noexcept {
  if (phase_ != phase::redeemed || held_) return;
  phase_ = phase::moving;
  if (!sender_prepares()) begin();
}

const path::slot* receive::senders_slot() const noexcept {
  if (told().slot == no_slot) return nullptr;
  const path::segment& sender = peers_.segment_of(told().sender);
  return sender ? &sender.cell(told().slot) : nullptr;
}

// The sender's device is still at work on the payload, which nobody may claim yet.
bool receive::sender_prepares() const noexcept {
  const path::slot* const cell = senders_slot();
  if (!cell) return false;
  const slot_state now = cell->state_in(told().epoch);
  return now == slot_state::preparing || now == slot_state::coming;
}

// --- in the order of a stream ---

std::optional<kernel::inbox_take::arrival> receive::in_inbox() const noexcept {
  const path::slot* const cell = waits_for_stream() && by_ticket_ ? senders_slot() : nullptr;
  if (!cell || bytes_ > capacity_) return std::nullopt;
  const slot_state now = cell->state_in(told().epoch);
  if (now != slot_state::coming && now != slot_state::arrived) return std::nullopt;
  return kernel::inbox_take::arrival{static_cast<std::uint32_t>(cell->where), cell->ring_blocks,
                                     bytes_};
}

bool receive::is_refused() const noexcept {
  const path::slot* const cell = senders_slot();
  return cell && cell->state_in(told().epoch) == slot_state::refused;
}

void receive::resume() noexcept {
  held_ = false;
  if (phase_ != phase::redeemed) return;
  if (by_ticket_) return start();
  phase_ = phase::posted;
  raw_arrived(landed());
}

void receive::ended_by_stream(status outcome) noexcept {
  const path::segment& sender = peers_.segment_of(told().sender);
  sender.answer(sender.cell(told().slot), told().epoch, slot_state::done);
  moved_by_ = path::kind::inbox;
  if (outcome == status::ok) path::count(moved_by_, bytes_);
  settle(outcome);
}

// --- the claim ---

void receive::begin() noexcept {
  status s = outcome_;  // of one that was given up
  if (s == status::ok) s = bytes_ > capacity_ ? status::truncated : claim();
  if (s != status::ok) discard(s);
}

status receive::claim() noexcept {
  if (told().slot == no_slot) return ask_for_blocks();
  auto to = destination();
  TELPHER_TRY(to);
  return choose_path(*to);
}

// To the program's buffer, or, where its blocks and the sender's do not fit together, to contiguous
// memory.
result<datatype::unpack_plan> receive::plan_move(const void* from, const datatype::strided* shape,
                                                 bool gaps, const path::region& to,
                                                 device::stream s, bool& unpacks) noexcept {
  device::backend& owner = *where_.owner;
  if (gaps) {
    auto plan = datatype::plan_unpack(owner, *layout_, where_.device, from, shape, user_,
                                      static_cast<MPI_Count>(bytes_ / layout_->size), s);
    unpacks = plan.has_value();
    if (plan || !shape) return plan;
  }
  return datatype::plan_gather(owner, where_.device, from, *shape, to.data, bytes_);
}

status receive::choose_path(const path::region& to) noexcept {
  path::segment& sender = peers_.segment_of(told().sender);
  if (!sender) return status::corrupt;
  path::slot& cell = sender.cell(told().slot);
  if (cell.state_in(told().epoch) == slot_state::arrived) return take_from_inbox(cell, to);
  if (cell.take(told().epoch, slot_state::claimed)) {
    if (cell.is_strided || cell.payload.holds(bytes_)) {  // what reads a shape looks at it
      path::receive_end e{told().sender == peers_.job().rank ? path::process : path::node, to};
      e.sender = &sender;
      e.cell = &cell;
      e.epoch = told().epoch;
      e.peer = told().sender;
      const bool gaps = more_->packed && bytes_ % layout_->size == 0;
      if (where_.on_device() && (gaps || cell.is_strided))
        e.plan = [this, gaps, to](const void* from, const datatype::strided* shape,
                                  device::stream s, bool& unpacks) {
          return plan_move(from, shape, gaps, to, s, unpacks);
        };
      path::start_receive(e);  // the last resort, staged, always begins
      if (e.unpacks) more_->packed = {};
      more_->transfer = std::move(e.transfer);
      return status::ok;
    }
    TELPHER_ERROR("slot %u of rank %d names a payload outside its allocation", told().slot,
                  told().sender);
    sender.answer(cell, told().epoch, slot_state::done);
    return status::corrupt;
  }
  const slot_state now = cell.state_in(told().epoch);
  if (now != slot_state::staging && now != slot_state::staged && now != slot_state::refused) {
    TELPHER_ERROR("a ticket of rank %d names slot %u, which is not ready", told().sender,
                  told().slot);
    return status::corrupt;
  }
  more_->transfer = std::make_unique<path::staged_receive>(sender, cell, told().epoch, to);
  return status::ok;
}

status receive::take_from_inbox(const path::slot& cell, const path::region& to) noexcept {
  auto begun =
      path::take_from_inbox(peers_.place_on_node(told().sender),
                            {static_cast<std::uint32_t>(cell.where), cell.ring_blocks, bytes_}, to);
  TELPHER_TRY(begun);
  more_->transfer = std::move(*begun);
  return status::ok;
}

// Blocks for a device's buffer with gaps are unpacked one by one. Whatever else may come needs
// contiguous memory.
status receive::ask_for_blocks() noexcept {
  const path::wire w{peers_.job().control, told().sender, told().reply_tag};
  if (where_.on_device() && !one_run() && !told().coding && !told().announces) {
    more_->transfer = std::make_unique<path::pipelined_receive>(
        w, path::block_end(where_, *layout_, user_, bytes_), false);
    return status::ok;
  }
  auto to = destination();
  TELPHER_TRY(to);
  if (!told().coding) {
    more_->transfer = std::make_unique<path::pipelined_receive>(w, *to, told().announces);
    return status::ok;
  }
  auto coded = std::make_unique<path::compressed_receive>(told().coding, *to);
  TELPHER_TRY(coded->start(w, told().coded_bytes));
  more_->transfer = std::move(coded);
  return status::ok;
}

// The payload is longer than the buffer, or there is no memory for it: the sender must still be
// told, unless the ticket itself is wrong.
void receive::discard(status why) noexcept {
  if (why == status::corrupt) return settle(why);
  outcome_ = why;
  if (told().slot != no_slot) {
    path::segment& sender = peers_.segment_of(told().sender);
    if (!sender) return settle(status::corrupt);
    more_->transfer = std::make_unique<discarded>(sender, sender.cell(told().slot), told().epoch);
    return;
  }
  const path::region nowhere{{}, nullptr, told().coding ? told().coded_bytes : bytes_};
  more_->transfer = std::make_unique<path::pipelined_receive>(
      path::wire{peers_.job().control, told().sender, told().reply_tag}, nowhere, told().announces);
}

// The sender could not push.
bool receive::put_refused() const noexcept {
  return by_ticket_ && told().slot != no_slot &&
         peers_.segment_of(told().sender).cell(told().slot).state_in(told().epoch) ==
             slot_state::refused;
}

void receive::release_sender() noexcept {
  peers_.segment_of(told().sender).cell(told().slot).set(told().epoch, slot_state::done);
  all_.owe_ring(told().sender);
}

}  // namespace telpher::ticket
