// SPDX-License-Identifier: BSD-3-Clause
// Contract: the lingering copier, driven by the protocol in kernel/linger.hpp.
#define CHECK_NO_MAIN
#include "kernel/linger.hpp"

#include "contract.hpp"

namespace contract {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

/// The host's side of the protocol.
class copier {
 public:
  /// `mailbox`: memory to use in place of pinned host memory; command() must not be used then.
  copier(std::uint32_t first, std::uint64_t patience_ns, std::uint64_t stay_ns = 20 * second_ns,
         kernel::linger_command* mailbox = nullptr) {
    std::memset(control_.data(), 0, 4096);
    parameters_ = {mailbox ? mailbox : control_.as<kernel::linger_command>(),
                   word(0),
                   word(1),
                   first,
                   depth,
                   patience_ns,
                   stay_ns};
  }
  ~copier() { CHECK_OK(subject().synchronise(stream_)); }

  void launch(std::uint32_t first) {
    parameters_.first_sequence = first;
    __atomic_store_n(word(1), 0, __ATOMIC_RELEASE);
    CHECK_OK(subject().launch(kernel::id::linger, &parameters_, 1, 256, stream_));
    ++launches;
  }

  /// Every second one says that `to` is near; then it must be device memory.
  void command(std::uint32_t sequence, void* to, const void* from, std::uint32_t size,
               bool leave = false, bool near = true) {
    kernel::write_command(control_.as<kernel::linger_command>(), depth, sequence, to, from, size,
                          (leave ? kernel::linger_command::leave : 0) |
                              (near && sequence % 2 == 0 ? kernel::linger_command::near : 0));
  }

  /// Waits until `sequence` is done; launches again whenever the copier has left before it.
  bool wait(std::uint32_t sequence) {
    return eventually([&] {
      if (done() == sequence) return true;
      if (const std::uint32_t first_left = gone(); first_left != 0 && done() != sequence)
        launch(first_left);
      return false;
    });
  }
  bool has_left() {
    return eventually([&] { return gone() != 0; });
  }

  std::uint32_t done() { return kernel::load_acquire_system(word(0)); }
  std::uint32_t gone() { return kernel::load_acquire_system(word(1)); }
  device::stream stream() const { return stream_; }
  int launches = 0;
  static constexpr std::uint32_t depth = 8;

 private:
  std::uint32_t* word(std::size_t i) { return control_.as<std::uint32_t>() + 512 + i * 16; }

