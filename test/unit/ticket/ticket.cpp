// SPDX-License-Identifier: BSD-3-Clause
// A sealed ticket is read as it was written; a ticket that was changed in any byte that counts, or
// that names what cannot be, is refused with its reason in the log.
#include "ticket/ticket.hpp"

#include <cstddef>
#include <cstring>

#include "check.hpp"
#include "check_log.hpp"

using namespace telpher;
using ticket::nonce;

namespace {

constexpr int ranks = 4;
constexpr std::uint32_t slots = 16;
constexpr nonce mark = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

ticket::ticket good() {
  ticket::ticket t{};
  t.bytes = 1000;
  t.sender = 3;
  t.reply_tag = -1;
  t.slot = 5;
  t.epoch = 9;
  t.memory.base = 0x10000;
  t.memory.address = 0x10100;
  t.memory.allocation_bytes = 4096;
  return t;
}

template <class Change>
void refused(const char* why, Change change) {
  ticket::ticket t = good(), out;
  change(t);
  ticket::seal(t, mark);
  check::expect_log(why);
  CHECK_EQ(ticket::read(&t, ranks, slots, out), status::corrupt);
}

}  // namespace

TEST_CASE(a_sealed_ticket_is_read_as_it_was) {
  ticket::ticket t = good(), out;
  ticket::seal(t, mark);
  CHECK(ticket::is_ticket(&t, mark));
  REQUIRE(ticket::read(&t, ranks, slots, out) == status::ok);
  CHECK_EQ(std::memcmp(&t, &out, offsetof(ticket::ticket, unused)), 0);
}

TEST_CASE(other_bytes_are_no_ticket) {
  ticket::ticket t = good();
  nonce other = mark;
  other[15] ^= 1;
  ticket::seal(t, other);
  CHECK(!ticket::is_ticket(&t, mark));
}

TEST_CASE(a_ticket_read_at_an_odd_address) {
  ticket::ticket t = good(), out;
  ticket::seal(t, mark);
  std::byte bytes[ticket::ticket_bytes + 1];
  std::memcpy(bytes + 1, &t, sizeof t);
  CHECK(ticket::is_ticket(bytes + 1, mark));
  CHECK_EQ(ticket::read(bytes + 1, ranks, slots, out), status::ok);
}

TEST_CASE(every_damaged_byte_is_found) {
  check::expect_log("a ticket was refused");
  for (std::size_t at = sizeof(nonce); at < offsetof(ticket::ticket, unused); ++at) {
    ticket::ticket t = good(), out;
    ticket::seal(t, mark);
    reinterpret_cast<std::uint8_t*>(&t)[at] ^= 0x10;
    CHECK_EQ(ticket::read(&t, ranks, slots, out), status::corrupt);
  }
}

TEST_CASE(fields_that_cannot_be_are_refused) {
  refused("no such sender", [](auto& t) { t.sender = -1; });
  refused("no such sender", [](auto& t) { t.sender = ranks; });
  refused("no such slot", [](auto& t) { t.slot = slots; });
  refused("no such slot", [](auto& t) { t.epoch = path::epoch_mask + 1; });
  refused("neither slot nor reply tag", [](auto& t) { t.slot = ticket::no_slot; });
  refused("payload outside its allocation", [](auto& t) { t.bytes = 4097; });
  refused("payload outside its allocation", [](auto& t) { t.bytes = 4096 - 0x100 + 1; });
  refused("payload outside its allocation", [](auto& t) { t.memory.address = t.memory.base - 1; });
  refused("payload outside its allocation", [](auto& t) { t.memory.address = ~std::uint64_t{0}; });
  refused("payload outside its allocation", [](auto& t) { t.bytes = ~std::uint64_t{0}; });
}

TEST_CASE(another_version_is_refused) {
  ticket::ticket t = good(), out;
  ticket::seal(t, mark);
  t.version = ticket::ticket_version + 1;
  check::expect_log("another version");
  CHECK_EQ(ticket::read(&t, ranks, slots, out), status::corrupt);
}
