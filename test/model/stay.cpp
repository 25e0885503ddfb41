// SPDX-License-Identifier: BSD-3-Clause
// The mailbox of an exchange kernel that stays (kernel/exchange_stay.hpp): a host that gives calls
// and launches what was not taken, one or two blocks, which run the kernel body itself. A command
// has 64 words: up to a few deviations only.
#define CHECK_NO_MAIN
#include <memory>

#include "kernel/exchange.hpp"
#include "scenario.hpp"

using model::expect;
namespace kernel = telpher::kernel;

namespace {

constexpr std::uint64_t unit = 64;

struct node {
  kernel::exchange_command mailbox{}, relay{};
  alignas(8) std::uint64_t done[2] = {};
  alignas(8) std::uint64_t gone = 0;
  alignas(8) std::uint32_t arrivals = 0, stop = 0;
  std::uint8_t from[2 * unit] = {}, to[2 * unit] = {};  // a unit for each block
  kernel::exchange parameters{};
};

struct plan {
  unsigned blocks = 1;
  std::uint32_t calls = 1;  // after the launch's own
  bool told = true;         // to leave; else it loses patience
};

void program(node& n, std::uint64_t* code) {
  code[0] = static_cast<std::uint64_t>(kernel::exchange_op::copy) | 1 << 8;
  code[1] = sizeof n.from;
  code[2] = reinterpret_cast<std::uintptr_t>(n.to);
  code[3] = reinterpret_cast<std::uintptr_t>(n.from);
}

constexpr std::uint64_t first_command = 5;

bool has_gone(node& n) {
  return kernel::load_acquire_system(&n.gone) == first_command;
}

/// False if the kernel has gone without doing the call.
bool await(node& n, unsigned blocks, std::uint32_t call) {
  for (unsigned b = 0; b < blocks; ++b)
    while (kernel::load_acquire_system(&n.done[b]) != kernel::exchange::ended(call, false)) {
      if (has_gone(n) &&
          kernel::load_acquire_system(&n.done[b]) != kernel::exchange::ended(call, false))
        return false;
      model::yield();
    }
  return true;
}

void host(node& n, const plan& p) {
  bool there = await(n, p.blocks, 1);
  expect(there, "the launch's own call is done");
  std::uint64_t number = first_command;
  for (std::uint32_t call = 2; there && call < 2 + p.calls; ++call) {
    expect(n.to[0] == call - 1, "the bytes of a call that is done");
    n.from[0] = n.from[unit] = static_cast<std::uint8_t>(call);
    std::uint64_t words[kernel::exchange_command::heading + 4] = {
        4, std::uint64_t{p.blocks} << 32 | call, 0};
    program(n, words + kernel::exchange_command::heading);
    kernel::write_command(n.mailbox, number++, words, kernel::exchange_command::heading + 4);
    there = await(n, p.blocks, call);
    if (there) {
      expect(n.to[0] == call && n.to[unit * (p.blocks - 1)] == call, "the bytes of a later call");
    } else {
      expect(!p.told || call > 1, "gone");
      n.from[0] = n.to[0] = 0;  // the host's own again: nobody takes the command now
    }
  }
  if (there && p.told) {
    const std::uint64_t words[kernel::exchange_command::heading] = {};
    kernel::write_command(n.mailbox, number, words, kernel::exchange_command::heading);
  }
  while (!has_gone(n)) model::yield();
  expect(__atomic_load_n(&n.arrivals, __ATOMIC_RELAXED) == 0, "arrivals are 0 again");
}

void make(model::world& w, const plan& p) {
  auto n = std::make_shared<node>();
  kernel::exchange& k = n->parameters;
  k.code_words = 4;
  program(*n, k.code);
  k.done_value = 1;
  k.done = n->done;
  k.stop = &n->stop;
  k.arrivals = &n->arrivals;
  k.relay = &n->relay;
  k.next = &n->mailbox;
  k.gone = &n->gone;
  k.first_command = first_command;
  k.stay_ns = p.told ? ~std::uint64_t{0} : 1000;
  n->from[0] = n->from[unit] = 1;
  w.name(&n->mailbox, "mailbox", sizeof n->mailbox);
  w.name(&n->relay, "relay", sizeof n->relay);
  w.name(n->done, "done", sizeof n->done);
  w.name(&n->gone, "gone");
  w.name(&n->arrivals, "arrivals", 4);
  w.name(n->from, "source", sizeof n->from);
  w.name(n->to, "target", sizeof n->to);
  w.thread([n, p] { host(*n, p); });
  for (unsigned b = 0; b < p.blocks; ++b)
    w.thread([n, p, b] { kernel::exchange_body(kernel::work(b, p.blocks), n->parameters); });
}

}  // namespace

TEST_CASE(a_kernel_that_stays_and_its_host) {
  model::holds("one block", {.deviations = 1}, [](model::world& w) { make(w, {.calls = 2}); });
  model::holds("two blocks", {.deviations = 0}, [](model::world& w) { make(w, {.blocks = 2}); });
  model::holds("one block that loses patience", {.deviations = 1},
               [](model::world& w) { make(w, {.told = false}); });
}

TEST_CASE(defects_of_the_staying_kernel_are_found) {
  using enum model::mutation;
  const auto one = [](model::world& w) { make(w, {.calls = 2}); };
  const auto two = [](model::world& w) { make(w, {.blocks = 2}); };
  model::finds_all(
      "stay", {.deviations = 1}, one,
      {{"mailbox", store_relaxed}, {"mailbox", load_relaxed}, {"done", store_relaxed}});
  model::finds_all("stay", {.deviations = 1}, two,
                   {{"relay", store_relaxed}, {"relay", load_relaxed}});
}
