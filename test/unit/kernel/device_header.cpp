// SPDX-License-Identifier: BSD-3-Clause
// telpher/device.h in the form of the emulated device, on ordinary memory: places in a window, the
// division of copies among the threads of a block, and signals between threads, each of which is a
// rank here. Under ThreadSanitizer the last shows the order that signals give to plain bytes.
#include "telpher/device.h"

#include <atomic>
#include <thread>

#include "check.hpp"

namespace {

/// The memory of a few ranks, and the record of each.
class ranks {
 public:
  ranks(int count, std::size_t bytes, std::uint64_t unit) {
    for (int r = 0; r < count; ++r) memory_.emplace_back((bytes + 15) / 16 * 2);
    for (int r = 0; r < count; ++r) {
      auto& record = records_.emplace_back(sizeof(telpher_device_window) / 8 +
                                           memory_.size() * sizeof(telpher_device_part) / 8);
      const telpher_device_window head{r, count, 0};
      std::memcpy(record.data(), &head, sizeof head);
      auto* part = reinterpret_cast<telpher_device_part*>(record.data() + sizeof head / 8);
      for (auto& m : memory_) *part++ = {m.data(), bytes, unit, bytes / unit};
    }
  }
  const telpher_device_window* window(int rank) const {
    return reinterpret_cast<const telpher_device_window*>(index(records_, rank).data());
  }
  const std::uint64_t* memory(int rank) const { return index(memory_, rank).data(); }
  template <class Body>
  void run(Body body) const {
    std::vector<std::thread> threads;
    for (int r = 0; r < static_cast<int>(memory_.size()); ++r)
      threads.emplace_back([=, this] { body(window(r)); });
    for (auto& t : threads) t.join();
  }

 private:
  using words = std::vector<std::uint64_t>;
  static const words& index(const std::vector<words>& all, int rank) {
    return all[static_cast<std::size_t>(rank)];
  }
  std::vector<words> memory_, records_;
};

}  // namespace

TEST_CASE(a_place_lies_in_the_window_or_is_refused) {
  const ranks two(2, 100, 4);
  const auto* const w = two.window(0);
  const auto at = [&](int rank, std::int64_t displacement, std::uint64_t bytes) {
    return telpher_window_address(w, rank, displacement, bytes) != nullptr;
  };
  CHECK(at(0, 0, 100) && at(1, 0, 100) && at(1, 24, 4) && at(1, 25, 0));
  CHECK(!at(-1, 0, 1) && !at(2, 0, 1) && !at(0, -1, 1) && !at(0, 25, 1) && !at(0, 24, 5));
  CHECK(!at(0, 0, 101) && !at(0, 1, ~std::uint64_t{0}) && !at(0, 26, 0));
  CHECK(!at(0, INT64_MAX, 1) && !at(0, INT64_MIN, 1) && !at(0, std::int64_t{1} << 62, 1));
  CHECK(telpher_window_address(w, 1, 3, 4) == reinterpret_cast<const char*>(two.memory(1)) + 12);
}

TEST_CASE(wrong_calls_do_nothing) {
  const ranks two(2, 96, 4);
  const auto* const w = two.window(0);
  std::uint64_t value = 7;
  CHECK(!telpher_put(w, 2, 0, &value, 8) && !telpher_put_block(w, 1, 23, &value, 8));
  CHECK(!telpher_get(w, &value, -1, 0, 8) && !telpher_get_block(w, &value, 1, 24, 8));
  CHECK(!telpher_signal(w, 1, 1, 1, TELPHER_SIGNAL_SET));  // not aligned
  CHECK(!telpher_signal_block(w, 1, 24, 1, TELPHER_SIGNAL_SET));
  CHECK(!telpher_put_signal(w, 1, 0, &value, 8, 3, 1, TELPHER_SIGNAL_SET));
  CHECK(!telpher_put_signal(w, 1, 23, &value, 8, 0, 1, TELPHER_SIGNAL_SET));
  CHECK(!telpher_put_signal_block(w, 1, 0, &value, 8, 3, 1, TELPHER_SIGNAL_SET));
  CHECK(!telpher_wait_signal(w, 1, TELPHER_EQUAL, 0) && !telpher_read_signal(w, -1, &value));
  CHECK_EQ(value, 7);
  for (int i = 0; i < 12; ++i) CHECK_EQ(two.memory(1)[i], 0);
}

