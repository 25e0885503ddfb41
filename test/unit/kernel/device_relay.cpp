// SPDX-License-Identifier: BSD-3-Clause
// The queue of telpher/device_relay.h in the form of the emulated device: several threads, each a
// kernel, and a host that serves it in the way of src/rma/relay.hpp. Under ThreadSanitizer this
// shows the order between a command's bytes and the words beside them, in both directions.
#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "check.hpp"
#include "telpher/device.h"

namespace {

using telpher_device::broken;

constexpr std::uint64_t slots = 4, carried = 48;

std::atomic_ref<std::uint64_t> word(std::uint64_t& at) {
  return std::atomic_ref<std::uint64_t>(at);
}

/// One node's host: a far rank with some memory, served command by command.
class host {
 public:
  host() : memory_(64) {
    queue_.freed = &freed_;
    queue_.slots = reinterpret_cast<unsigned char*>(slots_.data());
    queue_.count = slots;
    queue_.stride = sizeof slots_[0];
    queue_.capacity = carried;
    record_.head = {0, 2, &queue_};
    record_.parts[0] = {memory_.data(), 8, 1, 8};
    record_.parts[1] = {nullptr, memory_.size() * 8, 1, memory_.size() * 8};
  }
  const telpher_device_window* window() const { return &record_.head; }
  std::uint64_t* memory() { return memory_.data(); }
  telpher_device_queue* queue() { return &queue_; }
  const std::vector<std::uint32_t>& served() const { return served_; }

  /// Serves so many commands; `late`: gives a slot back only when none is free any more.
  void serve(std::uint64_t commands, bool late) {
    for (std::uint64_t n = 0; n < commands; ++n) {
      telpher_device_command& c = slots_[n % slots].command;
      while (word(c.ready).load(std::memory_order_acquire) != n + 1) std::this_thread::yield();
      carry_out(c, n);
      if (!late || n % slots == slots - 1 || n + 1 == commands) free_up_to(n + 1);
    }
  }
  void fail() {
    for (auto& s : slots_) word(s.command.answered).store(broken, std::memory_order_release);
    word(freed_).store(broken, std::memory_order_release);
  }

 private:
  struct slot {
    telpher_device_command command;
    unsigned char bytes[carried];
    unsigned char rest[16];
  };

  void carry_out(telpher_device_command& c, std::uint64_t n) {
    served_.push_back(c.what);
    auto* const at = reinterpret_cast<unsigned char*>(memory_.data()) + c.offset;
    if (c.what & telpher_device::relayed_put) std::memcpy(at, &c + 1, c.bytes);
    if (c.what & telpher_device::relayed_set) memory_[c.signal / 8] = c.value;
    if (c.what & telpher_device::relayed_add) memory_[c.signal / 8] += c.value;
    if (c.what & telpher_device::relayed_get) std::memcpy(&c + 1, at, c.bytes);
    if (c.what & (telpher_device::relayed_get | telpher_device::relayed_quiet))
      word(c.answered).store(n + 1, std::memory_order_release);
  }
  void free_up_to(std::uint64_t end) {
    for (std::uint64_t n = freed_; n != end; ++n) {
      telpher_device_command& c = slots_[n % slots].command;
      if (c.what & (telpher_device::relayed_get | telpher_device::relayed_quiet))
        while (word(c.taken).load(std::memory_order_acquire) != n + 1) std::this_thread::yield();
    }
    word(freed_).store(end, std::memory_order_release);
  }

  std::vector<std::uint64_t> memory_;
  std::array<slot, slots> slots_{};
  telpher_device_queue queue_{};
  std::uint64_t freed_ = 0;
  std::vector<std::uint32_t> served_;
  struct {
    telpher_device_window head;
    telpher_device_part parts[2];
  } record_{};
};

}  // namespace

TEST_CASE(a_put_goes_in_pieces_and_its_signal_with_the_last) {
  host h;
  std::thread server([&] { h.serve(6, false); });
  std::vector<unsigned char> sent(100), got(100);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<unsigned char>(i * 3 + 1);
  CHECK(telpher_put_signal(h.window(), 1, 8, sent.data(), 100, 0, 7, TELPHER_SIGNAL_SET));
  CHECK(telpher_get_block(h.window(), got.data(), 1, 8, 100));
  server.join();
  CHECK(sent == got);
  CHECK_EQ(h.memory()[0], 7);
  using namespace telpher_device;
  const std::vector<std::uint32_t> wanted{relayed_put, relayed_put, relayed_put | relayed_set,
                                          relayed_get, relayed_get, relayed_get};
  CHECK(h.served() == wanted);
}

