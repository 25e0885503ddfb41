// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads that run exchange kernels on the CPU: whole algorithms on a node of ranks, and a
// kernel that stays. The test chooses how a block is run: by one work item, as the emulated device
// does, or by many, each a thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "coll/algorithms/catalogue.hpp"
#include "coll/exchange/program.hpp"
#include "kernel/exchange.hpp"
#include "kernel/reduction.hpp"

namespace exchange_test {

using namespace telpher::coll;
using namespace telpher::coll::exchange;
namespace kernel = telpher::kernel;

/// Runs one block of a kernel to its end.
using block_runner = void (*)(kernel::id, const kernel::exchange&, unsigned block, unsigned blocks);

constexpr std::size_t flags_count = kernel::exchange::most_blocks * kernel::exchange::most_ranks;
constexpr std::size_t space_elements = 4096;
using element = std::uint32_t;

struct rank_memory {
  std::vector<std::uint64_t> flags = std::vector<std::uint64_t>(flags_count);
  std::vector<std::uint64_t> inbox = std::vector<std::uint64_t>(8 * space_elements);
  std::vector<element> scratch = std::vector<element>(8 * space_elements);
  std::vector<element> input, output;
  std::vector<kernel::exchange_place> places =
      std::vector<kernel::exchange_place>(kernel::exchange::most_blocks);
  std::array<std::uint64_t, kernel::exchange::most_blocks> done{};
  std::uint32_t arrivals = 0, stop = 0, launches = 0;

  /// How many of the first `blocks` blocks have this word.
  int blocks_with(std::uint64_t word, int blocks) const {
    return static_cast<int>(std::count(done.begin(), done.begin() + blocks, word));
  }
};

inline element value(int rank, std::size_t i, std::uint64_t call) {
  return static_cast<element>((static_cast<std::size_t>(rank) * 7919 + i * 31 + call * 101) % 1000);
}

/// One node of ranks; every call reuses the same memory.
class node {
 public:
  node(int ranks, block_runner run_block)
      : memory_(static_cast<std::size_t>(ranks)), run_block_(run_block) {}

  /// Runs one call; returns the number of wrong elements in all outputs.
  int run(const algorithm& a, problem p, bool packed, int blocks) {
    ++call_;
    const int n = p.ranks;
    std::vector<std::vector<element>> before;
    for (int r = 0; r < n; ++r) {
      rank_memory& m = memory_[static_cast<std::size_t>(r)];
      m.input.resize(space_elements);
      for (std::size_t i = 0; i < space_elements; ++i) m.input[i] = value(r, i, call_);
      m.output.assign(space_elements, 0xffffffffu);
      if (p.in_place && (!is_rooted(p.what) || r == p.root)) m.output = m.input;
      before.push_back(p.in_place && (!is_rooted(p.what) || r == p.root) ? m.output : m.input);
    }
    std::vector<std::thread> threads;
    for (int r = 0; r < n; ++r) threads.emplace_back([&, r] { run_rank(a, p, r, packed, blocks); });
    for (std::thread& t : threads) t.join();
    int wrong = 0;
    for (int r = 0; r < n; ++r) wrong += wrong_elements(p, r, before);
    return wrong;
  }