TEST_CASE(a_bounded_wait_ends) {
  const ranks one(1, 64, 8);
  const auto* const w = one.window(0);
  telpher_signal(w, 0, 2, 5, TELPHER_SIGNAL_SET);
  const auto holds = [&](telpher_comparison how, std::uint64_t value) {
    return telpher_wait_signal_for(w, 2, how, value, 3) &&
           telpher_wait_signal_for_block(w, 2, how, value, 3);
  };
  CHECK(holds(TELPHER_EQUAL, 5) && !holds(TELPHER_EQUAL, 4));
  CHECK(holds(TELPHER_NOT_EQUAL, 4) && !holds(TELPHER_NOT_EQUAL, 5));
  CHECK(holds(TELPHER_GREATER, 4) && !holds(TELPHER_GREATER, 5));
  CHECK(holds(TELPHER_AT_LEAST, 5) && !holds(TELPHER_AT_LEAST, 6));
  CHECK(holds(TELPHER_LESS, 6) && !holds(TELPHER_LESS, 5));
  CHECK(holds(TELPHER_AT_MOST, 5) && !holds(TELPHER_AT_MOST, 4));
  CHECK(!telpher_wait_signal_for(w, 2, TELPHER_EQUAL, 5, 0));
}

TEST_CASE(the_threads_of_a_block_divide_a_copy) {
  alignas(16) unsigned char from[256], to[256], wanted[256];
  for (int i = 0; i < 256; ++i) from[i] = static_cast<unsigned char>(i * 7 + 1);
  for (const std::uint64_t workers : {1u, 3u, 32u})
    for (std::size_t size : {0u, 1u, 3u, 8u, 15u, 16u, 17u, 63u, 64u, 100u, 200u})
      for (std::size_t source = 0; source < 17; ++source)
        for (std::size_t target = 0; target < 17; ++target) {
          std::memset(to, 0xa5, sizeof to);
          std::memset(wanted, 0xa5, sizeof wanted);
          std::memcpy(wanted + target, from + source, size);
          for (std::uint64_t i = 0; i < workers; ++i)
            telpher_device::copy_share(i, workers, to + target, from + source, size);
          CHECK(std::memcmp(to, wanted, sizeof to) == 0);
        }
}

TEST_CASE(who_sees_a_signal_sees_what_was_put_before) {
  constexpr int count = 4;
  constexpr std::uint64_t rounds = 4000, words = 24;
  // Each rank's memory: a signal, the answer to it, and two places for messages.
  const ranks ring(count, (2 + 2 * words) * 8, 8);
  std::atomic<int> wrong{0};
  ring.run([&](const telpher_device_window* w) {
    const int rank = telpher_window_rank(w), right = (rank + 1) % count;
    const int left = (rank + count - 1) % count;
    std::vector<std::uint64_t> sent(words);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      const auto place = static_cast<std::int64_t>(2 + round % 2 * words);
      const std::uint64_t used = 1 + round % words, bytes = 8 * used;
      const auto text = [&](int of) { return round * count + static_cast<std::uint64_t>(of); };
      for (std::uint64_t i = 0; i < used; ++i) sent[i] = text(rank);
      if (round > 2) telpher_wait_signal(w, 1, TELPHER_AT_LEAST, round - 2);
      const bool put =
          round % 2 == 0
              ? telpher_put_block(w, right, place, sent.data(), bytes) &&
                    telpher_signal_block(w, right, 0, round, TELPHER_SIGNAL_SET)
              : telpher_put_signal(w, right, place, sent.data(), bytes, 0, 1, TELPHER_SIGNAL_ADD);
      if (!put || !telpher_wait_signal_block(w, 0, TELPHER_AT_LEAST, round)) ++wrong;
      const auto* const got =
          static_cast<const std::uint64_t*>(telpher_window_address(w, rank, place, bytes));
      for (std::uint64_t i = 0; i < used; ++i)
        if (got[i] != text(left)) ++wrong;
      telpher_signal(w, left, 1, round, TELPHER_SIGNAL_SET);
    }
  });
  CHECK_EQ(wrong.load(), 0);
}