  scoped_stream stream_;
  memory control_{memory_kind::pinned, 4096};
  kernel::linger parameters_;
};

// SYCL has no kernels that wait for the host.
bool back_end_lingers() {
  return subject().owner() != device::vendor::sycl;
}

TEST_CASE(linger_serves_a_burst_and_leaves_when_told) {
  if (!back_end_lingers()) return;
  constexpr std::size_t size = 70000;
  const scoped_stream s;
  const memory from(memory_kind::device, size), to(memory_kind::device, size);
  write(from.data(), pattern(size, 1), s);
  write(to.data(), bytes(size, 0), s);
  bytes expected(size, 0);
  copier c(1, second_ns);
  c.launch(1);
  constexpr std::uint32_t burst = 300;
  for (std::uint32_t i = 1; i <= burst; ++i) {
    const std::size_t length = random_below(i % 50 == 0 ? 60000 : 300);
    const std::size_t a = random_below(size - length), b = random_below(size - length);
    c.command(i, to.data() + b, from.data() + a, static_cast<std::uint32_t>(length), i == burst);
    std::memcpy(expected.data() + b, pattern(size, 1).data() + a, length);
    REQUIRE(c.wait(i));
  }
  CHECK(c.has_left());
  CHECK_EQ(c.gone(), burst + 1);
  CHECK_EQ(c.launches, 1);
  CHECK(read(to.data(), size, s) == expected);
}

TEST_CASE(linger_leaves_when_patience_ends) {
  if (!back_end_lingers()) return;
  copier c(5, 100'000);
  const auto start = std::chrono::steady_clock::now();
  c.launch(5);
  CHECK(c.has_left());
  CHECK_EQ(c.gone(), 5);
  CHECK_EQ(c.done(), 0);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}

TEST_CASE(linger_takes_commands_queued_ahead) {
  if (!back_end_lingers()) return;
  const scoped_stream s;
  const memory from(memory_kind::device, 4096), to(memory_kind::device, 4096);
  write(from.data(), pattern(4096, 6), s);
  copier c(1, second_ns);
  for (std::uint32_t i = 1; i <= 8; ++i)
    c.command(i, to.data() + (i - 1) * 512, from.data() + (i - 1) * 512, 512, i == 8);
  c.launch(1);
  REQUIRE(c.wait(8));
  CHECK(read(to.data(), 4096, s) == pattern(4096, 6));
}

// Work that waits behind the copier on the device can run, however long a burst lasts.
TEST_CASE(linger_leaves_in_time_while_commands_come) {
  if (!back_end_lingers()) return;
  const scoped_stream s;
  const memory m(memory_kind::device, 128);
  write(m.data(), pattern(128, 4), s);
  copier c(1, second_ns, second_ns / 1000);
  c.launch(1);
  std::uint32_t next = 1;
  const bool left = eventually([&] {
    if (c.gone() != 0) return true;
    if (c.done() + 1 == next) c.command(next++, m.data(), m.data() + 64, 64);
    return false;
  });
  CHECK(left);
  CHECK(c.gone() == next || c.gone() + 1 == next);
  c.command(next, m.data(), m.data() + 64, 0, true);
  REQUIRE(c.wait(next));
  CHECK(c.launches <= 3);
}

// Memory of allocate_flags: a kernel that polls it sees what another device, or this device's copy
// engine, writes to it.
TEST_CASE(a_kernel_sees_what_is_written_to_flags_while_it_polls) {
  if (!back_end_lingers()) return;
#ifdef __SANITIZE_THREAD__
  return;  // the emulated copy engine is a thread that copies with memmove, as no device does
#endif
  for (const int writer : {0, second_device()}) {
    const scoped_stream s, other(writer);
    constexpr std::size_t size = copier::depth * sizeof(kernel::linger_command);
    auto flags = subject().allocate_flags(0, size);
    REQUIRE(flags.has_value());
    auto* const mailbox = static_cast<kernel::linger_command*>(*flags);
    CHECK_OK(subject().fill(mailbox, 0, size, s));
    CHECK_OK(subject().synchronise(s));
    const memory commands(memory_kind::pinned, size), to(memory_kind::pinned, 64),
        from(memory_kind::device, 64);
    auto* const prepared = commands.as<kernel::linger_command>();
    {
      copier c(1, 5 * second_ns, 20 * second_ns, mailbox);
      c.launch(1);
      for (std::uint32_t i = 1; i <= 50; ++i) {
        write(from.data(), pattern(64, i), s);
        kernel::write_command(prepared, copier::depth, i, to.data(), from.data(), 64,
                              i == 50 ? kernel::linger_command::leave : 0);
        const std::size_t at = i % copier::depth;
        CHECK_OK(subject().copy(mailbox + at, prepared + at, sizeof *mailbox, other));
        REQUIRE(eventually([&] { return c.done() == i || c.gone() != 0; }));
        REQUIRE(c.done() == i);
        REQUIRE(std::memcmp(to.data(), pattern(64, i).data(), 64) == 0);
      }
    }
    CHECK_OK(subject().release(0, mailbox));
  }
}

// Commands come at about the time when patience ends, so the copier often leaves while one is
// written.
TEST_CASE(linger_and_its_leaving_race) {
  if (!back_end_lingers()) return;
  const scoped_stream s;
  const memory from(memory_kind::device, 64), to(memory_kind::pinned, 64);
  copier c(1, 20'000);
  c.launch(1);
  for (std::uint32_t i = 1; i <= 400; ++i) {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::microseconds(random_below(60));
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    write(from.data(), pattern(64, i), s);
    c.command(i, to.data(), from.data(), 64, false, false);
    REQUIRE(c.wait(i));
    REQUIRE(std::memcmp(to.data(), pattern(64, i).data(), 64) == 0);
  }
  CHECK(c.launches > 1);
  CHECK(c.has_left());
}

TEST_CASE(linger_numbers_wrap_past_zero) {
  if (!back_end_lingers()) return;
  const scoped_stream s;
  const memory to(memory_kind::device, 64), from(memory_kind::device, 64);
  std::uint32_t number = 0xfffffffdu;
  copier c(number, second_ns);
  c.launch(number);
  for (unsigned i = 0; i < 6; ++i, number = kernel::next_sequence(number)) {
    c.command(number, to.data(), from.data(), 64, i == 5);
    REQUIRE(c.wait(number));
  }
  CHECK(c.has_left());
  CHECK_EQ(c.gone(), 4);
}

TEST_CASE(a_second_stream_works_while_one_lingers) {
  if (!back_end_lingers()) return;
  const scoped_stream s;
  const memory m(memory_kind::device, 1000);
  copier c(1, second_ns);
  c.launch(1);
  write(m.data(), pattern(1000, 2), s);
  CHECK(read(m.data(), 1000, s) == pattern(1000, 2));
  CHECK_EQ(c.gone(), 0);
  c.command(1, m.data(), m.data() + 500, 0, true);
  REQUIRE(c.wait(1));
}

TEST_CASE(what_cannot_linger_says_so) {
  if (back_end_lingers()) return;
  const scoped_stream s;
  const kernel::linger p{};
  CHECK_EQ(error_of(subject().launch(kernel::id::linger, &p, 1, 32, s)), status::not_supported);
}

}  // namespace
}  // namespace contract
