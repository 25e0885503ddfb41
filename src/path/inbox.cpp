// SPDX-License-Identifier: BSD-3-Clause
#include "path/inbox.hpp"

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/lasting.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "memory/streams.hpp"
#include "path/exported.hpp"
#include "path/matched_room.hpp"

namespace telpher::path {
namespace {

using kernel::inbox_take;

constexpr std::uint32_t cells = 64;  // bits of outbox::free
static_assert(cells <= inbox_take::most_cells);

// Words take at most twice the bytes of a message.
constexpr std::uint64_t words_for(std::uint64_t bytes) noexcept {
  return 2 * (bytes + 15);
}
constexpr std::uint64_t cells_for(std::uint64_t bytes, std::uint64_t cell_bytes) noexcept {
  return (words_for(bytes) + cell_bytes - 1) / cell_bytes;
}

// A cell holds a message of 128 KB, or of 8 KB where many ranks may each have an inbox here.
std::uint64_t own_cell_bytes(std::size_t ranks) noexcept {
  constexpr std::size_t many = 8;
  return matched_room::part(words_for(ranks > many ? 8 << 10 : 128 << 10));
}

// Belongs to one sender. Has no room if making one was tried and failed.
struct own_inbox {
  std::shared_ptr<matched_room> room;
  inbox seen{};
};
lasting<std::array<std::optional<own_inbox>, most_inboxes>> own_inboxes;

// What a sender knows of an inbox of a receiver.
struct outbox {
  memory::mapping mapping;
  memory::place from;  // the device that has opened it
  std::byte* base = nullptr;
  std::uint64_t cell_bytes = 0;
  std::uint32_t mark = 0;                  // of the last message
  std::uint64_t free = ~std::uint64_t{0};  // a bit for each cell
  bool no_room = false;                    // a call has waited in vain since cells came free

  /// The cells from `first` on, as bits.
  static std::uint64_t row(std::uint32_t first, std::uint32_t count) noexcept {
    return ((std::uint64_t{1} << count) - 1) << first;
  }
};
made_at_start<std::map<int, outbox>> outboxes;  // by the receiver's rank

own_inbox make(inbox_card& card, const memory::place& where, std::uint64_t cell_bytes) noexcept {
  auto room = matched_room::make(where, cells * cell_bytes, 0);
  if (!room || !(*room)->exported().exportable) {
    TELPHER_DEBUG("no inbox for messages of streams on device %d: %s", where.device,
                  to_string(room ? status::not_supported : room.error()));
    return {};
  }
  card.memory = (*room)->exported();
  card.cell_bytes = cell_bytes;
  card.there.store(1, std::memory_order_release);
  return {*room, {where, (*room)->base(), cell_bytes}};
}

result<outbox> open(const inbox_card& card, int peer, const memory::place& where) noexcept {
  if (card.there.load(std::memory_order_acquire) == 0 || card.cell_bytes < words_for(1) ||
      !card.memory.holds(cells * card.cell_bytes))
    return status::not_supported;
  outbox made;
  made.cell_bytes = card.cell_bytes;
  made.from = where;
  auto opened = open_for(peer, card.memory, where);
  if (opened) {
    made.mapping = std::move(opened->mapping);
    made.base = opened->data;
  }
  return made;  // without a base it is not asked for again
}

/// From an inbox to memory of any kind, by a kernel in a stream of ours.
class cell_copy final : public transfer {
 public:
  explicit cell_copy(const region& to) noexcept : to_(to) {}

  status start(const inbox& from, const inbox_take::arrival& a) noexcept {
    where_ = from.where;
    const bool aside = to_.where != where_;
    TELPHER_TRY(
        memory::buffer::for_kernels(header + (aside ? a.bytes : 0), where_.owner).into(words_));
    auto* const word = static_cast<std::uint64_t*>(words_.data());
    word[0] = inbox_take::order_for(a);
    if (aside) landed_ = static_cast<std::byte*>(words_.data()) + header;
    inbox_take k{aside ? landed_ : to_.data,
                 from.base,
                 from.cell_bytes,
                 &word[0],
                 &word[1],
                 reinterpret_cast<std::uint32_t*>(&word[2])};
    const auto own = memory::stream(where_, memory::stream_role::kernel);
    TELPHER_TRY(own);
    auto event = memory::pooled_event::acquire(where_);
    TELPHER_TRY(event);
    TELPHER_TRY(where_.owner->launch(kernel::id::inbox_take, &k, inbox_blocks(a.bytes),
                                     inbox_threads(a.bytes), *own));
    const status recorded = event->record(*own);
    if (failed(recorded)) memory::wait_for(where_, memory::stream_role::kernel);
    taken_ = std::move(*event);
    return recorded;
  }
  status poll() noexcept override {
    if (taken_) {
      if (const status s = taken_.query(); s != status::ok) return s;
      taken_ = {};
    }
    if (!landed_) return status::ok;
    if (to_.where.on_device())
      return memory::copy_and_wait(to_.where, to_.data, landed_, to_.bytes);
    std::memcpy(to_.data, landed_, to_.bytes);
    return status::ok;
  }
  kind moved_by() const noexcept override { return kind::inbox; }
  bool owes_answer() const noexcept override { return true; }

