// SPDX-License-Identifier: BSD-3-Clause
// The slot protocol in every interleaving: a sender and a receiver that do what path/slot.hpp says
// each may, failures included; the cell is used twice, and the receiver still has the first ticket.
// Bytes are plain memory, so that whoever reads what is not yet his, or writes what still is read,
// is found as a data race.
#define CHECK_NO_MAIN
#include "path/slot.hpp"

#include <memory>

#include "scenario.hpp"

using model::choose;
using model::expect;
using telpher::path::slot;
using telpher::path::slot_state;

namespace {

constexpr std::uint32_t first_epoch = 7;
constexpr std::uint64_t blocks = 2;

/// What both share: the cell, the sender's `answers`, the messages of the host MPI, and the bytes.
struct node {
  slot cell{};
  std::atomic<std::uint64_t> answers{0};
  std::atomic<std::uint32_t> ticket{0};  // the host MPI's message: the epoch
  int payload = 0, staged = 0, ring = 0, target = 0;
  unsigned uses = 1;
};

/// What an end may do in the cell's last use; in an earlier one all goes the plainest way.
unsigned option(const node& n, std::uint32_t epoch, unsigned count) {
  return epoch + 1 < first_epoch + n.uses ? 0 : choose(count);
}

bool allowed(unsigned who, std::uint64_t before, std::uint64_t next) {
  using s = slot_state;
  const auto from = static_cast<s>(before & 0xff), to = static_cast<s>(next & 0xff);
  const bool sender = who == 0;
  if (to == s::ready) return sender && (from == s::free || from == s::done);
  if (before >> 8 != next >> 8) return false;
  switch (to) {
    case s::claimed:
      return !sender && (from == s::ready || from == s::refused);
    case s::staging:
      return sender && from == s::ready;
    case s::staged:
      return sender && from == s::staging;
    case s::getting:
    case s::pipe_asked:
    case s::put_asked:
      return !sender && from == s::claimed;
    case s::piping:
      return sender && from == s::pipe_asked;
    case s::put_done:
      return sender && from == s::put_asked;
    case s::refused:
      return sender && (from == s::staging || from == s::pipe_asked || from == s::piping ||
                        from == s::put_asked);
    case s::done:
      return !sender && from != s::ready && from != s::staging && from != s::free;
    default:
      return false;
  }
}

// --- the sender ---

/// Feeds the ring, which has room for one block; false: it failed on the way.
bool feed(node& n, std::uint32_t epoch) {
  for (std::uint64_t b = 0; b < blocks; ++b) {
    while (n.cell.consumed.load(std::memory_order_acquire) < b) model::yield();
    if (b == 1 && option(n, epoch, 2) == 1) return false;
    n.ring = n.payload + static_cast<int>(b);
    n.cell.produced.store(b + 1, std::memory_order_release);
  }
  return true;
}

/// What the sender does at a state; true when the cell is its own again.
bool answer_state(node& n, std::uint32_t epoch) {
  slot& c = n.cell;
  switch (c.state_in(epoch)) {
    case slot_state::ready:
      if (option(n, epoch, 2) == 0 || !c.take(epoch, slot_state::staging)) return false;
      if (option(n, epoch, 2) == 1) {
        c.set(epoch, slot_state::refused);
        return false;
      }
      n.staged = n.payload;
      c.where = 4096;
      c.set(epoch, slot_state::staged);
      return false;
    case slot_state::pipe_asked:
      if (option(n, epoch, 2) == 1) {
        c.set(epoch, slot_state::refused);
        return false;
      }
      c.ring_blocks = 1;
      c.produced.store(0, std::memory_order_relaxed);
      c.consumed.store(0, std::memory_order_relaxed);
      c.set(epoch, slot_state::piping);
      if (!feed(n, epoch)) c.set(epoch, slot_state::refused);
      return false;
    case slot_state::put_asked:
      if (option(n, epoch, 2) == 1) {
        c.set(epoch, slot_state::refused);
        return false;
      }
      n.target = n.payload + static_cast<int>(c.target.address);
      c.set(epoch, slot_state::put_done);
      return false;
    case slot_state::done:
      return true;
    default:
      return false;
  }
}

void send(node& n, std::uint32_t epoch, int message) {
  slot& c = n.cell;
  n.payload = message;
  c.payload.address = static_cast<std::uint64_t>(message);
  c.set(epoch, slot_state::ready);
  n.ticket.store(epoch, std::memory_order_release);
  std::uint64_t seen = 0;
  bool looked = false;
  for (;;) {
    const std::uint64_t now = n.answers.load(std::memory_order_acquire);
    const bool rung = now != seen;
    seen = now;
    // A slot that nobody answered is looked at once, for staging.
    if (rung || !looked) {
      if (answer_state(n, epoch)) break;
      looked = true;
    } else {
      model::yield();
    }
  }
  n.payload = -1;  // the program's own again
}

// --- the receiver ---

void change(node& n, std::uint32_t epoch, slot_state s) {
  n.cell.set(epoch, s);
  n.answers.fetch_add(1, std::memory_order_release);
}

slot_state await(node& n, std::uint32_t epoch, std::initializer_list<slot_state> any) {
  for (;;) {
    const slot_state now = n.cell.state_in(epoch);
    for (const slot_state s : any)
      if (s == now) return s;
    model::yield();
  }
}

void take_blocks(node& n, std::uint32_t epoch, int message) {
  change(n, epoch, slot_state::pipe_asked);
  if (await(n, epoch, {slot_state::piping, slot_state::refused}) == slot_state::refused) return;
  expect(n.cell.ring_blocks == 1, "the ring is described before it is said to be there");
  for (std::uint64_t b = 0; b < blocks; ++b) {
    while (n.cell.produced.load(std::memory_order_acquire) <= b) {
      if (n.cell.state_in(epoch) == slot_state::refused) return;
      model::yield();
    }
    expect(n.ring == message + static_cast<int>(b), "a block");
    n.cell.consumed.store(b + 1, std::memory_order_release);
  }
}

void receive(node& n, std::uint32_t epoch, int message) {
  slot& c = n.cell;
  while (n.ticket.load(std::memory_order_acquire) != epoch) model::yield();
  if (epoch != first_epoch)
    expect(!c.take(epoch - 1, slot_state::claimed), "an old ticket claims nothing");
  if (!c.take(epoch, slot_state::claimed)) {
    if (await(n, epoch, {slot_state::staged, slot_state::refused}) == slot_state::staged) {
      expect(c.where == 4096, "what is staged is described");
      expect(n.staged == message, "staged bytes");
    }
    return change(n, epoch, slot_state::done);
  }
  expect(c.payload.address == static_cast<std::uint64_t>(message), "the payload's description");
  switch (option(n, epoch, 3)) {
    case 0:
      c.set(epoch, slot_state::getting);
      expect(n.payload == message, "pulled bytes");
      break;
    case 1:
      take_blocks(n, epoch, message);
      break;
    default:
      c.target.address = 5;
      change(n, epoch, slot_state::put_asked);
      if (await(n, epoch, {slot_state::put_done, slot_state::refused}) == slot_state::put_done) {
        expect(n.target == message + 5, "put bytes");
      } else {
        c.set(epoch, slot_state::claimed);
        take_blocks(n, epoch, message);
      }
  }
  change(n, epoch, slot_state::done);
}

// --- scenarios ---

void make(model::world& w, unsigned uses) {
  auto n = std::make_shared<node>();
  n->uses = uses;
  w.name(&n->cell.word, "word", 4);
  w.name(&n->cell.produced, "produced");
  w.name(&n->cell.consumed, "consumed");
  w.name(&n->answers, "answers");
  w.name(&n->ticket, "ticket", 4);
  w.name(&n->payload, "payload", 4);
  w.name(&n->staged, "staged bytes", 4);
  w.name(&n->ring, "ring", 4);
  w.name(&n->target, "target", 4);
  w.watch(&n->cell.word, allowed);
  w.thread([n, uses] {
    for (unsigned u = 0; u < uses; ++u) send(*n, first_epoch + u, 10 * static_cast<int>(u + 1));
  });
  w.thread([n, uses] {
    for (unsigned u = 0; u < uses; ++u) receive(*n, first_epoch + u, 10 * static_cast<int>(u + 1));
  });
}

void make_once(model::world& w) {
  make(w, 1);
}
void make_twice(model::world& w) {
  make(w, 2);
}

}  // namespace

TEST_CASE(a_slot_used_once) {
  model::holds("once", {.deviations = 2}, make_once);
}

TEST_CASE(a_slot_used_again) {
  model::holds("again", {.deviations = 1}, make_twice);
}

// That the deciding swap acquires and releases is not among them: the ticket's message, which comes
// before it, already orders what the sender says.
TEST_CASE(defects_of_the_slot_are_found) {
  using enum model::mutation;
  model::finds_all("slot", {.deviations = 2}, make_once,
                   {{"word", swap_split},
                    {"word", store_relaxed},
                    {"word", load_relaxed},
                    {"produced", store_relaxed},
                    {"produced", load_relaxed},
                    {"consumed", store_relaxed},
                    {"consumed", load_relaxed},
                    {"answers", swap_relaxed},
                    {"answers", load_relaxed}});
}