 private:
  void run_rank(const algorithm& a, const problem& p, int rank, bool packed, int blocks) {
    space_map map{};
    kernel::exchange k{};
    for (int r = 0; r < p.ranks; ++r) {
      rank_memory& m = memory_[static_cast<std::size_t>(r)];
      spaces& s = map[static_cast<std::size_t>(r)];
      const auto address = [](auto& v) { return reinterpret_cast<std::uintptr_t>(v.data()); };
      const bool in_place = p.in_place && (!is_rooted(p.what) || r == p.root);
      if (p.mapped || r == rank) {
        s.output = address(m.output);
        s.input = in_place ? s.output : address(m.input);
      }
      s.scratch = address(m.scratch);
      s.inbox = address(m.inbox);
      k.flags[r] = m.flags.data();
    }
    const schedule plan = a.make(p, rank);
    std::vector<std::uint64_t> words;
    words.reserve(most_words(plan));
    const std::size_t room = words.capacity();
    const auto s = compile({plan, map, sizeof(element), packed}, words);
    if (s != telpher::status::ok || words.capacity() != room) {
      bad_.fetch_add(1);
      return;
    }
    rank_memory& own = memory_[static_cast<std::size_t>(rank)];
    k.epoch = call_;
    k.packed_epoch = static_cast<std::uint32_t>(call_);
    k.code_words = static_cast<std::uint32_t>(words.size());
    k.long_code = words.data();
    k.me = static_cast<std::uint32_t>(rank);
    k.arrivals = &own.arrivals;
    k.done = own.done.data();
    k.stop = &own.stop;
    k.places = own.places.data();
    k.patience_ns = call_ % 2 == 0 ? 1 : ~std::uint64_t{0};  // every wait pauses, or none
    k.again = 0;
    std::minstd_rand random(static_cast<unsigned>(rank * 31 + static_cast<int>(call_)));
    for (unsigned i = random() % 4; i > 0; --i) std::this_thread::yield();
    const auto id = kernel::exchange_with(kernel::reduce_op::sum, kernel::value_type::u32);
    do {
      k.done_value = ++own.launches;
      for (int b = 0; b < blocks; ++b)
        run_block_(id, k, static_cast<unsigned>(b), static_cast<unsigned>(blocks));
      const int paused = own.blocks_with(kernel::exchange::ended(k.done_value, true), blocks);
      const int ended = own.blocks_with(kernel::exchange::ended(k.done_value, false), blocks);
      if (paused + ended != blocks) bad_.fetch_add(1);
      k.again = paused != 0;
    } while (k.again);
  }

  int wrong_elements(const problem& p, int rank, const std::vector<std::vector<element>>& in) {
    const std::vector<element>& out = memory_[static_cast<std::size_t>(rank)].output;
    int wrong = bad_.exchange(0);
    const auto check = [&](std::size_t at, element wanted) { wrong += out[at] != wanted; };
    const auto sum = [&](int first, int last, std::size_t at) {
      element s = 0;
      for (int r = first; r < last; ++r) s += in[static_cast<std::size_t>(r)][at];
      return s;
    };
    const auto count = static_cast<std::size_t>(p.count), me = static_cast<std::size_t>(rank);
    for (std::size_t i = 0; i < count; ++i) switch (p.what) {
        case operation::allreduce:
          check(i, sum(0, p.ranks, i));
          break;
        case operation::reduce:
          if (rank == p.root) check(i, sum(0, p.ranks, i));
          break;
        case operation::bcast:
          if (rank != p.root) check(i, in[static_cast<std::size_t>(p.root)][i]);
          break;
        case operation::scan:
          check(i, sum(0, rank + 1, i));
          break;
        case operation::exscan:
          if (rank > 0) check(i, sum(0, rank, i));
          break;
        case operation::reduce_scatter_block:
          check(i, sum(0, p.ranks, me * count + i));
          break;
        case operation::scatter:
          if (!(p.in_place && rank == p.root))
            check(i, in[static_cast<std::size_t>(p.root)][me * count + i]);
          break;
        case operation::allgather:
        case operation::gather:
          for (std::size_t r = 0;
               r < in.size() && (p.what == operation::allgather || rank == p.root); ++r) {
            const bool aliased =
                p.in_place && (p.what == operation::allgather || rank == static_cast<int>(r));
            check(r * count + i, in[r][aliased ? r * count + i : i]);
          }
          break;
        case operation::alltoall:
          for (std::size_t r = 0; r < in.size(); ++r) check(r * count + i, in[r][me * count + i]);
          break;
        default:
          break;
      }
    return wrong;
  }

