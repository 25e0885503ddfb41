// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/ticket.hpp"

#include <cstdint>
#include <cstring>

#include "base/log.hpp"

namespace telpher::ticket {
namespace {

constexpr std::size_t checked_from = offsetof(ticket, version);
constexpr std::size_t checked_to(std::size_t size) noexcept {
  return size == ticket_bytes ? offsetof(ticket, unused) : short_ticket_bytes;
}
static_assert((checked_to(ticket_bytes) - checked_from) % 4 == 0 &&
              (checked_to(short_ticket_bytes) - checked_from) % 4 == 0);

template <class Word>
Word load(const std::uint8_t* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// FNV-1a over 8-byte words in four chains, whose multiplications overlap: finds damage, not malice
// (the nonce keeps strangers out).
std::uint32_t checksum_of(const ticket& t, std::size_t size) noexcept {
  constexpr std::uint64_t prime = 1099511628211u;
  constexpr std::size_t chains = 4;
  std::uint64_t sum[chains] = {14695981039346656037u, 1, 2, 3};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&t);
  const std::size_t end = checked_to(size);
  std::size_t i = checked_from;
  for (; i + 8 * chains <= end; i += 8 * chains)
    for (std::size_t chain = 0; chain < chains; ++chain)
      sum[chain] = (sum[chain] ^ load<std::uint64_t>(bytes + i + 8 * chain)) * prime;
  for (; i + 4 <= end; i += 4) sum[0] = (sum[0] ^ load<std::uint32_t>(bytes + i)) * prime;
  std::uint64_t all = 0;
  for (const std::uint64_t s : sum) all = (all ^ s ^ s >> 32) * prime;
  return static_cast<std::uint32_t>(all >> 32);
}

const char* flaw(const ticket& t, std::size_t size, int ranks, std::uint32_t slots) noexcept {
  if (t.version != ticket_version) return "another version";
  if (t.checksum != checksum_of(t, size)) return "wrong checksum";
  if (t.bytes > PTRDIFF_MAX) return "more bytes than an allocation can have";
  if (t.sender < 0 || t.sender >= ranks) return "no such sender";
  if (t.slot == no_slot && size != ticket_bytes) return "short, and between nodes";
  if (t.slot == no_slot && t.reply_tag < 0) return "neither slot nor reply tag";
  if (t.slot != no_slot && (t.slot >= slots || t.epoch > path::epoch_mask)) return "no such slot";
  if (t.coding && t.slot != no_slot) return "compressed, and on one node";
  if (t.coding && !codec::sound(t.coding, t.bytes, t.coded_bytes)) return "no such compression";
  return nullptr;
}

}  // namespace

void seal(ticket& t, const nonce& mark, std::size_t size) noexcept {
  t.mark = mark;
  t.version = ticket_version;
  t.checksum = checksum_of(t, size);
}

bool is_ticket(const void* bytes, const nonce& mark) noexcept {
  return std::memcmp(bytes, mark.data(), mark.size()) == 0;
}

bool holds_ticket(const void* bytes, const nonce& mark) noexcept {
  if (!is_ticket(bytes, mark)) return false;
  ticket t;
  std::memcpy(static_cast<void*>(&t), bytes, sizeof t);
  return t.checksum == checksum_of(t, short_ticket_bytes) ||
         t.checksum == checksum_of(t, ticket_bytes);
}

status read(const void* bytes, std::size_t size, int ranks, std::uint32_t slots,
            ticket& out) noexcept {
  out.coding = {};
  out.announces = 0;
  std::memcpy(static_cast<void*>(&out), bytes, checked_to(size));
  const char* why = flaw(out, size, ranks, slots);
  if (!why) return status::ok;
  TELPHER_ERROR("a ticket was refused: %s (says sender %d, %llu bytes)", why, out.sender,
                static_cast<unsigned long long>(out.bytes));
  return status::corrupt;
}

}  // namespace telpher::ticket
