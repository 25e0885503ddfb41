// SPDX-License-Identifier: BSD-3-Clause
// Contract: what collectives need of a back end, whatever its kernels may do. Reductions of plain
// memory are compared with a loop: on device memory and, if devices use host memory as their own,
// on a segment that another process has registered too. If kernels may not wait, the kernels that
// wait must be missing.
#define CHECK_NO_MAIN
#include "contract.hpp"
#include "kernel/exchange.hpp"
#include "kernel/reduction.hpp"
#include "peer.hpp"

namespace contract {
namespace {

using kernel::reduce_op;
using kernel::value_type;
using action = peer_request::action;

/// One launch of a reduction's kernel, with its program and the word that reports its end.
class reduce_launch {
 public:
  explicit reduce_launch(kernel::id k) : kernel_(k) {
    std::memset(words_.data(), 0, 4096);
    CHECK_OK(subject().fill(arrivals_.data(), 0, 4096, stream_));
  }

  void run(void* to, const std::vector<const void*>& sources, std::size_t size, int blocks,
           kernel::exchange_op step = kernel::exchange_op::reduce) {
    kernel::exchange p{};
    p.code_words = static_cast<std::uint32_t>(3 + sources.size());
    p.code[0] = static_cast<std::uint64_t>(step) | sources.size() << 8;
    p.code[1] = size;
    p.code[2] = reinterpret_cast<std::uintptr_t>(to);
    for (std::size_t i = 0; i < sources.size(); ++i)
      p.code[3 + i] = reinterpret_cast<std::uintptr_t>(sources[i]);
    p.done_value = ++calls_;
    p.done = words_.as<std::uint64_t>();
    p.stop = words_.as<std::uint32_t>() + 512;
    p.arrivals = arrivals_.as<std::uint32_t>();
    CHECK_OK(subject().launch(kernel_, &p, blocks, 128, stream_));
    for (int b = 0; b < blocks; ++b)
      CHECK(eventually([&] { return kernel::load_acquire_system(p.done + b) == calls_; }));
    CHECK_OK(subject().synchronise(stream_));
  }

 private:
  kernel::id kernel_;
  scoped_stream stream_;
  memory words_{memory_kind::pinned, 4096}, arrivals_{memory_kind::device, 4096};
  std::uint32_t calls_ = 0;
};

template <class T>
std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<T>((i * 37 + seed * 11) % 251);
  return made;
}

/// Sources and target at any offset in their allocations; sizes with and without a tail.
template <class T, class F>
void reduces(reduce_op op, value_type type, F&& apply) {
  const kernel::id k = kernel::exchange_with(op, type);
  REQUIRE(subject().prepare(0, k) == status::ok);
  reduce_launch launched(k);
  const scoped_stream s;
  constexpr std::size_t most = 70000, room = 64;
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{37}, most - 3, most})
    for (const std::size_t sources : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
      std::vector<std::unique_ptr<memory>> made;
      std::vector<const void*> from;
      std::vector<T> expected;
      for (unsigned i = 0; i < sources; ++i) {
        const auto values = numbers<T>(count, i);
        made.push_back(std::make_unique<memory>(memory_kind::device, (most + room) * sizeof(T)));
        T* at = made.back()->template as<T>() + random_below(room);
        CHECK_OK(subject().copy(at, values.data(), count * sizeof(T), s));
        CHECK_OK(subject().synchronise(s));
        from.push_back(at);
        expected.resize(count);
        for (std::size_t n = 0; n < count; ++n)
          expected[n] = i == 0 ? values[n] : apply(expected[n], values[n]);
      }
      const memory to(memory_kind::device, (most + room) * sizeof(T));
      T* target = to.as<T>() + random_below(room);
      launched.run(target, from, count * sizeof(T), count == most ? 5 : 1);
      std::vector<T> found(count);
      CHECK_OK(subject().copy(found.data(), target, count * sizeof(T), s));
      CHECK_OK(subject().synchronise(s));
      CHECK(found == expected);
    }
}

