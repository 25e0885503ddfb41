// SPDX-License-Identifier: BSD-3-Clause
// The exchange kernel with several threads per block: every algorithm over both transports,
// including pauses, a kernel that stays, and replays. Reductions are compared with one work item
// per block.
#define CHECK_NO_MAIN
#include "../coll/exchange_node.hpp"
#include "block_of_threads.hpp"
#include "check.hpp"

using namespace exchange_test;
using telpher::kernel::combine::max;
using telpher::kernel::combine::minloc;
using telpher::kernel::combine::sum;
namespace values = telpher::kernel::values;

namespace {

constexpr unsigned items = 6;

template <class Reduction>
void run_in_threads(const kernel::exchange& p, unsigned block, unsigned blocks) {
  block_of_threads::run_block(
      [&](block_of_threads::work w) { kernel::run_exchange<Reduction>(w, p); }, block, blocks,
      items);
}

/// Runs one block of the kernels that a node launches, with many threads.
void by_many(kernel::id k, const kernel::exchange& p, unsigned block, unsigned blocks) {
  if (k == kernel::id::exchange) return run_in_threads<kernel::no_reduction>(p, block, blocks);
  run_in_threads<kernel::reduction<sum, values::u32>>(p, block, blocks);
}

/// A reduction of three sources into two targets, with equal or different alignment, in three
/// blocks.
template <class Op, class T>
void reduce(kernel::reduce_op op, kernel::value_type type) {
  constexpr std::size_t count = 331, sources = 3;
  for (const std::size_t shift : {0u, 1u}) {
    std::vector<T> in[sources], expected(count + 8), got(count + 8), also(count + 8);
    std::memset(static_cast<void*>(expected.data()), 0, expected.size() * sizeof(T));
    got = also = expected;
    for (std::size_t s = 0; s < sources; ++s) {
      in[s] = expected;
      auto* raw = reinterpret_cast<std::uint8_t*>(in[s].data());
      for (std::size_t i = 0; i < in[s].size() * sizeof(T); i += sizeof(T))
        raw[i] = static_cast<std::uint8_t>(i * 7 + s * 29);  // small numbers in every type
    }
    for (const bool one : {true, false}) {
      std::uint64_t done[3] = {};
      std::uint32_t stop = 0, arrivals = 0;
      kernel::exchange p{};
      p.code_words = 4 + sources;
      p.code[0] = static_cast<std::uint64_t>(kernel::exchange_op::reduce) | sources << 8 | 1 << 16;
      p.code[1] = count * sizeof(T);
      p.code[2] = reinterpret_cast<std::uintptr_t>((one ? expected : got).data() + shift);
      for (std::size_t s = 0; s < sources; ++s)
        p.code[3 + s] = reinterpret_cast<std::uintptr_t>(in[s].data() + (s == 1 ? shift : 0));
      p.code[3 + sources] = reinterpret_cast<std::uintptr_t>(also.data() + shift);
      p.done_value = 1;
      p.done = done;
      p.stop = &stop;
      p.arrivals = &arrivals;
      for (unsigned b = 0; b < 3; ++b)
        if (one)
          kernel::cpu_kernel_of(kernel::exchange_with(op, type)).run_block(&p, b, 3);
        else
          run_in_threads<kernel::reduction<Op, T>>(p, b, 3);
      for (const std::uint64_t word : done) CHECK_EQ(word, kernel::exchange::ended(1, false));
      CHECK(std::memcmp(expected.data(), also.data(), also.size() * sizeof(T)) == 0);
      std::memset(static_cast<void*>(also.data()), 0, also.size() * sizeof(T));
    }
    CHECK(std::memcmp(expected.data(), got.data(), got.size() * sizeof(T)) == 0);
  }
}

/// Two ranks that add their vectors again and again, each by launches that follow one another: as a
/// matched allreduce, whose packed memory is there twice.
class replays {
 public:
  explicit replays(unsigned blocks) : blocks_(blocks) {
    for (rank& r : ranks_) r.inbox.resize(2 * count);
    for (unsigned i : {0u, 1u}) set_parameters(ranks_[i], ranks_[1 - i]);
  }

  void run(std::uint32_t launches) {
    std::thread other([&] { launch_all(1, launches); });
    launch_all(0, launches);
    other.join();
    for (const rank& r : ranks_)
      for (unsigned b = 0; b < blocks_; ++b) {
        CHECK_EQ(r.calls[2 * b], launches);
        CHECK_EQ(r.calls[2 * b + 1], launches / 3);
        CHECK_EQ(r.done[b], kernel::exchange::replays(launches, launches / 3));
      }
  }

 private:
  static constexpr std::size_t count = 301;
  using words = std::vector<std::uint32_t>;
  struct rank {
    words in = words(count), out = words(count);
    std::vector<std::uint64_t> inbox;
    std::uint64_t calls[16] = {}, done[8] = {};
    std::uint32_t stop = 0;
    kernel::exchange parameters{};
  };

  static std::uint64_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }
  static std::uint64_t half(const rank& of, unsigned which) {
    return address(of.inbox.data() + which * count) | kernel::packed_mark;
  }
  static std::uint32_t value(unsigned r, std::uint32_t launch, std::size_t i) {
    return static_cast<std::uint32_t>((r + 1) * 1000003u + launch * 977u + i * 31u);
  }

