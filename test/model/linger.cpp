// SPDX-License-Identifier: BSD-3-Clause
// The lingering copier's mailbox (kernel/linger.hpp): a host that gives commands and launches again
// when the copier has gone, and the kernel body itself, whose patience may end at any look.
#define CHECK_NO_MAIN
#include "kernel/linger.hpp"

#include <atomic>
#include <memory>

#include "scenario.hpp"

using model::expect;
namespace kernel = telpher::kernel;

namespace {

constexpr std::uint32_t places = 3;

struct node {
  kernel::linger_command mailbox[places] = {};
  alignas(8) std::uint32_t done = 0;
  alignas(8) std::uint32_t gone = 0;
  std::atomic<std::uint32_t> launches{0};  // of a stream: one after the other
  std::atomic<std::uint32_t> first_of_launch{0};
  std::atomic<bool> over{false};
  std::uint32_t from[4] = {}, to[4] = {};
};

struct plan {
  std::uint32_t commands = 2;
  std::uint32_t depth = 2;
  std::uint32_t ahead = 1;   // so many commands are given before the oldest is done
  bool leaves = true;        // the last command says so
  bool early_done = false;   // defect: the host takes a command for done when it was written
  bool only_newest = false;  // defect: it launches for the command that it gives, not from `gone`
};

// As path/linger.cpp: it launches where it gives a command, and where it waits for one.
class giver {
 public:
  giver(node& n, const plan& p) : n_(n), p_(p) {}

  void submit(std::uint32_t s) {
    n_.from[s] = 100 + s;
    kernel::write_command(n_.mailbox, p_.depth, s, &n_.to[s], &n_.from[s], 4,
                          p_.leaves && s == p_.commands ? kernel::linger_command::leave : 0);
    const std::uint32_t gone = launched_ ? kernel::load_acquire_system(&n_.gone) : s;
    if (gone != 0 && gone <= s) launch(p_.only_newest ? s : gone);
  }
  void wait(std::uint32_t s) {
    while (!p_.early_done && kernel::load_acquire_system(&n_.done) < s) {
      const std::uint32_t gone = kernel::load_acquire_system(&n_.gone);
      if (gone > s) break;
      gone ? launch(gone) : model::yield();
    }
    expect(n_.to[s] == 100 + s, "the bytes of a command that is done");
    n_.from[s] = 0;  // the program's own again
  }

 private:
  void launch(std::uint32_t first) {
    __atomic_store_n(&n_.gone, 0, __ATOMIC_RELEASE);
    n_.first_of_launch.store(first, std::memory_order_relaxed);
    n_.launches.store(++launched_, std::memory_order_release);
  }

  node& n_;
  const plan& p_;
  std::uint32_t launched_ = 0;
};

void host(node& n, const plan& p) {
  giver g(n, p);
  for (std::uint32_t s = 1; s < p.commands + p.ahead; ++s) {
    if (s <= p.commands) g.submit(s);
    if (s >= p.ahead) g.wait(s - p.ahead + 1);
  }
  while (kernel::load_acquire_system(&n.gone) == 0) model::yield();
  n.over.store(true, std::memory_order_release);
}

void device(node& n, const plan& plan) {
  for (std::uint32_t launched = 0;; ++launched) {
    while (n.launches.load(std::memory_order_acquire) == launched) {
      if (n.over.load(std::memory_order_acquire)) return;
      model::yield();
    }
    const kernel::linger p{
        n.mailbox,  &n.done, &n.gone,          n.first_of_launch.load(std::memory_order_relaxed),
        plan.depth, 1000,    ~std::uint64_t{0}};
    kernel::linger_body(kernel::work(0, 1), p);
  }
}

void make(model::world& w, const plan& p) {
  auto n = std::make_shared<node>();
  w.name(n->mailbox, "mailbox", sizeof n->mailbox);
  w.name(&n->done, "done", 4);
  w.name(&n->gone, "gone", 4);
  w.name(n->to, "target", sizeof n->to);
  w.name(n->from, "source", sizeof n->from);
  w.thread([n, p] { host(*n, p); });
  w.thread([n, p] { device(*n, p); });
}

}  // namespace

TEST_CASE(a_lingering_copier_and_its_host) {
  model::holds("two commands", {.deviations = 3}, [](model::world& w) { make(w, {}); });
  model::holds("three commands in two places", {.deviations = 2},
               [](model::world& w) { make(w, {.commands = 3}); });
  model::holds("a copier that loses patience", {.deviations = 2},
               [](model::world& w) { make(w, {.leaves = false}); });
  model::holds("two commands at once", {.deviations = 3},
               [](model::world& w) { make(w, {.depth = 3, .ahead = 2}); });
  model::holds("three commands, two at once", {.deviations = 2}, [](model::world& w) {
    make(w, {.commands = 3, .depth = 3, .ahead = 2, .leaves = false});
  });
}

TEST_CASE(defects_of_the_mailbox_are_found) {
  using enum model::mutation;
  const auto two = [](model::world& w) { make(w, {.commands = 3}); };
  model::finds_all("linger", {.deviations = 3}, two,
                   {{"mailbox", store_relaxed},
                    {"mailbox", load_relaxed},
                    {"done", store_relaxed},
                    {"done", load_relaxed}});
  model::finds("a host that does not wait", {.deviations = 3},
               [](model::world& w) { make(w, {.early_done = true}); });
  model::finds("a host that launches for its newest command", {.deviations = 3},
               [](model::world& w) {
                 make(w, {.commands = 3, .depth = 3, .ahead = 2, .only_newest = true});
               });
}