TEST_CASE(reductions_of_plain_memory) {
  reduces<double>(reduce_op::sum, value_type::f64, [](double a, double b) { return a + b; });
  reduces<std::uint16_t>(reduce_op::bxor, value_type::u16, [](std::uint16_t a, std::uint16_t b) {
    return static_cast<std::uint16_t>(a ^ b);
  });
  reduces<std::int32_t>(reduce_op::min, value_type::i32,
                        [](std::int32_t a, std::int32_t b) { return std::min(a, b); });
}

/// Complex numbers need no more than their parts' alignment: all operands lie at 8 modulo 16.
TEST_CASE(sums_of_complex_numbers_between_vectors) {
  const kernel::id k = kernel::exchange_with(reduce_op::sum, value_type::c64);
  REQUIRE(subject().prepare(0, k) == status::ok);
  reduce_launch launched(k);
  const scoped_stream s;
  for (const std::size_t parts : {std::size_t{2}, std::size_t{8}, std::size_t{20000}}) {
    const std::size_t room = parts + 4;
    const auto first = numbers<double>(room, 1), second = numbers<double>(room, 2);
    auto expected = numbers<double>(room, 3);
    const memory a(memory_kind::device, room * 8), b(memory_kind::device, room * 8),
        to(memory_kind::device, room * 8);
    CHECK_OK(subject().copy(a.data(), first.data(), room * 8, s));
    CHECK_OK(subject().copy(b.data(), second.data(), room * 8, s));
    CHECK_OK(subject().copy(to.data(), expected.data(), room * 8, s));
    CHECK_OK(subject().synchronise(s));
    launched.run(to.as<double>() + 1, {a.as<double>() + 1, b.as<double>() + 1}, parts * 8,
                 parts > 100 ? 5 : 1);
    for (std::size_t i = 1; i <= parts; ++i) expected[i] = first[i] + second[i];
    std::vector<double> found(room);
    CHECK_OK(subject().copy(found.data(), to.data(), room * 8, s));
    CHECK_OK(subject().synchronise(s));
    CHECK(found == expected);  // the values beside them, too
  }
}

template <class T>
void swaps() {
  reduce_launch launched(kernel::id::exchange);
  const scoped_stream s;
  const memory all(memory_kind::device, 64 * sizeof(T));
  const auto held = static_cast<T>(0x0123456789abcdefull), given = static_cast<T>(~held);
  for (const bool equal : {true, false}) {
    // Target, given value, compared value, old value; others beside each.
    const auto other = static_cast<T>(held ^ (T{1} << (8 * sizeof(T) - 1)));
    const std::vector<T> before = {T{1}, held, T{2}, given, T{3}, equal ? held : other,
                                   T{4}, T{5}, T{6}};
    std::vector<T> after = before, found(before.size());
    after[7] = held;
    if (equal) after[1] = given;
    T* const at = all.as<T>();
    CHECK_OK(subject().copy(at, before.data(), before.size() * sizeof(T), s));
    CHECK_OK(subject().synchronise(s));
    launched.run(at + 1, {at + 3, at + 5, at + 7}, sizeof(T), 2, kernel::exchange_op::swap);
    CHECK_OK(subject().copy(found.data(), at, before.size() * sizeof(T), s));
    CHECK_OK(subject().synchronise(s));
    CHECK(found == after);
  }
}

TEST_CASE(swaps_of_one_value) {
  const memory starts(memory_kind::device, 64);
  if (!subject().kernels_may_wait(0)) return;
  swaps<std::uint8_t>();
  swaps<std::uint16_t>();
  swaps<std::uint32_t>();
  swaps<std::uint64_t>();
}

