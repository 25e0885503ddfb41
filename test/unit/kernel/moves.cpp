// SPDX-License-Identifier: BSD-3-Clause
// Every kernel of kernel.def with several threads per block (block_of_threads.hpp), against one
// work item per block, as the emulated device runs it. Kernels that move bytes and the codecs'
// kernels are here, exchange is in exchange.cpp, the inboxes' in inbox.cpp, matched_put and
// matched_take in matched.cpp, those of partitioned requests in partitions.cpp, those that pack in
// packing.cpp. A kernel without a
// case does not compile.
#define CHECK_NO_MAIN
#include <atomic>
#include <random>
#include <thread>

#include "block_of_threads.hpp"
#include "check.hpp"
#include "kernel/bodies.hpp"
#include "trial.hpp"

void test_exchange();
void test_inbox_put();
void test_inbox_put_all();
void test_inbox_take();
void test_inbox_take_all();
void test_matched_put();
void test_matched_take();
void test_partitions(bool twice);
void test_pack_blocks();
void test_unpack_blocks();
void test_unpack_all();
void test_swap_bytes();

namespace {

void test_partition_ready() {
  test_partitions(true);
}
void test_partitions_start() {
  test_partitions(false);
}
void test_partitions_wait() {
  test_partitions(false);
}

struct add_word_trial {
  static constexpr unsigned variants = 2;
  explicit add_word_trial(unsigned variant) : word(variant) {}
  unsigned blocks() const { return 1; }
  std::uint64_t result() const { return word; }
  std::uint64_t word;
  kernel::add_word parameters{&word, 5};
};
void test_add_word() {
  same_as_one_item<add_word_trial>(id::add_word, "add_word",
                                   [](auto w, auto& p) { kernel::add_word_body(w, p); });
}

/// In each replay it says that it is there, and ends when it is told to.
void test_graph_hold() {
  std::uint32_t reached = 0, over = 0;
  for (int replay = 0; replay < 3; ++replay) {
    std::atomic<bool> ended{false};
    std::thread stream([&] {
      const kernel::graph_hold k{&reached, &over};
      block_of_threads::run([&](block_of_threads::work w) { kernel::graph_hold_body(w, k); }, 1, 4);
      ended = true;
    });
    while (std::atomic_ref(reached).load(std::memory_order_acquire) == 0) std::this_thread::yield();
    CHECK(!ended);
    std::atomic_ref(reached).store(0, std::memory_order_relaxed);
    std::atomic_ref(over).store(1, std::memory_order_release);
    stream.join();
    CHECK_EQ(over, 0u);
  }
}

// --- kernels that move ---

struct copy_batch_trial {
  static constexpr unsigned variants = 3;
  bytes from = noise(1 << 14, 1), to = bytes(1 << 14);
  std::vector<std::uint32_t> done = std::vector<std::uint32_t>(8), arrivals = done;
  kernel::copy_batch parameters{};
  unsigned dealt = 0;

