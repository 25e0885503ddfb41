// SPDX-License-Identifier: BSD-3-Clause
// The exchange kernel as the CPU runs it: every algorithm of the catalogue, over both transports,
// on mapped buffers and through the workspace, against a plain loop over all inputs. Ranks are
// threads with random delays; call after call uses the same memory. Forced interleavings: a rank
// that ends early must not disturb one that is late.
#include "exchange_node.hpp"

#include "check.hpp"
#include "kernel/cpu.hpp"

using namespace exchange_test;

namespace {

/// Runs a block by one work item, as the emulated device does.
void by_one(kernel::id k, const kernel::exchange& p, unsigned block, unsigned blocks) {
  kernel::cpu_kernel_of(k).run_block(&p, block, blocks);
}

}  // namespace

TEST_CASE(exchange_through_the_workspace) {
  for (const int ranks : {2, 3, 5})
    for (const std::uint64_t count : {1u, 37u, 500u})
      CHECK_EQ(wrong_of_all(ranks, count, false, false, false, by_one), 0);
}

TEST_CASE(exchange_on_mapped_buffers) {
  for (const int ranks : {2, 3, 5})
    for (const std::uint64_t count : {1u, 37u, 500u})
      CHECK_EQ(wrong_of_all(ranks, count, false, true, false, by_one), 0);
}

TEST_CASE(exchange_in_place) {
  for (const bool mapped : {false, true})
    for (const int ranks : {2, 4})
      CHECK_EQ(wrong_of_all(ranks, 37, false, mapped, true, by_one), 0);
}

TEST_CASE(packed_words) {
  for (const bool in_place : {false, true})
    for (const int ranks : {2, 3, 5})
      for (const std::uint64_t count : {1u, 37u, 300u})
        CHECK_EQ(wrong_of_all(ranks, count, true, false, in_place, by_one), 0);
}

namespace {

/// The words of a program over made-up addresses; units of one byte.
std::vector<std::uint64_t> words_of(const std::vector<step>& steps) {
  schedule plan;
  plan.ranks = 2;
  plan.steps = steps;
  space_map map{};
  map[0] = {0x1000, 0x2000, 0x3000, 0};
  map[1] = {0x4000, 0x5000, 0x6000, 0};
  std::vector<std::uint64_t> words;
  CHECK(compile({plan, map}, words) == telpher::status::ok);
  return words;
}

constexpr std::uint64_t reduce_word = static_cast<std::uint64_t>(kernel::exchange_op::reduce);

}  // namespace

TEST_CASE(a_sum_goes_to_all_its_places_in_one_step) {
  const span sum{0, space::output, 0, 64}, slot{0, space::scratch, 0, 64};
  const step add{step_kind::reduce, -1, sum, {{0, space::input, 0, 64}, slot}};
  const auto copy_to = [&](span to) { return step{step_kind::copy, -1, to, {sum}}; };
  const step to_peer = copy_to({1, space::output, 0, 64});
  const std::vector<std::uint64_t> together = {
      reduce_word | 2 << 8 | 2 << 16, 64, 0x2000, 0x1000, 0x3000, 0x5000, 0x3000};
  CHECK(words_of({add, to_peer, copy_to(slot)}) == together);
  // A place that overlaps with a source would be changed before it was read; other sizes, and what
  // comes after a signal, are steps of their own.
  CHECK_EQ(words_of({add, copy_to({0, space::scratch, 32, 64})})[0], reduce_word | 2 << 8);
  const step half{step_kind::copy, -1, {1, space::output, 0, 32}, {{0, space::output, 0, 32}}};
  CHECK_EQ(words_of({add, half})[0], reduce_word | 2 << 8);
  const step tell{step_kind::signal, 1, {}, {}};
  CHECK_EQ(words_of({add, tell, to_peer})[0], reduce_word | 2 << 8);
}

