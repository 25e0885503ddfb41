// SPDX-License-Identifier: BSD-3-Clause
// The ticket: what travels through the host MPI in place of a message in device memory. It is
// recognised by size and by the job's nonce, and everything in it is checked before use. Its size
// is a multiple of every predefined datatype's size (MPICH asserts that what arrives is a whole
// number of elements). On a node the first 48 bytes are sent alone (the short form): the sender's
// slot says where the payload lies, and the receiver must fetch the slot's cache line anyway. A
// host MPI moves fewer bytes faster (results/README.md). Types for which the short form will not do
// (short_will_do) use the long form on a node too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/status.hpp"
#include "codec/plan.hpp"
#include "path/slot.hpp"

namespace telpher::ticket {

constexpr std::size_t ticket_bytes = 480;
constexpr std::size_t short_ticket_bytes = 48;
constexpr bool may_be_ticket(std::size_t bytes) noexcept {
  return bytes == ticket_bytes || bytes == short_ticket_bytes;
}
/// Whether the short form will do for a datatype whose elements have this size. It must be a whole
/// number of elements, and must not end inside a basic type. An element of less than 32 bytes holds
/// no basic type of 32 bytes (long double complex), which does not divide 48.
constexpr bool short_will_do(std::size_t element_bytes) noexcept {
  return element_bytes > 0 && element_bytes < 32 && short_ticket_bytes % element_bytes == 0;
}

constexpr std::uint32_t no_slot = 0xffffffff;

using nonce = std::array<std::uint8_t, 16>;

struct ticket {
  nonce mark;
  std::uint32_t checksum;  // of all that follows
  std::uint32_t version;
  std::uint64_t bytes;        // of the payload
  std::int32_t sender;        // world rank
  std::int32_t reply_tag;     // on the private communicator; -1 where a slot carries the answers
  std::uint32_t slot;         // index in the sender's segment, or no_slot
  std::uint32_t epoch;        // of the slot's use; the last field of the short form
  std::uint64_t coded_bytes;  // what travels, where `coding` compresses it
  codec::plan coding;
  std::uint32_t
      announces;  // 1: the choice of the protocol comes in front of the blocks (path/rdma.hpp)
  std::uint32_t reserved;
  std::uint8_t unused[ticket_bytes - short_ticket_bytes - 8 - sizeof(codec::plan) - 8];
};
static_assert(sizeof(ticket) == ticket_bytes && std::is_trivially_copyable_v<ticket> &&
              offsetof(ticket, coded_bytes) == short_ticket_bytes);

constexpr std::uint32_t ticket_version = 5;

/// Fills mark, version and checksum; the rest must be set. `size`: of the form that is sent.
void seal(ticket& t, const nonce& mark, std::size_t size = ticket_bytes) noexcept;

/// Whether a message of a ticket's size (may_be_ticket) is a ticket of this job: compares nonces.
bool is_ticket(const void* bytes, const nonce& mark) noexcept;

/// The same for `ticket_bytes` bytes of a buffer into which a message may have been received only
/// in part. So the checksum is compared too, of the short form and of the long one.
bool holds_ticket(const void* bytes, const nonce& mark) noexcept;

/// Copies a recognised ticket of `size` bytes (all but its unused end) out of `bytes` and checks it
/// against itself: version, checksum, ranges. `ranks` is the size of the job, `slots` the slots of
/// a segment. corrupt, with a logged reason, if anything is wrong.
status read(const void* bytes, std::size_t size, int ranks, std::uint32_t slots,
            ticket& out) noexcept;

/// The number by which a trace names a message among its sender's messages, at both ends.
constexpr long long ticket_id(std::uint32_t slot, std::uint32_t epoch, int reply_tag) noexcept {
  return reply_tag >= 0 ? -1 - static_cast<long long>(reply_tag)
                        : static_cast<long long>(slot) << 24 | epoch;
}

}  // namespace telpher::ticket