  static void set_parameters(rank& own, const rank& peer) {
    kernel::exchange& p = own.parameters;
    std::uint64_t* code = p.code;
    for (unsigned h : {0u, 1u}) {
      const std::uint64_t program[] = {
          static_cast<std::uint64_t>(kernel::exchange_op::copies) | 1 << 8,
          count * 4,
          half(peer, h),
          address(own.in.data()),
          static_cast<std::uint64_t>(kernel::exchange_op::reduce) | 2 << 8,
          count * 4,
          address(own.out.data()),
          address(own.in.data()),
          half(own, h)};
      code = std::copy(std::begin(program), std::end(program), code);
      p.code_words = std::size(program);
    }
    p.programs = 2;
    p.calls = own.calls;
    p.done = own.done;
    p.stop = &own.stop;
    p.done_value = 1;
    p.patience_ns = ~std::uint64_t{0};
  }

  void launch_all(unsigned me, std::uint32_t launches) {
    rank& r = ranks_[me];
    for (std::uint32_t n = 0; n < launches; ++n) {
      for (std::size_t i = 0; i < count; ++i) r.in[i] = value(me, n, i);
      r.parameters.of_graph = n % 3 == 2;
      std::vector<std::thread> all;
      for (unsigned b = 0; b < blocks_; ++b)
        all.emplace_back([&, b] {
          run_in_threads<kernel::reduction<sum, values::u32>>(r.parameters, b, blocks_);
        });
      for (std::thread& one : all) one.join();
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < count; ++i) wrong += r.out[i] != value(0, n, i) + value(1, n, i);
      CHECK_EQ(wrong, 0u);
    }
  }

  unsigned blocks_;
  rank ranks_[2];
};

/// A program whose steps use one memory in different slices: blocks meet between them. What leaves
/// goes to the host, which answers with what comes.
void exchange_with_host() {
  using kernel::exchange_op;
  constexpr unsigned blocks = 3;
  constexpr std::uint64_t bytes = 20000, shift = 640, rest = bytes - shift, epoch = 7, host = 1;
  constexpr std::size_t ranks = kernel::exchange::most_ranks;
  std::vector<std::uint8_t> in(bytes), between(bytes), leaving(rest), coming(rest), out(rest);
  for (std::size_t i = 0; i < bytes; ++i) in[i] = static_cast<std::uint8_t>(i * 31 + i / 251);
  std::vector<std::uint64_t> own(blocks * ranks), of_host(blocks * ranks);
  std::uint64_t done[blocks] = {};
  std::uint32_t stop = 0, arrivals = 0;
  kernel::exchange p{};
  const auto at = [](const void* where) { return reinterpret_cast<std::uintptr_t>(where); };
  const auto head = [](exchange_op kind, std::uint64_t more) {
    return static_cast<std::uint64_t>(kind) | more;
  };
  const std::uint64_t program[] = {head(exchange_op::copy, 1 << 8),
                                   bytes,
                                   at(between.data()),
                                   at(in.data()),
                                   head(exchange_op::meet, 1 << 16),
                                   0,
                                   head(exchange_op::copy, 1 << 8),
                                   rest,
                                   at(leaving.data()),
                                   at(between.data() + shift),
                                   head(exchange_op::signal, 1 << 16),
                                   std::uint64_t{1} << host,
                                   head(exchange_op::await, 1 << 16),
                                   host,
                                   head(exchange_op::copy, 1 << 8),
                                   rest,
                                   at(out.data()),
                                   at(coming.data())};
  std::copy(std::begin(program), std::end(program), p.code);
  p.code_words = std::size(program);
  p.epoch = epoch;
  p.flags[0] = own.data();
  p.flags[host] = of_host.data();
  p.done_value = 1;
  p.done = done;
  p.stop = &stop;
  p.arrivals = &arrivals;
  p.patience_ns = ~std::uint64_t{0};
  std::vector<std::thread> running;
  for (unsigned b = 0; b < blocks; ++b)
    running.emplace_back([&p, b] { run_in_threads<kernel::no_reduction>(p, b, blocks); });
  for (unsigned b = 0; b < blocks; ++b)
    while (std::atomic_ref(of_host[b * ranks]).load(std::memory_order_acquire) != (epoch << 16 | 1))
      std::this_thread::yield();
  coming = leaving;
  std::atomic_ref(of_host[host]).store(epoch << 16 | 1, std::memory_order_release);
  for (std::thread& block : running) block.join();
  CHECK(std::memcmp(out.data(), in.data() + shift, rest) == 0);
}

}  // namespace

TEST_CASE(exchange_host) {
  exchange_with_host();
}

void test_exchange() {
  for (const std::uint64_t count : {37u, 300u}) {
    CHECK_EQ(wrong_of_all(3, count, false, false, false, by_many), 0);
    CHECK_EQ(wrong_of_all(3, count, true, false, false, by_many), 0);
  }
  CHECK_EQ(wrong_of_all(2, 37, false, true, true, by_many), 0);
}

TEST_CASE(exchange_stays) {
  for (const unsigned blocks : {1u, 3u}) {
    staying one(blocks, ~std::uint64_t{0}, by_many);
    one.await_done(1, blocks);
    std::uint32_t call = 1;
    for (int round = 0; round < 4; ++round)
      for (const std::size_t copies : {1u, 15u})  // commands of one part and of two
        for (unsigned some = 1; some <= blocks; ++some) {
          one.command(++call, copies, some);
          one.await_done(call, some);
          CHECK(one.has(call, copies));
        }
    one.leave();
    one.await_gone();
  }
}

TEST_CASE(exchange_replays) {
  replays(1).run(5);
  replays(3).run(5);
}

TEST_CASE(reductions) {
  using kernel::reduce_op;
  using kernel::value_type;
  reduce<sum, values::f32>(reduce_op::sum, value_type::f32);
  reduce<sum, values::bf16>(reduce_op::sum, value_type::bf16);
  reduce<max, values::i8>(reduce_op::max, value_type::i8);
  reduce<minloc, values::f64_i32>(reduce_op::minloc, value_type::f64_i32);
}