 private:
  static constexpr std::size_t header = 64;  // an order, a word that nobody reads, and the ends

  region to_;
  memory::place where_;
  memory::buffer words_;
  std::byte* landed_ = nullptr;  // null: straight to its place
  memory::pooled_event taken_;
};

}  // namespace

// --- the receiver's side ---

const inbox* inbox_for(own_segment& own, std::size_t sender, const memory::place& where,
                       std::size_t ranks) noexcept {
  if (sender >= most_inboxes) return nullptr;
  std::optional<own_inbox>& known = (*own_inboxes)[sender];
  if (!known) known = make(own.inbox(sender), where, own_cell_bytes(ranks));
  return known->room && known->seen.where == where ? &known->seen : nullptr;
}

result<std::unique_ptr<transfer>> take_from_inbox(std::size_t sender, const inbox_take::arrival& a,
                                                  const region& to) noexcept {
  if (sender >= most_inboxes) return status::corrupt;
  const std::optional<own_inbox>& known = (*own_inboxes)[sender];
  if (!known || !known->room) return status::corrupt;
  if (a.cell + cells_for(a.bytes, known->seen.cell_bytes) > cells) return status::corrupt;
  auto made = std::make_unique<cell_copy>(to);
  TELPHER_TRY(made->start(known->seen, a));
  return std::unique_ptr<transfer>(std::move(made));
}

// --- the sender's side ---

result<inbox_cells> take_cells(const segment& receiver, int peer, std::size_t own,
                               const memory::place& where, std::size_t bytes) noexcept {
  if (own >= most_inboxes) return status::not_supported;
  auto found = outboxes->find(peer);
  if (found == outboxes->end()) {
    auto opened = open(receiver.inbox(own), peer, where);
    TELPHER_TRY(opened);
    found = outboxes->emplace(peer, std::move(*opened)).first;
  }
  outbox& to = found->second;
  const auto count = static_cast<std::uint32_t>(cells_for(bytes, to.cell_bytes));
  if (!to.base || to.from != where || count >= cells) return status::not_supported;
  for (std::uint32_t first = 0; first + count <= cells; ++first) {
    const std::uint64_t row = outbox::row(first, count);
    if ((to.free & row) != row) continue;
    to.free &= ~row;
    to.mark = to.mark >= 0xfffffffe ? 1 : to.mark + 1;
    return inbox_cells{to.base + first * to.cell_bytes, first, count, to.mark};
  }
  return to.no_room ? status::not_supported : status::would_block;
}

void note_no_room(int peer) noexcept {
  if (const auto found = outboxes->find(peer); found != outboxes->end())
    found->second.no_room = true;
}

void give_cells(int peer, const inbox_cells& c) noexcept {
  const auto found = outboxes->find(peer);
  if (found == outboxes->end()) return;
  found->second.free |= outbox::row(c.first, c.count);
  found->second.no_room = false;
}

// A waiting kernel occupies the device, so it has few blocks: up to four, more for large messages.
int inbox_blocks(std::size_t bytes) noexcept {
  constexpr std::size_t each = 8 << 10, few = 4, large_each = 32 << 10;
  const std::size_t for_large = std::min<std::size_t>(bytes / large_each, inbox_take::most_blocks);
  return static_cast<int>(
      std::max(std::clamp<std::size_t>((bytes + each - 1) / each, 1, few), for_large));
}

int inbox_threads(std::size_t bytes) noexcept {
  constexpr std::size_t bytes_each = 16, most = 512;
  return static_cast<int>(std::min((bytes / bytes_each / 32 + 1) * 32, most));
}

void start_inboxes() noexcept {
  outboxes.make();
}

void close_inboxes() noexcept {
  outboxes->clear();
  for (auto& one : *own_inboxes) one.reset();
}

}  // namespace telpher::path