TEST_CASE(every_addition_counts) {
  constexpr std::uint64_t rounds = 5000;
  const ranks all(3, 64, 1);
  all.run([&](const telpher_device_window* w) {
    for (std::uint64_t i = 0; i < rounds; ++i) telpher_signal(w, 0, 8, 2, TELPHER_SIGNAL_ADD);
    if (telpher_window_rank(w) == 0) telpher_wait_signal(w, 8, TELPHER_EQUAL, 3 * rounds * 2);
  });
  CHECK_EQ(all.memory(0)[1], 3 * rounds * 2);
}

// --- partitions: a sender and a receiver of 24 bytes in other partitions ---

namespace {

class two_ends {
 public:
  two_ends(std::uint64_t of_sender, std::uint64_t of_receiver) {
    sender = {24 / of_sender, of_sender, out, in, own_marks, arrived_at, 24 / of_sender, 0, 0};
    receiver = {24 / of_receiver, of_receiver,    in, nullptr, arrived_at,
                nullptr,          24 / of_sender, 0,  0};
    for (unsigned i = 0; i < 24; ++i) out[i] = static_cast<unsigned char>(i + 1);
  }
  void start() {
    ++sender.round;
    ++receiver.round;
    __atomic_store_n(&sender.opened, receiver.round, __ATOMIC_RELEASE);
  }

  unsigned char out[24], in[24]{};
  std::uint64_t own_marks[24]{}, arrived_at[24]{};
  telpher_device_partitions sender{}, receiver{};
};

}  // namespace

TEST_CASE(a_partition_arrives_when_all_that_overlap_it_are_marked) {
  two_ends e(6, 4);  // of 4 bytes, and of 6
  e.start();
  CHECK(telpher_pready(&e.sender, 1));
  CHECK(!telpher_parrived(&e.receiver, 0));
  CHECK(telpher_pready_block(&e.sender, 0));
  CHECK(telpher_parrived(&e.receiver, 0));
  CHECK(!telpher_parrived_block(&e.receiver, 1));
  CHECK(telpher_pready(&e.sender, 2));
  CHECK(telpher_parrived_block(&e.receiver, 1));
  CHECK(!telpher_wait_partition_for(&e.receiver, 3, 3));
  CHECK(std::memcmp(e.in, e.out, 12) == 0);
  CHECK_EQ(e.in[12], 0);
}

TEST_CASE(a_partition_that_cannot_be_marked_is_refused) {
  two_ends e(3, 3);
  CHECK(!telpher_pready(&e.sender, 0));  // not started
  e.start();
  for (const std::int64_t i : {-1, 3, 1 << 20}) {
    CHECK(!telpher_pready(&e.sender, i));
    CHECK(!telpher_parrived(&e.receiver, i));
    CHECK(telpher_partition_address(&e.sender, i) == nullptr);
  }
  CHECK(!telpher_pready(&e.receiver, 0));
  CHECK(telpher_pready(&e.sender, 0));
  e.out[0] = 99;
  CHECK(!telpher_pready_block(&e.sender, 0));  // again
  CHECK_EQ(e.in[0], 1);
  e.sender.opened = 0;  // the receive was not started
  CHECK(!telpher_pready_for(&e.sender, 1, 5));
  CHECK(!telpher_pready_for_block(&e.sender, 1, 5));
  CHECK(!telpher_parrived(&e.sender, 1));
  e.sender.opened = 1;
  CHECK(telpher_pready_for(&e.sender, 1, 5));
  CHECK(telpher_parrived(&e.sender, 1));
}

TEST_CASE(a_mark_orders_the_bytes) {
  two_ends e(6, 6);
  std::thread sender([&] {
    e.start();
    for (int i = 5; i >= 0; --i) CHECK(telpher_pready(&e.sender, i));
  });
  while (__atomic_load_n(&e.sender.opened, __ATOMIC_ACQUIRE) == 0) telpher_device::relax();
  for (int i = 0; i < 6; ++i) {
    CHECK(telpher_wait_partition(&e.receiver, i));
    const auto* const bytes =
        static_cast<const unsigned char*>(telpher_partition_address(&e.receiver, i));
    for (int k = 0; k < 4; ++k) CHECK_EQ(bytes[k], 4 * i + k + 1);
  }
  sender.join();
}