TEST_CASE(what_is_nothing_or_wrong_sends_no_command) {
  host h;
  std::uint64_t value = 1;
  CHECK(telpher_put(h.window(), 1, 0, &value, 0) && telpher_get(h.window(), &value, 1, 0, 0));
  CHECK(!telpher_put(h.window(), 1, 509, &value, 8));
  CHECK(!telpher_signal(h.window(), 1, 4, 1, TELPHER_SIGNAL_SET));  // not aligned
  CHECK(telpher_window_address(h.window(), 1, 0, 8) == nullptr);
  CHECK_EQ(h.queue()->claimed, 0);
}

TEST_CASE(kernels_share_a_queue_that_is_often_full) {
  constexpr std::uint64_t kernels = 3, rounds = 700;
  host h;
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (std::uint64_t k = 0; k < kernels; ++k)
    all.emplace_back([&, k] {
      const auto place = static_cast<std::int64_t>(64 * (k + 1));
      for (std::uint64_t round = 1; round <= rounds; ++round) {
        std::uint64_t mine[5], back[5] = {};
        for (std::uint64_t i = 0; i < 5; ++i) mine[i] = round * 100 + k * 10 + i;
        if (!telpher_put_signal(h.window(), 1, place, mine, sizeof mine, 0, 1,
                                TELPHER_SIGNAL_ADD) ||
            !telpher_get(h.window(), back, 1, place, sizeof back) ||
            std::memcmp(mine, back, sizeof mine) != 0)
          ++wrong;
      }
      if (!telpher_quiet(h.window())) ++wrong;
    });
  h.serve(kernels * (2 * rounds + 1), false);
  for (auto& t : all) t.join();
  CHECK_EQ(wrong.load(), 0);
  CHECK_EQ(h.memory()[0], kernels * rounds);
}

TEST_CASE(slots_that_come_back_late_are_waited_for) {
  constexpr std::uint64_t rounds = 700;
  host h;
  std::thread kernel([&] {
    for (std::uint64_t round = 0; round < rounds; ++round)
      telpher_put(h.window(), 1, 64, &round, sizeof round);
  });
  h.serve(rounds, true);
  kernel.join();
  CHECK_EQ(h.memory()[8], rounds - 1);
}

TEST_CASE(a_queue_that_has_failed_refuses) {
  host h;
  std::atomic<int> refused{0};
  std::thread asking([&] {
    std::uint64_t value = 0;
    if (!telpher_get(h.window(), &value, 1, 0, 8)) ++refused;
    for (int i = 0; i < 8; ++i)
      if (!telpher_put(h.window(), 1, 0, &value, 8)) ++refused;
  });
  while (word(h.queue()->claimed).load() == 0) std::this_thread::yield();
  h.fail();
  asking.join();
  CHECK_EQ(refused.load(), 1 + 8 - 3);  // three were taken while there was room
}

// --- partitions of 100 bytes for a rank whose bytes begin at 64 and whose marks at 8 ---

namespace {

struct far_send {
  explicit far_send(host& h) {
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<unsigned char>(i * 5 + 1);
    record.bytes = record.mark_bytes = 100;
    record.partitions = 2;
    record.buffer = sent.data();
    record.target = reinterpret_cast<void*>(std::uintptr_t{64});
    record.marks = marks;
    record.target_marks = reinterpret_cast<std::uint64_t*>(std::uintptr_t{8});
    record.round = 3;
    record.queue = h.queue();
    record.peer = 1;
  }
  std::vector<unsigned char> sent = std::vector<unsigned char>(200);
  std::uint64_t marks[2]{};
  telpher_device_partitions record{};
};

}  // namespace

TEST_CASE(a_partition_for_another_node_has_its_mark_behind_it) {
  host h;
  far_send s(h);
  CHECK(!telpher_pready_for(&s.record, 1, 5));
  CHECK_EQ(h.queue()->claimed, 0);
  s.record.opened = 3;
  std::thread server([&] { h.serve(6, false); });
  CHECK(telpher_pready(&s.record, 1) && !telpher_pready(&s.record, 1));
  CHECK(telpher_pready_block(&s.record, 0));
  server.join();
  const auto* const memory = reinterpret_cast<const unsigned char*>(h.memory());
  CHECK(std::equal(s.sent.begin(), s.sent.end(), memory + 64));
  for (int i = 0; i < 2; ++i) CHECK(s.marks[i] == 3 && h.memory()[1 + i] == 3);
  using namespace telpher_device;
  const std::vector<std::uint32_t> one{relayed_put, relayed_put, relayed_put | relayed_set};
  CHECK(std::equal(one.begin(), one.end(), h.served().begin()) &&
        std::equal(one.begin(), one.end(), h.served().begin() + 3));
}

TEST_CASE(no_partition_is_waited_for_once_the_queue_has_failed) {
  host h;
  far_send s(h);
  h.fail();
  CHECK(!telpher_pready(&s.record, 0) && !telpher_pready_block(&s.record, 1));
  CHECK(!telpher_wait_partition(&s.record, 0));
}