  explicit copy_batch_trial(unsigned variant) {
    const std::size_t sizes[] = {0, 1, 77, 4096, 5000};
    std::size_t at = 0;
    for (const std::size_t size : sizes) {
      parameters.pieces[parameters.count++] = {to.data() + at + variant, from.data() + at, size};
      at += size + 16;
    }
    parameters.done_value = 9;
    parameters.done = variant == 0 ? nullptr : done.data();
    parameters.arrivals = arrivals.data();
    dealt = static_cast<unsigned>(kernel::deal_blocks(parameters, 9, 512));
  }
  unsigned blocks() const { return dealt; }
  bytes result() const {
    bytes all = to;
    for (const auto& words : {done, arrivals}) {
      const bytes more = bytes_of(words);
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }
};

/// A host that reads each piece as soon as its word says that it has arrived.
void read_pieces_as_they_come() {
  copy_batch_trial t(1);
  const kernel::copy_batch& p = t.parameters;
  std::thread device([&] {
    block_of_threads::run([&](block_of_threads::work w) { kernel::copy_batch_body(w, p); },
                          t.blocks(), 6);
  });
  for (int i = 0; i < p.count; ++i) {
    while (kernel::load_acquire_system(p.done + i) != p.done_value) std::this_thread::yield();
    const auto& piece = p.pieces[i];
    CHECK(std::memcmp(piece.to, piece.from, piece.bytes) == 0);
  }
  device.join();
}

void test_copy_batch() {
  read_pieces_as_they_come();
  same_as_one_item<copy_batch_trial>(id::copy_batch, "copy_batch",
                                     [](auto w, auto& p) { kernel::copy_batch_body(w, p); });
}
/// The host's side of linger.hpp: commands before and after the launch; the last one says leave.
void test_linger() {
  constexpr std::uint32_t depth = 4, commands = 40, size = 301;
  const bytes from = noise(commands * size, 8);
  bytes to(from.size());
  kernel::linger_command mailbox[depth] = {};
  std::uint32_t done = 0, gone = 0;
  constexpr std::uint64_t for_ever = ~std::uint64_t{0} >> 1;
  const kernel::linger p{mailbox, &done, &gone, 1, depth, for_ever, for_ever};
  const auto command = [&](std::uint32_t s) {
    const std::size_t at = (s - 1) * size;
    kernel::write_command(mailbox, depth, s, to.data() + at, from.data() + at, size,
                          (s == commands ? kernel::linger_command::leave : 0) |
                              (s % 2 == 0 ? kernel::linger_command::near : 0));
  };
  command(1);
  command(2);
  std::thread device([&] {
    block_of_threads::run([&](block_of_threads::work w) { kernel::linger_body(w, p); }, 1, 6);
  });
  for (std::uint32_t s = 3; s <= commands; ++s) {
    while (kernel::load_acquire_system(&done) + depth < s) std::this_thread::yield();
    command(s);
  }
  while (kernel::load_acquire_system(&gone) == 0) std::this_thread::yield();
  CHECK_EQ(gone, commands + 1);
  CHECK(to == from);
  device.join();
}

// --- codecs ---

template <class S, int dims, bool encode>
struct zfp_trial {
  static constexpr unsigned variants = 2;  // full tiles, and a partial one
  std::vector<S> values;
  std::vector<std::uint32_t> stream;
  std::uint32_t worst = 0;
  kernel::zfp_blocks<dims> parameters{};