TEST_CASE(a_waiting_block_gives_up_when_told) {
  std::vector<std::uint64_t> flags(flags_count);
  std::uint64_t done = 0;
  std::uint32_t stop = 7, arrivals = 0;
  kernel::exchange_place place;
  kernel::exchange k{};
  k.epoch = 1;
  k.flags[0] = k.flags[1] = flags.data();
  k.code[0] = static_cast<std::uint64_t>(kernel::exchange_op::wait) | 1 << 16;
  k.code[1] = 2;
  k.code_words = 2;
  k.done_value = 7;
  k.arrivals = &arrivals;
  k.done = &done;
  k.stop = &stop;
  k.places = &place;
  k.patience_ns = ~std::uint64_t{0};
  kernel::cpu_kernel_of(kernel::id::exchange).run_block(&k, 0, 1);
  CHECK(done == kernel::exchange::ended(7, true));
  CHECK_EQ(place.word, 0);
}

namespace {

constexpr std::uint64_t for_ever = ~std::uint64_t{0};

}  // namespace

TEST_CASE(a_kernel_that_stays_takes_one_call_after_the_other) {
  for (const unsigned blocks : {1u, 3u}) {
    staying one(blocks, for_ever, by_one);
    one.await_done(1, blocks);
    std::uint32_t call = 1;
    for (int round = 0; round < 200; ++round)
      for (const std::size_t copies : {1u, 7u, 8u, 15u})  // commands of one part and of two
        for (unsigned some = 1; some <= blocks; ++some) {
          one.command(++call, copies, some);
          one.await_done(call, some);
          CHECK(one.has(call, copies));
        }
    one.leave();
    one.await_gone();
  }
}

TEST_CASE(a_kernel_that_stays_leaves_when_nothing_comes) {
  for (const unsigned blocks : {1u, 4u}) {
    staying one(blocks, 1000, by_one);
    one.await_done(1, blocks);
    one.await_gone();
    one.command(2, 1, 1);  // no block takes it
    CHECK(!one.has(2, 1));
  }
}

namespace {

template <unsigned unit, class Slice>
void cover_once(Slice slice_of) {
  for (const std::uint64_t bytes : {0u, 1u, 63u, 64u, 65u, 479u, 480u, 481u, 1000u, 4096u})
    for (const unsigned blocks : {1u, 2u, 3u, 32u}) {
      std::uint64_t next = 0;
      for (unsigned b = 0; b < blocks; ++b) {
        const kernel::slice s = slice_of(bytes, b, blocks);
        if (s.bytes) CHECK_EQ(s.begin, next);
        CHECK(s.bytes == 0 || s.begin % unit == 0);
        next += s.bytes;
      }
      CHECK_EQ(next, bytes);
    }
}

}  // namespace

TEST_CASE(slices_cover_a_span_once) {
  cover_once<kernel::slice_unit>(kernel::slice_of<>);
  cover_once<kernel::line_slice_unit>(kernel::line_slice);
}

namespace {

template <class Half, class Round>
int wrong_halves(Round round) {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const Half h{static_cast<std::uint16_t>(bits)};
    const float wide = kernel::widen(h);
    if (wide == wide) wrong += round(wide).bits != h.bits;
  }
  return wrong;
}

}  // namespace

TEST_CASE(halves_survive_widening) {
  CHECK_EQ(wrong_halves<kernel::values::f16>(kernel::round_to_f16), 0);
  CHECK_EQ(wrong_halves<kernel::values::bf16>(kernel::round_to_bf16), 0);
  CHECK_EQ(kernel::widen(kernel::values::f16{0x3c00}), 1.0f);
  CHECK_EQ(kernel::round_to_f16(65520.0f).bits, 0x7c00);
  CHECK_EQ(kernel::round_to_f16(65519.0f).bits, 0x7bff);
  CHECK_EQ(kernel::round_to_f16(1.0f + 1.0f / 2048).bits, 0x3c00);  // a tie: rounds to even
}