  std::vector<rank_memory> memory_;
  block_runner run_block_;
  std::uint64_t call_ = 0;
  std::atomic<int> bad_{0};
};

/// Runs every algorithm on problems of one size, in a fixed order, on the same memory.
inline int wrong_of_all(int ranks, std::uint64_t count, bool packed, bool mapped, bool in_place,
                        block_runner run_block) {
  node n(ranks, run_block);
  int wrong = 0;
  for (int round = 0; round < 2; ++round)
    for (const algorithm& a : algorithms()) {
      if (is_v_form(a.what)) continue;
      if (a.restrictions & restriction::between_nodes) continue;
      if (packed && !(a.restrictions & restriction::packed)) continue;
      if (in_place && a.what == operation::bcast) continue;
      problem p;
      p.what = a.what;
      p.ranks = ranks;
      p.root = ranks - 1;
      p.count = count;
      p.mapped = mapped;
      p.in_place = in_place;
      p.granule = 32;
      if (!allows(a, p)) continue;
      wrong += n.run(a, p, packed, count > 100 ? 3 : 1);
    }
  return wrong;
}

/// A kernel that stays, with a thread for each block, and the host's side of it.
class staying {
 public:
  staying(unsigned blocks, std::uint64_t stay_ns, block_runner run_block) {
    parameters_.code_words = 4;
    fill(parameters_.code, 0);
    parameters_.done_value = 1;
    parameters_.done = done_;
    parameters_.stop = &stop_;
    parameters_.arrivals = &arrivals_;
    parameters_.relay = &relay_;
    parameters_.next = &mailbox_;
    parameters_.gone = &gone_;
    parameters_.first_command = 5;
    parameters_.stay_ns = stay_ns;
    for (unsigned b = 0; b < blocks; ++b)
      threads_.emplace_back([this, b, blocks, run_block] {
        run_block(kernel::id::exchange, parameters_, b, blocks);
      });
  }
  ~staying() {
    for (std::thread& t : threads_) t.join();
  }

  /// Writes a program with some copies of a piece, for the first `blocks` blocks.
  void command(std::uint32_t call, std::size_t copies, unsigned blocks) {
    constexpr std::size_t heading = kernel::exchange_command::heading;
    std::vector<std::uint64_t> words = {4 * copies, std::uint64_t{blocks} << 32 | call, 0};
    words.resize(heading + 4 * copies);
    for (std::size_t i = 0; i < copies; ++i) fill(words.data() + heading + 4 * i, i);
    from_.fill(call);
    kernel::write_command(mailbox_, next_++, words.data(), static_cast<unsigned>(words.size()));
  }
  void leave() {
    const std::uint64_t words[kernel::exchange_command::heading] = {};
    kernel::write_command(mailbox_, next_++, words, kernel::exchange_command::heading);
  }
  void await_done(std::uint32_t call, unsigned blocks) {
    for (unsigned b = 0; b < blocks; ++b)
      while (kernel::load_acquire_system(&done_[b]) != kernel::exchange::ended(call, false))
        std::this_thread::yield();
  }
  void await_gone() {
    while (kernel::load_acquire_system(&gone_) != 5) std::this_thread::yield();
  }
  bool has(std::uint32_t call, std::size_t copies) const {
    for (std::size_t i = 0; i < copies; ++i)
      for (const std::uint64_t word : to_[i])
        if (word != call) return false;
    return true;
  }

 private:
  void fill(std::uint64_t* words, std::size_t i) {
    words[0] = static_cast<std::uint64_t>(kernel::exchange_op::copy) | 1 << 8;
    words[1] = sizeof from_;
    words[2] = reinterpret_cast<std::uintptr_t>(to_[i].data());
    words[3] = reinterpret_cast<std::uintptr_t>(from_.data());
  }

  using piece = std::array<std::uint64_t, 32>;  // four units of a slice
  piece from_{}, to_[16] = {};
  std::uint64_t done_[8] = {}, gone_ = 0, next_ = 5;
  std::uint32_t stop_ = 0, arrivals_ = 0;
  kernel::exchange_command mailbox_{}, relay_{};
  kernel::exchange parameters_{};
  std::vector<std::thread> threads_;
};

}  // namespace exchange_test
