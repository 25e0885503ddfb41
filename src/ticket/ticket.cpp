// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/ticket.hpp"

#include <cstring>

#include "base/log.hpp"

namespace telpher::ticket {
namespace {

constexpr std::size_t checked_from = offsetof(ticket, version);
constexpr std::size_t checked_to = offsetof(ticket, unused);

// FNV-1a over 4-byte words: finds damage, not malice (the nonce keeps strangers out).
std::uint32_t checksum_of(const ticket& t) noexcept {
  std::uint32_t sum = 2166136261u;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&t);
  for (std::size_t i = checked_from; i + 4 <= checked_to; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, bytes + i, 4);
    sum = (sum ^ word) * 16777619u;
  }
  return sum;
}

const char* flaw(const ticket& t, int ranks, std::uint32_t slots) noexcept {
  if (t.version != ticket_version) return "another version";
  if (t.checksum != checksum_of(t)) return "wrong checksum";
  if (t.sender < 0 || t.sender >= ranks) return "no such sender";
  if (t.slot == no_slot && t.reply_tag < 0) return "neither slot nor reply tag";
  if (t.slot != no_slot && (t.slot >= slots || t.epoch > path::epoch_mask)) return "no such slot";
  const auto& m = t.memory;
  if (m.allocation_bytes < t.bytes || m.address < m.base ||
      m.address - m.base > m.allocation_bytes - t.bytes)
    return "payload outside its allocation";
  if (t.coding && t.slot != no_slot) return "compressed, and on one node";
  if (t.coding && !codec::sound(t.coding, t.bytes, t.coded_bytes)) return "no such compression";
  return nullptr;
}

}  // namespace

void seal(ticket& t, const nonce& mark) noexcept {
  t.mark = mark;
  t.version = ticket_version;
  t.checksum = checksum_of(t);
}

bool is_ticket(const void* bytes, const nonce& mark) noexcept {
  return std::memcmp(bytes, mark.data(), mark.size()) == 0;
}

status read(const void* bytes, int ranks, std::uint32_t slots, ticket& out) noexcept {
  std::memcpy(&out, bytes, sizeof out);
  const char* why = flaw(out, ranks, slots);
  if (!why) return status::ok;
  TELPHER_ERROR("a ticket was refused: %s (says sender %d, %llu bytes)", why, out.sender,
                static_cast<unsigned long long>(out.bytes));
  return status::corrupt;
}

}  // namespace telpher::ticket
