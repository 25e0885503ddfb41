// SPDX-License-Identifier: BSD-3-Clause
// Contract: copies, fills, order within a stream, events, concurrent streams.
#define CHECK_NO_MAIN
#include <atomic>

#include "contract.hpp"

namespace contract {
namespace {

constexpr memory_kind kinds[] = {memory_kind::host, memory_kind::pinned, memory_kind::managed,
                                 memory_kind::device};

TEST_CASE(copies_between_all_kinds_at_odd_sizes_and_offsets) {
  constexpr std::size_t room = 70000;
  const scoped_stream s;
  for (const memory_kind from_kind : kinds)
    for (const memory_kind to_kind : kinds) {
      const memory from(from_kind, room), to(to_kind, room, second_device());
      write(from.data(), pattern(room, 1), s);
      for (const std::size_t size : {0, 1, 3, 16, 255, 4097, 65537}) {
        write(to.data(), bytes(room, 0xee), s);
        const std::size_t a = random_below(room - size), b = random_below(room - size);
        CHECK_OK(subject().copy(to.data() + b, from.data() + a, size, s));
        CHECK_OK(subject().synchronise(s));
        bytes expected(room, 0xee);
        std::memcpy(expected.data() + b, pattern(room, 1).data() + a, size);
        CHECK(read(to.data(), room, s) == expected);
      }
    }
}

TEST_CASE(fill_writes_its_range_only) {
  const scoped_stream s;
  const memory m(memory_kind::device, 1000);
  write(m.data(), bytes(1000, 1), s);
  CHECK_OK(subject().fill(m.data() + 10, 0xab, 501, s));
  bytes expected(1000, 1);
  std::memset(expected.data() + 10, 0xab, 501);
  CHECK(read(m.data(), 1000, s) == expected);
}

TEST_CASE(a_stream_works_in_order) {
  constexpr std::size_t size = 300000;
  const scoped_stream s;
  const memory a(memory_kind::device, size), b(memory_kind::device, size);
  bytes found(size);
  for (int i = 0; i < 50; ++i) {
    CHECK_OK(subject().fill(a.data(), i, size, s));
    CHECK_OK(subject().copy(b.data(), a.data(), size, s));
  }
  CHECK_OK(subject().copy(found.data(), b.data(), size, s));
  CHECK_OK(subject().synchronise(s));
  CHECK(found == bytes(size, 49));
}

TEST_CASE(an_event_is_done_when_the_work_before_it_is) {
  constexpr std::size_t size = 16 << 20;
  const scoped_stream s;
  const scoped_event e;
  CHECK(e.done());  // nothing was recorded
  const memory m(memory_kind::device, size), host(memory_kind::pinned, size);
  CHECK_OK(subject().fill(m.data(), 5, size, s));
  CHECK_OK(subject().copy(host.data(), m.data(), size, s));
  CHECK_OK(subject().record(e, s));
  REQUIRE(eventually([&] { return e.done(); }));
  CHECK_EQ(host.data()[size - 1], 5);
  for (int i = 0; i < 200; ++i) {  // an event can be used again and again
    CHECK_OK(subject().fill(host.data(), i, 1, s));
    CHECK_OK(subject().record(e, s));
    REQUIRE(eventually([&] { return e.done(); }));
    CHECK_EQ(host.data()[0], i & 0xff);
  }
}

TEST_CASE(destroying_a_stream_leaves_its_work) {
  constexpr std::size_t size = 8 << 20;
  const memory m(memory_kind::pinned, size);
  const scoped_event e;
  {
    const scoped_stream s;
    CHECK_OK(subject().fill(m.data(), 9, size, s));
    CHECK_OK(subject().record(e, s));
  }
  REQUIRE(eventually([&] { return e.done(); }));
  CHECK_EQ(m.data()[size - 1], 9);
}

// --- streams that wait for memory, and the program's own ---

TEST_CASE(a_stream_waits_for_a_word) {
  if (!subject().streams_wait(0)) return;
  const scoped_stream held, other;
  const memory words(memory_kind::pinned, 128), m(memory_kind::pinned, 64);
  std::memset(words.data(), 0, 128);
  auto* const word = reinterpret_cast<std::uint32_t*>(words.data());
  m.data()[0] = 1;
  const scoped_event e;
  CHECK_OK(subject().wait_value(held, word, 2));
  CHECK_OK(subject().fill(m.data(), 7, 1, held));
  CHECK_OK(subject().record(e, held));
  // Another stream's work goes on meanwhile, and a smaller value is not enough.
  std::atomic_ref<std::uint32_t>(*word).store(1);
  for (int i = 0; i < 20; ++i) {
    CHECK_OK(subject().fill(m.data() + 1, i, 1, other));
    CHECK_OK(subject().synchronise(other));
  }
  CHECK(!e.done());
  CHECK_EQ(m.data()[0], 1);
  std::atomic_ref<std::uint32_t>(*word).store(3);
  CHECK_OK(subject().synchronise(held));
  CHECK_EQ(m.data()[0], 7);
}

TEST_CASE(a_stream_writes_a_word_in_its_turn) {
  if (!subject().streams_wait(0)) return;
  const scoped_stream first, second;
  const memory words(memory_kind::pinned, 128), m(memory_kind::device, 4096);
  std::memset(words.data(), 0, 128);
  auto* const a = reinterpret_cast<std::uint32_t*>(words.data());
  auto* const b = reinterpret_cast<std::uint32_t*>(words.data() + 64);
  for (std::uint32_t round = 1; round <= 20; ++round) {
    CHECK_OK(subject().wait_value(second, a, round));
    CHECK_OK(subject().fill(m.data(), static_cast<int>(round), 4096, second));
    CHECK_OK(subject().write_value(second, b, round));
    CHECK_OK(subject().write_value(first, a, round));
    CHECK_OK(subject().wait_value(first, b, round));
    CHECK(read(m.data(), 4096, first) == bytes(4096, static_cast<std::uint8_t>(round)));
  }
}

TEST_CASE(a_stream_writes_and_then_waits) {
  if (!subject().streams_wait(0)) return;
  const scoped_stream s;
  const memory words(memory_kind::pinned, 128), m(memory_kind::device, 4096);
  std::memset(words.data(), 0, 128);
  auto* const written = reinterpret_cast<std::uint32_t*>(words.data());
  auto* const awaited = reinterpret_cast<std::uint32_t*>(words.data() + 64);
  for (std::uint32_t round = 1; round <= 20; ++round) {
    const scoped_event e;
    CHECK_OK(subject().fill(m.data(), static_cast<int>(round), 4096, s));
    CHECK_OK(subject().write_and_wait(s, written, awaited, round));
    CHECK_OK(subject().record(e, s));
    REQUIRE(eventually([&] { return std::atomic_ref<std::uint32_t>(*written).load() == round; }));
    CHECK(!e.done());
    std::atomic_ref<std::uint32_t>(*awaited).store(round);
    CHECK_OK(subject().synchronise(s));
    CHECK(read(m.data(), 4096, s) == bytes(4096, static_cast<std::uint8_t>(round)));
  }
}

TEST_CASE(a_stream_of_the_program_is_adopted) {
  const scoped_stream s;
  void* const native = subject().native_stream(s);
  if (!native) return;
  int device = -1;
  const auto adopted = subject().adopt_stream(native, device);
  REQUIRE(adopted.has_value());
  CHECK_EQ(device, 0);
  CHECK(!subject().is_captured(*adopted));
  const memory m(memory_kind::device, 1000);
  CHECK_OK(subject().fill(m.data(), 3, 1000, *adopted));
  CHECK(read(m.data(), 1000, s) == bytes(1000, 3));  // one order
  subject().disown_stream(*adopted);
  CHECK_OK(subject().fill(m.data(), 4, 1000, s));
  const status all = subject().synchronise_device(0);
  CHECK(all == status::ok ||
        (all == status::not_supported && subject().owner() == device::vendor::sycl));
  CHECK_OK(subject().synchronise_default(0));
  CHECK(read(m.data(), 1000, s) == bytes(1000, 4));
}

TEST_CASE(threads_share_a_back_end) {
  constexpr std::size_t size = 40000;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const int device = t % 2 ? second_device() : 0;
      const scoped_stream s(device);
      for (unsigned i = 0; i < 20; ++i) {
        const memory m(memory_kind::device, size, device);
        write(m.data(), pattern(size, t * 100 + i), s);
        pointer_info info;
        wrong += subject().classify(m.data(), true, info) != status::ok || info.device != device;
        wrong += read(m.data(), size, s) != pattern(size, t * 100 + i);
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK_EQ(wrong.load(), 0);
}

TEST_CASE(copies_between_devices) {
  constexpr std::size_t size = 123457;
  const int other = second_device();
  const memory a(memory_kind::device, size), b(memory_kind::device, size, other);
  const scoped_stream here(0), there(other);
  write(a.data(), pattern(size, 8), here);
  CHECK_OK(subject().copy(b.data(), a.data(), size, there));
  CHECK_OK(subject().synchronise(there));
  CHECK(read(b.data(), size, there) == pattern(size, 8));
}

/// One of the program's streams.
class adopted_stream {
 public:
  explicit adopted_stream(void* native) {
    int device = -1;
    stream_ = subject().adopt_stream(native, device).value_or({});
    CHECK(stream_);
  }
  ~adopted_stream() { subject().disown_stream(stream_); }
  adopted_stream(const adopted_stream&) = delete;
  adopted_stream& operator=(const adopted_stream&) = delete;
  operator device::stream() const { return stream_; }

 private:
  device::stream stream_;
};

TEST_CASE(a_threads_own_default_stream_and_the_legacy_one_wait_for_each_other) {
  void* const own_handle = reinterpret_cast<void*>(2);
  if (!subject().streams_wait(0) || !subject().one_for_each_thread(own_handle)) return;
  const memory words(memory_kind::pinned, 128), m(memory_kind::pinned, 64);
  const adopted_stream own(own_handle), legacy(nullptr);
  const scoped_stream ours;
  std::memset(words.data(), 0, 128);
  std::memset(m.data(), 0, 64);
  auto* const word = reinterpret_cast<std::uint32_t*>(words.data());
  const scoped_event e;
  for (const auto& [first, second] : {std::pair{&own, &legacy}, std::pair{&legacy, &own}}) {
    std::atomic_ref(*word).store(0);
    m.data()[0] = 0;
    CHECK_OK(subject().wait_value(*first, word, 1));
    CHECK_OK(subject().fill(m.data(), 7, 1, *second));
    CHECK_OK(subject().record(e, *second));
    // A stream of ours waits for neither.
    CHECK_OK(subject().fill(m.data() + 1, 5, 1, ours));
    CHECK_OK(subject().synchronise(ours));
    CHECK(!e.done());
    CHECK_EQ(m.data()[0], 0);
    std::atomic_ref(*word).store(1);
    REQUIRE(eventually([&] { return e.done(); }));
    CHECK_EQ(m.data()[0], 7);
  }
}

}  // namespace
}  // namespace contract
