// SPDX-License-Identifier: BSD-3-Clause
// A sealed ticket is read as it was written. A ticket with any relevant byte changed, or with
// impossible content, is refused with the reason in the log.
#include "ticket/ticket.hpp"

#include <cstddef>
#include <cstring>

#include "check.hpp"
#include "check_log.hpp"

using namespace telpher;
using ticket::nonce;

namespace {

constexpr std::size_t whole = ticket::ticket_bytes;
constexpr std::size_t brief = ticket::short_ticket_bytes;
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
  return t;
}

template <class Change>
void refused(const char* why, Change change) {
  ticket::ticket t = good(), out;
  change(t);
  check::expect_log(why);
  for (const std::size_t size : {whole, brief}) {
    ticket::seal(t, mark, size);
    CHECK_EQ(ticket::read(&t, size, ranks, slots, out), status::corrupt);
  }
}

}  // namespace

TEST_CASE(a_sealed_ticket_is_read_as_it_was) {
  ticket::ticket t = good(), out;
  ticket::seal(t, mark);
  CHECK(ticket::is_ticket(&t, mark));
  REQUIRE(ticket::read(&t, whole, ranks, slots, out) == status::ok);
  CHECK_EQ(std::memcmp(&t, &out, offsetof(ticket::ticket, unused)), 0);
}

TEST_CASE(a_short_ticket_is_the_beginning_of_a_whole_one) {
  ticket::ticket t = good(), out;
  t.coding.how = codec::method::mpc;  // not in the short form
  out.announces = 1;
  out.coding.how = codec::method::mpc;
  ticket::seal(t, mark, brief);
  std::byte bytes[brief];
  std::memcpy(bytes, &t, sizeof bytes);
  CHECK(ticket::is_ticket(bytes, mark));
  REQUIRE(ticket::read(bytes, brief, ranks, slots, out) == status::ok);
  CHECK_EQ(std::memcmp(&t, &out, offsetof(ticket::ticket, coded_bytes)), 0);
  CHECK(!out.coding);
  CHECK_EQ(out.announces, 0);
  check::expect_log("wrong checksum");
  CHECK_EQ(ticket::read(&t, whole, ranks, slots, out), status::corrupt);
}

TEST_CASE(every_datatype_divides_the_ticket_that_is_sent_for_it) {
  for (const std::size_t element : {1, 2, 4, 6, 8, 12, 16, 20, 32})
    CHECK_EQ((ticket::short_will_do(element) ? brief : whole) % element, 0);
  CHECK(ticket::short_will_do(8));
  CHECK(!ticket::short_will_do(32));
  CHECK(!ticket::short_will_do(48));  // may hold elements of 32
  CHECK(!ticket::short_will_do(0));
}

TEST_CASE(other_bytes_are_no_ticket) {
  ticket::ticket t = good();
  nonce other = mark;
  other[15] ^= 1;
  ticket::seal(t, other);
  CHECK(!ticket::is_ticket(&t, mark));
}

TEST_CASE(a_part_of_a_ticket_is_not_held) {
  for (const std::size_t size : {whole, brief}) {
    ticket::ticket t = good();
    ticket::seal(t, mark, size);
    CHECK(ticket::holds_ticket(&t, mark));
    t.epoch ^= 1;
    CHECK(ticket::is_ticket(&t, mark));
    CHECK(!ticket::holds_ticket(&t, mark));
  }
}

TEST_CASE(a_ticket_read_at_an_odd_address) {
  ticket::ticket t = good(), out;
  ticket::seal(t, mark);
  std::byte bytes[ticket::ticket_bytes + 1];
  std::memcpy(bytes + 1, &t, sizeof t);
  CHECK(ticket::is_ticket(bytes + 1, mark));
  CHECK_EQ(ticket::read(bytes + 1, whole, ranks, slots, out), status::ok);
}

TEST_CASE(every_damaged_byte_is_found) {
  check::expect_log("a ticket was refused");
  for (const std::size_t size : {whole, brief}) {
    const std::size_t end =
        size == whole ? offsetof(ticket::ticket, unused) : offsetof(ticket::ticket, coded_bytes);
    for (std::size_t at = sizeof(nonce); at < end; ++at) {
      ticket::ticket t = good(), out;
      ticket::seal(t, mark, size);
      reinterpret_cast<std::uint8_t*>(&t)[at] ^= 0x10;
      CHECK_EQ(ticket::read(&t, size, ranks, slots, out), status::corrupt);
    }
  }
}

TEST_CASE(fields_that_cannot_be_are_refused) {
  refused("more bytes than", [](auto& t) { t.bytes = ~std::uint64_t{0}; });
  refused("more bytes than", [](auto& t) { t.bytes = std::uint64_t{1} << 63; });
  refused("no such sender", [](auto& t) { t.sender = -1; });
  refused("no such sender", [](auto& t) { t.sender = ranks; });
  refused("no such slot", [](auto& t) { t.slot = slots; });
  refused("no such slot", [](auto& t) { t.epoch = path::epoch_mask + 1; });
  {
    ticket::ticket t = good(), out;
    t.slot = ticket::no_slot;
    check::expect_log("neither slot nor reply tag");
    ticket::seal(t, mark);
    CHECK_EQ(ticket::read(&t, whole, ranks, slots, out), status::corrupt);
    t.reply_tag = 4;
    CHECK_EQ((ticket::seal(t, mark), ticket::read(&t, whole, ranks, slots, out)), status::ok);
    check::expect_log("short, and between nodes");
    ticket::seal(t, mark, brief);
    CHECK_EQ(ticket::read(&t, brief, ranks, slots, out), status::corrupt);
  }
}

TEST_CASE(another_version_is_refused) {
  ticket::ticket t = good(), out;
  ticket::seal(t, mark);
  t.version = ticket::ticket_version + 1;
  check::expect_log("another version");
  CHECK_EQ(ticket::read(&t, whole, ranks, slots, out), status::corrupt);
}
