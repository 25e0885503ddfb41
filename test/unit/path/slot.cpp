// SPDX-License-Identifier: BSD-3-Clause
// The slot protocol. Of a claim and a decision to stage exactly one wins, in either order and from
// two threads at once. Tickets of an earlier use of a cell, and ranges outside the arena, are
// refused. What is published with a state is visible to the reader of the state.
#include "path/slot.hpp"

#include <sys/mman.h>

#include <thread>
#include <vector>

#include "base/settings.hpp"
#include "check.hpp"
#include "path/segment.hpp"

using namespace telpher::path;

namespace {

constexpr std::uint32_t epoch = 7;

/// A rank's segment in private memory.
class own_memory {
 public:
  own_memory()
      : bytes_(segment_bytes()),
        base_(static_cast<std::byte*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
  }
  ~own_memory() { ::munmap(base_, bytes_); }
  std::byte* base() const { return base_; }

 private:
  std::size_t bytes_;
  std::byte* base_;
};

}  // namespace

TEST_CASE(a_claim_before_staging_wins) {
  slot cell{};
  cell.set(epoch, slot_state::ready);
  CHECK(cell.take(epoch, slot_state::claimed));
  CHECK(!cell.take(epoch, slot_state::staging));
  CHECK_EQ(cell.state_in(epoch), slot_state::claimed);
}

TEST_CASE(staging_before_a_claim_wins) {
  slot cell{};
  cell.set(epoch, slot_state::ready);
  CHECK(cell.take(epoch, slot_state::staging));
  CHECK(!cell.take(epoch, slot_state::claimed));
  CHECK_EQ(cell.state_in(epoch), slot_state::staging);
}

TEST_CASE(what_is_being_prepared_is_nobodys) {
  slot cell{};
  cell.set(epoch, slot_state::preparing);
  CHECK(!cell.take(epoch, slot_state::claimed));
  CHECK(!cell.take(epoch, slot_state::staging));
  CHECK_EQ(cell.state_in(epoch), slot_state::preparing);
  cell.set(epoch, slot_state::ready);
  CHECK(cell.take(epoch, slot_state::claimed));
}

// The sender stores ready, the receiver claims from then on, and sees what was written before.
TEST_CASE(a_claim_waits_for_the_payload) {
  constexpr std::uint32_t rounds = 20000;
  slot cell{};
  std::atomic<std::uint32_t> prepared{0}, taken{0};
  bool seen = true;
  std::thread receiver([&] {
    for (std::uint32_t r = 1; r <= rounds; ++r) {
      while (prepared.load(std::memory_order_relaxed) < r) std::this_thread::yield();
      while (!cell.take(r, slot_state::claimed))
        if (cell.state_in(r) == slot_state::preparing) std::this_thread::yield();
      seen = seen && cell.payload.address == r;
      taken.store(r, std::memory_order_release);
    }
  });
  for (std::uint32_t r = 1; r <= rounds; ++r) {
    cell.set(r, slot_state::preparing);
    prepared.store(r, std::memory_order_relaxed);
    cell.payload.address = r;
    cell.set(r, slot_state::ready);
    while (taken.load(std::memory_order_acquire) < r) std::this_thread::yield();
  }
  receiver.join();
  CHECK(seen);
}

TEST_CASE(two_threads_never_both_win) {
  constexpr std::uint32_t rounds = 20000;
  slot cell{};
  std::atomic<std::uint32_t> turn{0}, ended{0};
  std::uint32_t claimed = 0, staged = 0;
  const auto compete = [&](slot_state wanted, std::uint32_t& won) {
    for (std::uint32_t r = 1; r <= rounds; ++r) {
      while (turn.load(std::memory_order_acquire) < r) std::this_thread::yield();
      if (cell.take(r, wanted)) ++won;
      ended.fetch_add(1, std::memory_order_release);
    }
  };
  std::thread receiver(compete, slot_state::claimed, std::ref(claimed));
  std::thread sender(compete, slot_state::staging, std::ref(staged));
  for (std::uint32_t r = 1; r <= rounds; ++r) {
    cell.set(r, slot_state::ready);
    turn.store(r, std::memory_order_release);
    while (ended.load(std::memory_order_acquire) < 2 * r) std::this_thread::yield();
  }
  receiver.join();
  sender.join();
  CHECK_EQ(claimed + staged, rounds);
}

TEST_CASE(another_epoch_is_refused) {
  slot cell{};
  cell.set(epoch, slot_state::ready);
  CHECK(!cell.take(epoch - 1, slot_state::claimed));
  CHECK(!cell.take(epoch + 1, slot_state::claimed));
  CHECK_EQ(cell.state_in(epoch - 1), slot_state::free);
  CHECK_EQ(cell.state_in(epoch), slot_state::ready);
}

TEST_CASE(what_is_written_before_a_state_is_seen_after_it) {
  slot cell{};
  cell.set(epoch, slot_state::claimed);
  std::thread sender([&] {
    cell.where = 4096;
    cell.ring_blocks = 3;
    cell.set(epoch, slot_state::piping);
  });
  while (cell.state_in(epoch) != slot_state::piping) std::this_thread::yield();
  CHECK_EQ(cell.where, 4096);
  CHECK_EQ(cell.ring_blocks, 3);
  sender.join();
}

