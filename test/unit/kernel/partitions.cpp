// SPDX-License-Identifier: BSD-3-Clause
// partitions_start, partition_ready and partitions_wait with several blocks and threads: a sender
// and a receiver, each a thread that launches one kernel after the other, as their streams do.
#define CHECK_NO_MAIN
#include "block_of_threads.hpp"
#include "check.hpp"
#include "kernel/bodies.hpp"

namespace kernel = telpher::kernel;

namespace {

constexpr unsigned items = 4, blocks = 3;
constexpr std::int32_t near = -1;
constexpr std::size_t partitions = 6, bytes = 700;  // more marks than work items

std::uint8_t byte_of(std::uint64_t round, std::size_t at) {
  return static_cast<std::uint8_t>(round * 37 + at * 7 + at / 256);
}

class one_pair {
 public:
  void run(std::uint64_t rounds, bool twice) {
    std::thread sends([&] {
      for (std::uint64_t n = 1; n <= rounds; ++n) send(n, twice);
    });
    for (std::uint64_t n = 1; n <= rounds; ++n) receive(n);
    sends.join();
    CHECK_EQ(sender_.round, rounds);
    CHECK_EQ(receiver_.round, rounds);
    CHECK_EQ(sender_.opened, rounds);
    CHECK_EQ(sent_, rounds);
    CHECK_EQ(taken_, rounds);
    for (std::uint32_t a : arrivals_) CHECK_EQ(a, 0u);
  }

  /// Nobody waits for another node once the relay has failed.
  static void wait_in_vain() {
    std::uint64_t freed = telpher_device::broken, marks[2]{}, ended = 0;
    telpher_device_queue queue{};
    queue.freed = &freed;
    telpher_device_partitions end{};
    end.round = 5;
    end.queue = &queue;
    wait(pieces({&end, nullptr, marks, 2, 0, &ended}));
    CHECK_EQ(ended, 5u);
  }

 private:
  template <class P, class Body>
  static void launch(const P& k, unsigned count, Body body) {
    block_of_threads::run([&](block_of_threads::work w) { body(w, k); }, count, items);
  }

  static kernel::partition_pieces pieces(kernel::partition_pieces::piece one) {
    kernel::partition_pieces k{};
    k.count = 1;
    k.pieces[0] = one;
    return k;
  }
  static void start(const kernel::partition_pieces& k) {
    launch(k, 1, [](auto w, auto& p) { kernel::partitions_start_body(w, p); });
  }
  static void wait(const kernel::partition_pieces& k) {
    launch(k, 1, [](auto w, auto& p) { kernel::partitions_wait_body(w, p); });
  }

  void send(std::uint64_t n, bool twice) {
    const auto k = pieces({&sender_, nullptr, own_marks_, partitions, near, &sent_});
    ready(0);  // not started: nothing happens
    for (std::size_t at = 0; at < partitions * bytes; ++at) out_[at] = byte_of(n, at);
    start(k);
    for (std::size_t i = partitions; i-- > 0;) {
      ready(i);
      if (!twice) continue;
      for (std::size_t at = i * bytes; at < (i + 1) * bytes; ++at) out_[at] = 0xff;
      ready(i);  // again: nothing happens
    }
    wait(k);
  }

  void ready(std::size_t i) {
    const kernel::partition_ready k{&sender_,   out_ + i * bytes, in_ + i * bytes, bytes,
                                    marks_ + i, own_marks_ + i,   arrivals_ + i,   near};
    launch(k, blocks, [](auto w, auto& p) { kernel::partition_ready_body(w, p); });
  }

  void receive(std::uint64_t n) {
    const auto k = pieces({&receiver_, &sender_.opened, marks_, partitions, near, &taken_});
    start(k);
    wait(k);
    std::size_t wrong = 0;
    for (std::size_t at = 0; at < partitions * bytes; ++at) wrong += in_[at] != byte_of(n, at);
    CHECK_EQ(wrong, 0u);
  }

  std::uint8_t out_[partitions * bytes]{}, in_[partitions * bytes]{};
  telpher_device_partitions sender_{}, receiver_{};
  std::uint64_t own_marks_[partitions]{}, marks_[partitions]{};
  std::uint32_t arrivals_[partitions]{};
  std::uint64_t sent_ = 0, taken_ = 0;
};

}  // namespace

void test_partitions(bool twice) {
  one_pair().run(6, twice);
  one_pair::wait_in_vain();
}
