// SPDX-License-Identifier: BSD-3-Clause
// The inbox's kernels with several threads: two streams and a host, each a thread.
#define CHECK_NO_MAIN
#include <array>
#include <thread>

#include "block_of_threads.hpp"
#include "check.hpp"
#include "kernel/bodies.hpp"

namespace kernel = telpher::kernel;

namespace {

using bytes = std::vector<std::uint8_t>;
using kernel::inbox_take;

constexpr std::uint32_t cells = 3;
constexpr std::size_t limit = 500, cell_bytes = 2 * (limit + 15);
constexpr unsigned blocks = 2;

std::uint8_t byte_of(std::uint32_t message, std::size_t at) {
  return static_cast<std::uint8_t>(message * 37 + at * 7 + 1);
}

void set(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}
void await(std::uint64_t& word) {
  while (std::atomic_ref(word).load(std::memory_order_acquire) == 0) std::this_thread::yield();
}

struct exchange {
  explicit exchange(unsigned i) : items(i) {}

  void put(std::uint32_t message, std::size_t size) {
    bytes out(size);
    for (std::size_t at = 0; at < size; ++at) out[at] = byte_of(message, at);
    std::uint32_t read[blocks] = {};
    const std::uint32_t cell = message % cells;
    const kernel::inbox_put k{out.data(), inbox.data() + cell * cell_bytes, size, read,
                              message / cells + 1};
    block_of_threads::run([&](block_of_threads::work w) { kernel::inbox_put_body(w, k); }, blocks,
                          items);
    for (const std::uint32_t one : read) CHECK_EQ(one, 1u);
  }
  bytes take() {
    bytes in(limit, 0xee);
    const inbox_take k{in.data(), inbox.data(), cell_bytes, &order, &reached, over};
    block_of_threads::run([&](block_of_threads::work w) { kernel::inbox_take_body(w, k); }, blocks,
                          items);
    for (const std::uint32_t one : over) CHECK_EQ(one, 1u);
    return in;
  }

  /// Messages of 100 bytes and more, by one launch with `share` blocks for each.
  void put_all(std::uint32_t count, unsigned share) {
    kernel::inbox_put_all k{};
    k.share = share;
    std::vector<bytes> out(count);
    std::vector<std::array<std::uint32_t, blocks>> read(count, {0, 0});
    for (std::uint32_t i = 0; i < count; ++i) {
      for (std::size_t at = 0; at < 100 + i; ++at) out[i].push_back(byte_of(i, at));
      k.each[i] = {out[i].data(), inbox.data() + i * cell_bytes, 100 + i, read[i].data(), 1};
    }
    block_of_threads::run([&](block_of_threads::work w) { kernel::inbox_put_all_body(w, k); },
                          count * share, items);
    for (const auto& words : read)
      for (unsigned b = 0; b < blocks; ++b) CHECK_EQ(words[b], b < share ? 1u : 0u);
  }

  /// The n-th of several receives that one launch serves.
  struct receiver {
    bytes in = bytes(limit, 0xee);
    std::uint64_t order = 0, reached = 0;
    std::uint32_t over[blocks] = {};
  };
  void take_all(std::vector<receiver>& all, unsigned share) {
    kernel::inbox_take_all k{};
    k.share = share;
    for (std::size_t i = 0; i < all.size(); ++i) {
      receiver& r = all[i];
      k.each[i] = {r.in.data(), inbox.data(), cell_bytes, &r.order, &r.reached, r.over};
    }
    block_of_threads::run([&](block_of_threads::work w) { kernel::inbox_take_all_body(w, k); },
                          static_cast<unsigned>(all.size()) * share, items);
  }

  unsigned items;
  bytes inbox = bytes(cells * cell_bytes, 0);
  std::uint64_t order = 0, reached = 0;
  std::uint32_t over[blocks] = {};
};

std::uint64_t order_of(std::uint32_t message, std::size_t size) {
  return inbox_take::order_for({message % cells, message / cells + 1, size});
}

// The order, the words and the kernel come in every order.
void messages(unsigned items) {
  constexpr std::size_t sizes[] = {1, 12, 13, 499, 500};
  exchange e(items);
  for (std::uint32_t message = 0; message < 24; ++message) {
    const std::size_t size = sizes[message % std::size(sizes)];
    const unsigned how = message % 4;
    e.order = e.reached = e.over[0] = e.over[1] = 0;
    if (how == 0 || how == 1) e.put(message, size);
    if (how == 0 || how == 2) e.order = order_of(message, size);
    const bool early = e.order != 0;
    bytes in;
    std::thread receiver([&] { in = e.take(); });
    if (!early) {
      await(e.reached);
      set(e.order, order_of(message, size));
    }
    if (how == 2 || how == 3) e.put(message, size);
    receiver.join();
    CHECK_EQ(e.reached, early ? 0u : 1u);
    for (std::size_t at = 0; at < limit; ++at)
      CHECK_EQ(in[at], at < size ? byte_of(message, at) : 0xee);
  }
}

// The host has moved the message, or says so in place of words that do not come.
void no_words(unsigned items) {
  for (const bool promised : {false, true}) {
    exchange e(items);
    if (promised) e.order = order_of(1, 100);
    bytes in;
    std::thread receiver([&] { in = e.take(); });
    if (!promised) await(e.reached);
    set(e.order, inbox_take::moved_by_host);
    receiver.join();
    CHECK(in == bytes(limit, 0xee));
  }
}

// Messages in other cells than the receives' order, and one that the host has moved.
void several(unsigned items, unsigned share) {
  exchange e(items);
  std::vector<exchange::receiver> all(4);
  e.put_all(3, share);
  for (std::uint32_t message = 0; message < 3; ++message)
    all[3 - message].order = order_of(message, 100 + message);
  all[0].order = inbox_take::moved_by_host;
  e.take_all(all, share);
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (unsigned b = 0; b < blocks; ++b) CHECK_EQ(all[i].over[b], b < share ? 1u : 0u);
    const std::uint32_t message = 3 - i;
    for (std::size_t at = 0; at < limit; ++at)
      CHECK_EQ(all[i].in[at], i > 0 && at < 100 + message ? byte_of(message, at) : 0xee);
  }
}

}  // namespace

void test_inbox_put() {
  for (const unsigned items : {1u, 4u}) messages(items);
}

void test_inbox_take() {
  for (const unsigned items : {1u, 4u}) no_words(items);
}

void test_inbox_put_all() {
  for (const unsigned items : {1u, 4u}) several(items, 1);
}

void test_inbox_take_all() {
  for (const unsigned items : {1u, 4u}) several(items, 2);
}
