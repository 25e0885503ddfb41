// SPDX-License-Identifier: BSD-3-Clause
// matched_put and matched_take with several blocks and threads: a sender and a receiver, each a
// thread that launches one kernel after the other, as their streams do.
#define CHECK_NO_MAIN
#include "block_of_threads.hpp"
#include "check.hpp"
#include "kernel/bodies.hpp"

namespace kernel = telpher::kernel;

namespace {

using bytes = std::vector<std::uint8_t>;

constexpr unsigned items = 4;
constexpr std::size_t stride = 140000;
constexpr std::size_t sizes[] = {131101, 4001, 5};  // one that is not packed, and two that are

std::uint8_t byte_of(unsigned pair, std::uint32_t message, std::size_t at) {
  return static_cast<std::uint8_t>(pair * 91 + message * 37 + at * 7 + at / 256);
}

/// Pairs of one sender and one receiver, of different sizes. `opens`: the receives of large ones
/// open their buffers when they start, every second time before the send looks.
class pairs {
 public:
  pairs(unsigned blocks, std::uint32_t first, bool opens = false) : blocks_(blocks), opens_(opens) {
    for (unsigned i = 0; i < count; ++i) {
      out_[i].resize(size(i));
      in_[i].resize(size(i));
      inbox_[i].resize(kernel::matched_pieces::slots * stride, 0x5a);  // marks are odd
      for (kernel::matched_words* end : {&sender_[i], &receiver_[i]})
        end->peers = end->own = end->opened = first;
    }
    first_ = first;
  }

  void run(std::uint32_t messages) {
    std::thread sends([&] {
      for (std::uint32_t n = 0; n < messages; ++n) send(n);
    });
    for (std::uint32_t n = 0; n < messages; ++n) receive(n);
    sends.join();
    for (unsigned i = 0; i < count; ++i) {
      CHECK_EQ(sender_[i].own, first_ + messages);
      CHECK_EQ(sender_[i].peers, first_ + messages - 1);  // as the last take found it
      CHECK_EQ(receiver_[i].own, first_ + messages);
      const bool packed = size(i) <= kernel::matched_pieces::packed_limit;
      CHECK_EQ(receiver_[i].peers, packed ? first_ : first_ + messages);
      CHECK_EQ(sent_[i], first_ + messages);
      CHECK_EQ(taken_[i], first_ + messages);
      CHECK_EQ(sender_[i].arrivals + receiver_[i].arrivals, 0u);
    }
  }

 private:
  static constexpr unsigned count = 3, large = 0;
  static std::size_t size(unsigned i) { return sizes[i]; }

  kernel::matched_pieces pieces(bool sends) {
    kernel::matched_pieces k{};
    k.count = count;
    for (unsigned i = 0; i < count; ++i) {
      k.first_block[i + 1] = static_cast<std::uint16_t>(k.first_block[i] + (i < 2 ? blocks_ : 1));
      if (sends)
        k.pieces[i] = {&sender_[i],    &receiver_[i],
                       out_[i].data(), inbox_[i].data(),
                       stride,         out_[i].size(),
                       &sent_[i],      opens_ && i == large ? in_[i].data() : nullptr};
      else
        k.pieces[i] = {&receiver_[i], &sender_[i],   in_[i].data(), inbox_[i].data(),
                       stride,        in_[i].size(), &taken_[i],    nullptr};
    }
    return k;
  }

  template <class Body>
  void launch(const kernel::matched_pieces& k, Body body) {
    block_of_threads::run([&](block_of_threads::work w) { body(w, k); }, k.first_block[count],
                          items);
  }

  void open() {
    kernel::matched_pieces k{};
    k.count = 1;
    k.first_block[1] = 1;
    k.pieces[0].end = &receiver_[large];
    k.pieces[0].peer = &sender_[large];
    block_of_threads::run([&](block_of_threads::work w) { kernel::matched_put_body(w, k); }, 1,
                          items);
  }
  void await_open(std::uint32_t n) {
    while (__atomic_load_n(&sender_[large].opened, __ATOMIC_ACQUIRE) != first_ + n + 1)
      std::this_thread::yield();
  }

  void send(std::uint32_t n) {
    for (unsigned i = 0; i < count; ++i)
      for (std::size_t at = 0; at < out_[i].size(); ++at) out_[i][at] = byte_of(i, n, at);
    const bool late = opens_ && n % 2 == 1;
    if (late) await_open(n);
    launch(pieces(true), [](auto w, auto& k) { kernel::matched_put_body(w, k); });
    CHECK(!late || (sender_[large].decided & 1));
    if (!opens_) CHECK_EQ(sender_[large].decided, 0u);
  }

  void receive(std::uint32_t n) {
    if (opens_) open();
    launch(pieces(false), [](auto w, auto& k) { kernel::matched_take_body(w, k); });
    std::size_t wrong = 0;
    for (unsigned i = 0; i < count; ++i)
      for (std::size_t at = 0; at < in_[i].size(); ++at) wrong += in_[i][at] != byte_of(i, n, at);
    CHECK_EQ(wrong, 0u);
  }

  unsigned blocks_;
  bool opens_;
  std::uint32_t first_;
  bytes out_[count], in_[count], inbox_[count];
  kernel::matched_words sender_[count]{}, receiver_[count]{};
  std::uint64_t sent_[count]{}, taken_[count]{};
};

}  // namespace

void test_matched_put() {
  pairs(1, 0).run(6);
  pairs(3, 0).run(6);
  pairs(1, 0, true).run(8);
  pairs(3, 0, true).run(8);
}

// The counts pass 2^32.
void test_matched_take() {
  pairs(3, 0xfffffffd).run(6);
  pairs(3, 0xfffffffd, true).run(8);
}
