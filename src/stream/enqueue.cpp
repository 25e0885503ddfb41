// SPDX-License-Identifier: BSD-3-Clause
// The callers' side: puts an operation into one of the program's streams.
#include "base/log.hpp"
#include "base/stall_clock.hpp"
#include "device/adopted_stream.hpp"
#include "memory/held_streams.hpp"
#include "memory/streams.hpp"
#include "stream/queue.hpp"
#include "stream/words.hpp"

namespace telpher::stream {
namespace {

// Never used again, unlike addresses and the system's numbers of threads.
std::uint64_t this_thread() noexcept {
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t own = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return own;
}

stream_id id_of(device::backend& owner, void* native) noexcept {
  return {native, owner.one_for_each_thread(native) ? this_thread() : 0};
}

// A word is used until its numbers would need the 32nd bit: back ends differ in what that means.
constexpr std::uint32_t last_number = 0x7fffffff;

status number(queue& q, item& i) noexcept {
  if (!q.words.over || q.last == last_number) {
    const auto reached = take_word(q.where.owner);
    TELPHER_TRY(reached);
    const auto over = take_word(q.where.owner);
    TELPHER_TRY(over);
    q.words = {*reached, *over};
    q.last = 0;
  }
  i.words = q.words;
  i.number = ++q.last;
  return status::ok;
}

// What the stream does when it gets there.
status give_to_stream(queue& q, device::stream s, const item& i) noexcept {
  device::backend& owner = *q.where.owner;
  if (!i.holds) return owner.write_value(s, i.words.reached, i.number);
  TELPHER_TRY(owner.write_and_wait(s, i.words.reached, i.words.over, i.number));
  q.held.fetch_add(1, std::memory_order_relaxed);
  return status::ok;
}

/// The turn of a call on its stream, once the stream has room for it. Nobody waits for room with
/// the turn in hand: the proxy takes turns, too, out of an error handler say, and cannot wait for
/// itself.
std::unique_lock<std::mutex> take_turn(queue& q, bool holds) noexcept {
  const auto most = static_cast<int>(config().stream_ahead);
  const auto full = [&] {
    return holds && !in_proxy() && q.held.load(std::memory_order_acquire) >= most;
  };
  for (patient_wait wait;;) {
    while (full())
      if (wait.pause())
        TELPHER_WARN(
            "a call that enqueues in stream %p has waited for %.0f s: %d operations that the "
            "stream waits for are not complete (TELPHER_STREAM_AHEAD)",
            q.id.native, wait.seconds(), most);
    std::unique_lock turn(q.order_mutex);
    if (!full()) return turn;
  }
}

/// See memory/held_streams.hpp.
void make_calls_if_idle(const memory::place& where, device::stream s) noexcept {
  auto& streams = memory::held_streams::instance();
  if (!streams.has_calls()) [[likely]]
    return;
  const auto here = memory::pooled_event::acquire(where);
  if (here && here->record(s) == status::ok && here->query() == status::ok) streams.make_calls();
}

refusal put(queue& q, device::stream s, std::unique_ptr<operation> op, bool holds) noexcept {
  item made;
  made.op = std::move(op);
  made.holds = holds;
  const auto turn = take_turn(q, holds);
  make_calls_if_idle(q.where, s);
  if (const status n = number(q, made); failed(n)) return {n, "pinned memory"};
  memory::held_streams::instance().begin();
  if (const status g = give_to_stream(q, s, made); failed(g)) {
    memory::held_streams::instance().end();
    return {g, "the stream refused to write and wait for memory"};
  }
  const word_pair words = made.words;
  const std::uint32_t number = made.number;
  const status added = hand_over(q, std::move(made));
  if (!failed(added)) return {};
  // The wait that is in the stream already must end.
  if (holds) {
    std::atomic_ref(*words.over).store(number, std::memory_order_release);
    q.held.fetch_sub(1, std::memory_order_release);
  }
  memory::held_streams::instance().end();
  return {added, "the thread that serves streams could not be started"};
}

// In each replay the stream says that it is there, waits, and takes the answer back.
status hold_in_graph(device::backend& owner, device::stream s, const word_pair& words) noexcept {
  if (!owner.graphs_hold_words()) {
    constexpr int one_wave = 64;
    const kernel::graph_hold k{words.reached, words.over};
    return owner.launch(kernel::id::graph_hold, &k, 1, one_wave, s);
  }
  TELPHER_TRY(owner.write_value(s, words.reached, 1));
  TELPHER_TRY(owner.wait_value(s, words.over, 1));
  return owner.write_value(s, words.over, 0);
}

// From the first step on the graph may hold the words: only its end lets the proxy forget them.
refusal capture(queue& q, device::stream s, std::unique_ptr<operation> op) noexcept {
  if (const char* const why = op->only_once()) return {status::not_supported, why};
  device::backend& owner = *q.where.owner;
  replayed made{&q, {}, std::make_shared<std::atomic<bool>>(false)};
  const auto reached = take_word(&owner), over = take_word(&owner);
  if (!reached || !over) return {status::out_of_memory, "pinned memory"};
  made.what = {std::move(op), 0, {*reached, *over}, 1, true};
  auto* const gone = new std::shared_ptr(made.gone);
  const status kept = owner.keep_for_graph(s, gone, [](void* ended) {
    const std::unique_ptr<std::shared_ptr<std::atomic<bool>>> own(
        static_cast<std::shared_ptr<std::atomic<bool>>*>(ended));
    (*own)->store(true, std::memory_order_release);
  });
  if (failed(kept)) {
    delete gone;
    give_word(&owner, *reached);
    give_word(&owner, *over);
    return {kept, kept == status::not_supported
                      ? "the stream is being captured, and graphs of this back end cannot hold "
                        "operations of MPI: enqueue it outside of the capture"
                      : "the stream's capture has failed, by an earlier call that is not allowed "
                        "in one: end it, and capture anew without that call"};
  }
  const word_pair words = made.what.words;
  memory::held_streams::instance().begin();
  if (const status added = hand_over(std::move(made)); failed(added)) {
    memory::held_streams::instance().end();
    return {added, "the thread that serves streams could not be started"};
  }
  const status held = hold_in_graph(owner, s, words);
  return {held, failed(held) ? "the capture refused to write and wait for memory" : nullptr};
}

/// The queue of a stream of the program's, or why it cannot have one.
refusal find_queue_of(device::adopted_stream& s, void* native, queue*& found) noexcept {
  if (!s.owner())
    return {status::not_supported, "no device back end is active; 'telpher info' says why"};
  if (!s.get())
    return {status::invalid_argument,
            "it is no stream of the active back end (telpher_choose_backend chooses another), or "
            "that back end cannot order operations in a stream"};
  device::backend& owner = *s.owner();
  const memory::place where{&owner, s.device()};
  if (!owner.streams_wait(where.device))
    return {status::not_supported,
            "streams of this device cannot wait for memory (its driver or back end lacks it): use "
            "the call without _enqueue after synchronising"};
  const stream_id id = id_of(owner, native);
  found = find_queue(id, where);
  if (!found) {
    if (const status made = memory::make_streams(where); failed(made))
      return {made, "our own streams on its device could not be made"};
    found = add_queue(id, where);
    if (!found) return {status::out_of_memory, "host memory"};
  }
  if (!found->prepared.load(std::memory_order_relaxed) && !s.is_captured())
    found->prepared.store(memory::before_waits(where), std::memory_order_relaxed);
  return {};
}

}  // namespace

refusal enqueue(void* native, std::unique_ptr<operation> op, bool holds) noexcept {
  device::adopted_stream s(native);
  queue* q = nullptr;
  if (const refusal r = find_queue_of(s, native, q); failed(r.s)) return r;
  return s.is_captured() ? capture(*q, *s.get(), std::move(op))
                         : put(*q, *s.get(), std::move(op), holds);
}

refusal launch(device::adopted_stream& s, void* native, std::unique_ptr<launched> op,
               bool holds) noexcept {
  queue* q = nullptr;
  refusal r = find_queue_of(s, native, q);
  item made;
  made.holds = holds;
  auto& streams = memory::held_streams::instance();
  std::unique_lock<std::mutex> turn;
  if (!failed(r.s)) {
    turn = take_turn(*q, holds);
    make_calls_if_idle(q->where, *s.get());
    streams.begin();
    if (holds) q->held.fetch_add(1, std::memory_order_relaxed);
    if (const status given = op->launch(*s.get()); failed(given))
      r = {given, "a launch in the stream"};
  }
  made.op = std::move(op);
  if (!failed(r.s))
    if (const status added = hand_over(*q, std::move(made)); failed(added))
      r = {added, "the thread that serves streams could not be started"};
  if (!failed(r.s)) return r;
  const bool counted = turn.owns_lock();
  turn = {};
  made.op->abandon();
  if (counted) streams.end();
  if (counted && holds) q->held.fetch_sub(1, std::memory_order_release);
  return r;
}

int take_failure(void* native) noexcept {
  device::backend* const owner = device::active_backend();
  return owner ? take_failure(id_of(*owner, native)) : 0;
}

}  // namespace telpher::stream