template <class T, class F>
void fetches(reduce_op op, value_type type, F&& apply) {
  const kernel::id k = kernel::exchange_with(op, type);
  REQUIRE(subject().prepare(0, k) == status::ok);
  reduce_launch launched(k);
  const scoped_stream s;
  const memory all(memory_kind::device, 64 * sizeof(T));
  // Target, given value, old value; others beside each.
  const T held = static_cast<T>(77), given = static_cast<T>(45);
  const std::vector<T> before = {T{1}, held, T{2}, given, T{3}, T{4}, T{5}};
  std::vector<T> after = before, found(before.size());
  after[1] = apply(given, held);
  after[5] = held;
  T* const at = all.as<T>();
  CHECK_OK(subject().copy(at, before.data(), before.size() * sizeof(T), s));
  CHECK_OK(subject().synchronise(s));
  launched.run(at + 1, {at + 3, at + 5}, sizeof(T), 2, kernel::exchange_op::fetch);
  CHECK_OK(subject().copy(found.data(), at, before.size() * sizeof(T), s));
  CHECK_OK(subject().synchronise(s));
  CHECK(found == after);
}

TEST_CASE(fetches_of_one_value) {
  const memory starts(memory_kind::device, 64);
  if (!subject().kernels_may_wait(0)) return;
  fetches<double>(reduce_op::sum, value_type::f64, [](double a, double b) { return a + b; });
  fetches<std::int32_t>(reduce_op::min, value_type::i32,
                        [](std::int32_t a, std::int32_t b) { return std::min(a, b); });
  fetches<std::uint8_t>(reduce_op::sum, value_type::u8, [](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(a + b);
  });
}

TEST_CASE(kernels_that_wait_are_missing_where_they_may_not) {
  const memory starts(memory_kind::device, 64);
  for (const kernel::id k : {kernel::id::exchange, kernel::id::linger})
    CHECK_EQ(subject().prepare(0, k),
             subject().kernels_may_wait(0) ? status::ok : status::not_supported);
  CHECK_OK(subject().prepare(0, kernel::id::copy_batch));
}

TEST_CASE(a_registered_segment_serves_the_kernels_of_two_processes) {
  const memory starts(memory_kind::device, 64);
  if (!subject().shares_host_memory(0)) return;
  constexpr std::size_t count = 50000, size = count * sizeof(double);
  auto segment = shared_memory::create(segment_data_at + 2 * size, "contract");
  REQUIRE(segment.has_value());
  REQUIRE(subject().register_host(segment->data(), segment->size()) == status::ok);
  peer_request share{action::share, 0, 0, 0, {}};
  std::memcpy(share.handle.bytes, &segment->name(), sizeof(shared_memory_name));
  peer other;
  REQUIRE(other.ask(share).outcome == status::ok);

  // This process's copies and kernels read what the other process's device wrote, and vice versa.
  const scoped_stream s;
  std::byte* data = segment->data() + segment_data_at;
  CHECK_OK(other.ask({action::write, 0, 3, size, {}}).outcome);
  CHECK(read(data, size, s) == pattern(size, 3));
  const auto values = numbers<double>(count, 4);
  std::memcpy(data, values.data(), size);
  reduce_launch launched(kernel::exchange_with(reduce_op::sum, value_type::f64));
  const memory own(memory_kind::device, size);
  CHECK_OK(subject().copy(own.data(), values.data(), size, s));
  CHECK_OK(subject().synchronise(s));
  launched.run(data + size, {data, own.data()}, size, 3);
  std::vector<double> sums(count);
  CHECK_OK(subject().copy(sums.data(), data + size, size, s));
  CHECK_OK(subject().synchronise(s));
  for (std::size_t i = 0; i < count; ++i) REQUIRE(sums[i] == 2 * values[i]);
  write(data, pattern(size, 9), s);
  CHECK(other.ask({action::check, 0, 9, size, {}}).same);

  CHECK_OK(other.ask({action::unshare, 0, 0, 0, {}}).outcome);
  CHECK_OK(subject().unregister_host(segment->data()));
}

}  // namespace
}  // namespace contract