  explicit zfp_trial(unsigned variant) {
    const std::uint64_t shapes[2][3][3] = {{{1100, 1, 1}, {75, 21, 1}, {17, 18, 19}},
                                           {{510, 1, 1}, {30, 31, 1}, {7, 9, 11}}};
    kernel::zfp_array& a = parameters;
    std::uint64_t count = 1;
    a.blocks = 1;
    for (int d = 0; d < 3; ++d) {
      a.extent[d] = shapes[variant][dims - 1][d];
      count *= a.extent[d];
      a.blocks *= (a.extent[d] + 3) / 4;
    }
    a.block_bits = dims == 1 ? 37 : 100 + variant;  // blocks that share words with their neighbours
    for (std::uint64_t i = 0; i < count; ++i)
      values.push_back(static_cast<S>((static_cast<double>(i * i % 977) - 400.0) / 7.0));
    stream.resize(kernel::zfp_array::stream_words(a.blocks, a.block_bits));
    a.values = values.data();
    a.stream = stream.data();
    a.worst = &worst;
    if (encode) return;
    const bytes code = noise(stream.size() * 4, 3);  // any bits are a valid stream
    std::memcpy(stream.data(), code.data(), code.size());
    std::fill(values.begin(), values.end(), S{1});
  }
  unsigned blocks() const { return 2; }
  bytes result() const {
    bytes all = encode ? bytes_of(stream) : bytes_of(values);
    all.push_back(static_cast<std::uint8_t>(worst));
    all.push_back(static_cast<std::uint8_t>(worst >> 8));
    return all;
  }
};

#define TELPHER_ZFP(name, type, dims)                                     \
  void test_zfp_encode_##name() {                                         \
    same_as_one_item<zfp_trial<type, dims, true>>(                        \
        id::zfp_encode_##name, "zfp_encode_" #name,                       \
        [](auto w, auto& p) { kernel::zfp_encode_##name##_body(w, p); }); \
  }                                                                       \
  void test_zfp_decode_##name() {                                         \
    same_as_one_item<zfp_trial<type, dims, false>>(                       \
        id::zfp_decode_##name, "zfp_decode_" #name,                       \
        [](auto w, auto& p) { kernel::zfp_decode_##name##_body(w, p); }); \
  }
#include "kernel/zfp.def"
#undef TELPHER_ZFP

/// The memory of all five MPC kernels, and the results of the steps before kernel `at`.
template <class U>
struct mpc_memory {
  static constexpr unsigned variants = 2;
  static constexpr unsigned chunks = 5;
  std::vector<U> values;
  std::vector<std::uint32_t> scratch =
      std::vector<std::uint32_t>(chunks * kernel::mpc_stream::slot_words + 1);
  std::vector<std::uint32_t> offsets = std::vector<std::uint32_t>(chunks + 1);
  std::vector<std::uint64_t> payload = std::vector<std::uint64_t>(scratch.size() / 2 + 1);
  kernel::mpc_place parameters{};

  mpc_memory(unsigned variant, id at) {
    constexpr std::size_t words = chunks * kernel::mpc_stream::chunk_bytes / sizeof(U) - 17;
    for (std::size_t i = 0; i < words; ++i)
      values.push_back(static_cast<U>(i % 3 == 2 ? i * i * 2654435761u : i * 5 / 2));
    kernel::mpc_stream& s = parameters;
    s = {values.data(),
         words,
         chunks,
         payload.size() * 2,
         variant == 0 ? 1u : 3u,
         scratch.data(),
         offsets.data(),
         reinterpret_cast<std::uint32_t*>(payload.data())};
    constexpr bool wide = sizeof(U) == 8;
    for (const id step : {wide ? id::mpc_encode_64 : id::mpc_encode_32, id::mpc_place,
                          id::mpc_gather, wide ? id::mpc_decode_64 : id::mpc_decode_32}) {
      if (step == at) break;
      kernel::cpu_kernel_of(step).run_block(&parameters, 0, 1);
    }
    if (at == id::mpc_decode_32 || at == id::mpc_decode_64)
      std::fill(values.begin(), values.end(), U{1});
  }
  unsigned blocks() const { return 3; }
  bytes result() const {
    bytes all = bytes_of(values);
    for (const bytes& more : {bytes_of(offsets), bytes_of(payload), bytes_of(scratch)})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

template <class U, id k>
struct mpc_trial : mpc_memory<U> {
  explicit mpc_trial(unsigned variant) : mpc_memory<U>(variant, k) {}
};

#define TEST_MPC(name, word)                                                  \
  void test_##name() {                                                        \
    same_as_one_item<mpc_trial<word, id::name>>(                              \
        id::name, #name, [](auto w, auto& p) { kernel::name##_body(w, p); }); \
  }
TEST_MPC(mpc_encode_32, std::uint32_t)
TEST_MPC(mpc_encode_64, std::uint64_t)
TEST_MPC(mpc_place, std::uint32_t)
TEST_MPC(mpc_gather, std::uint32_t)
TEST_MPC(mpc_decode_32, std::uint32_t)
TEST_MPC(mpc_decode_64, std::uint64_t)

}  // namespace

#define TELPHER_KERNEL(name) \
  TEST_CASE(name) {          \
    test_##name();           \
  }
#include "kernel/kernel.def"
#undef TELPHER_KERNEL

/// `--sites CASE...` prints the barriers that were executed; `--omit SITE CASE...` disables one.
int main(int argc, char** argv) {
  const bool list = argc > 1 && std::strcmp(argv[1], "--sites") == 0;
  const bool omit = argc > 2 && std::strcmp(argv[1], "--omit") == 0;
  if (omit) block_of_threads::omitted() = argv[2];
  const int skip = list ? 1 : omit ? 2 : 0;
  const int code = check::run_all(argc - skip, argv + skip);
  if (list)
    for (const std::string& name : block_of_threads::sites::names())
      std::printf("site %s\n", name.c_str());
  return code;
}