TEST_CASE(a_slot_has_another_epoch_with_each_use) {
  const telpher::scoped_settings few({"TELPHER_SLOTS=16", "TELPHER_STAGING_MEMORY=1m"});
  const own_memory memory;
  own_segment own(memory.base());
  const auto a = own.take_slot();
  REQUIRE(a.has_value());
  own.cell(a->index).set(a->epoch, slot_state::ready);
  own.give_slot(*a);
  const auto b = own.take_slot();
  REQUIRE(b.has_value());
  CHECK_EQ(a->index, b->index);
  CHECK(a->epoch != b->epoch);
  CHECK(!own.cell(b->index).take(a->epoch, slot_state::claimed));
  for (int i = 1; i < 16; ++i) CHECK(own.take_slot().has_value());
  CHECK(!own.take_slot().has_value());
}

TEST_CASE(an_epoch_wraps_inside_the_word) {
  const telpher::scoped_settings few({"TELPHER_SLOTS=16", "TELPHER_STAGING_MEMORY=1m"});
  const own_memory memory;
  own_segment own(memory.base());
  auto a = own.take_slot();
  REQUIRE(a.has_value());
  a->epoch = epoch_mask;
  own.give_slot(*a);
  a = own.take_slot();
  REQUIRE(a.has_value());
  CHECK_EQ(a->epoch, 0);
}

TEST_CASE(a_slot_remembers_what_it_describes) {
  const telpher::scoped_settings few({"TELPHER_SLOTS=16", "TELPHER_STAGING_MEMORY=1m"});
  const own_memory memory;
  own_segment own(memory.base());
  auto a = own.take_slot();
  REQUIRE(a.has_value());
  CHECK_EQ(a->described, 0);
  a->described = 5;
  own.give_slot(*a);
  a = own.take_slot();
  REQUIRE(a.has_value());
  CHECK_EQ(a->described, 5);
}

TEST_CASE(a_payload_lies_in_its_allocation_or_is_refused) {
  exported_memory m{};
  m.base = 0x10000;
  m.address = 0x10100;
  m.allocation_bytes = 4096;
  CHECK(m.holds(4096 - 0x100));
  CHECK(!m.holds(4096 - 0x100 + 1));
  CHECK(!m.holds(4097));
  CHECK(!m.holds(~std::uint64_t{0}));
  m.address = m.base - 1;
  CHECK(!m.holds(1));
  m.address = ~std::uint64_t{0};
  CHECK(!m.holds(1));
}

TEST_CASE(doorbells_add_up) {
  const telpher::scoped_settings few({"TELPHER_SLOTS=16", "TELPHER_STAGING_MEMORY=1m"});
  const own_memory memory;
  own_segment own(memory.base());
  constexpr std::size_t ringers = most_doorbells + 2, each = 3;  // two get no word of their own
  std::vector<segment> senders;
  for (std::size_t i = 0; i < ringers; ++i) {
    senders.emplace_back(memory.base());
    senders.back().take_doorbell();
  }
  CHECK_EQ(own.rung(), 0);
  const auto ring = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = 0; i < each; ++i)
      for (std::size_t k = first; k < last; ++k) senders[k].ring();
  };
  std::thread other([&] { ring(0, ringers / 2); });
  ring(ringers / 2, ringers - 1);
  other.join();
  ring(ringers - 1, ringers);
  CHECK_EQ(own.rung(), ringers * each);
}

TEST_CASE(ranges_outside_the_arena_are_refused) {
  const telpher::scoped_settings few({"TELPHER_SLOTS=16", "TELPHER_STAGING_MEMORY=1m"});
  const own_memory memory;
  own_segment own(memory.base());
  const auto& h = own.header();
  CHECK(own.staging(h.arena_at, h.arena_bytes, nullptr) == memory.base() + h.arena_at);
  CHECK(own.staging(h.arena_at - 1, 1, nullptr) == nullptr);
  CHECK(own.staging(h.arena_at + 1, h.arena_bytes, nullptr) == nullptr);
  CHECK(own.staging(h.arena_at + h.arena_bytes, 1, nullptr) == nullptr);
  CHECK(own.staging(~std::uint64_t{0}, 2, nullptr) == nullptr);
  CHECK(own.staging(h.arena_at, ~std::size_t{0}, nullptr) == nullptr);
}

TEST_CASE(plain_receives_and_tickets_keep_apart) {
  const own_memory memory;
  own_segment own(memory.base());
  segment sender(memory.base());
  CHECK(own.begin_plain(7));
  CHECK(!sender.announce_ticket(7));
  CHECK(!sender.announce_ticket(7 + 64));  // of one class
  CHECK(sender.announce_ticket(8));
  CHECK(!own.begin_plain(8));
  CHECK(!own.begin_plain(7));  // wanted: no more of them
  own.end_plain(7);
  CHECK(sender.announce_ticket(7));
  CHECK(own.begin_plain(9));
  own.end_plain(9);
  CHECK(sender.announce_ticket(9));
  CHECK(!own.begin_plain(9));
  CHECK(!own.enter_shared_place());
}
