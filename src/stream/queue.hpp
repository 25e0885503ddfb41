// SPDX-License-Identifier: BSD-3-Clause
// What the callers' side (enqueue.cpp) and the proxy's thread (proxy.cpp) share: a record for each
// stream of the program, its two words, and the operations that are enqueued in it. proxy.hpp has
// the protocol.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "memory/held_streams.hpp"
#include "memory/memory.hpp"
#include "stream/proxy.hpp"

namespace telpher::stream {

/// Words of pinned memory. The numbers in the words of a stream only rise.
struct word_pair {
  std::uint32_t* reached = nullptr;  // the stream writes it when it gets to an operation
  std::uint32_t* over = nullptr;     // the proxy writes it, the stream waits for it
};

struct item {
  std::unique_ptr<operation> op;  // if is_launched(), a `launched`
  std::uint64_t call = 0;         // in the order of the enqueuing calls
  word_pair words;                // null: the operation is launched
  std::uint32_t number = 0;       // in both words
  bool holds = false;             // the stream waits for it
  bool counted = true;            // among the held streams (memory/held_streams.hpp)

  bool reached() const noexcept {
    return std::atomic_ref(*words.reached).load(std::memory_order_acquire) >= number;
  }
  bool is_launched() const noexcept { return !words.over; }
  /// The stream does not wait for it any more.
  void count_out() noexcept {
    if (std::exchange(counted, false)) memory::held_streams::instance().end();
  }
  void let_go() const noexcept {
    if (is_launched()) return;  // its kernel ends by itself
    std::atomic_ref(*words.over).store(number, std::memory_order_release);
  }
};

/// Names a stream of the program. One handle may stand for a different stream in each thread (the
/// per-thread default stream). Then `thread` is the thread whose stream is meant; else it is 0.
struct stream_id {
  void* native;
  std::uint64_t thread;
  friend bool operator==(const stream_id&, const stream_id&) = default;
};

/// The record of a stream of the program. It is kept until stop(), because nobody tells us when a
/// stream is destroyed. A new stream that gets the same handle continues the numbers.
struct queue {
  queue(const stream_id& i, const memory::place& w) noexcept : id(i), where(w) {}

  /// The first one is kept until the program asks. 0 is none.
  void note_failure(int code) noexcept {
    int none = 0;
    if (code != 0) failure.compare_exchange_strong(none, code, std::memory_order_release);
  }

  const stream_id id;
  const memory::place where;
  std::atomic<bool> prepared{false};  // its device, for waits (backend::before_waits)
  std::mutex order_mutex;
  word_pair words;         // under order_mutex
  std::uint32_t last = 0;  // under order_mutex: the number of its last operation
  // How many operations the stream waits for or will wait for. Callers count up under order_mutex;
  // the proxy counts down, as does a call whose item could not be handed over.
  std::atomic<int> held{0};
  std::atomic<int> failure{0};
  // The proxy's.
  std::deque<item> waiting;
  std::uint64_t unreached = 0;  // the look in which it had not got to an operation
};

/// An operation in a graph. Its words are its own, not the stream's. While the proxy carries out a
/// replay of it, `what.op` is null, because the operation is in the proxy's list.
struct replayed {
  queue* of;
  item what;
  std::shared_ptr<std::atomic<bool>> gone;  // true: the graph and all made of it are destroyed

  bool is_idle() const noexcept { return what.op != nullptr; }
  /// The proxy has seen that a replay has reached the operation: sets the word back for the next.
  void answer() const noexcept {
    std::atomic_ref(*what.words.reached).store(0, std::memory_order_relaxed);
  }
};

// --- what the callers' side asks of the proxy (proxy.cpp) ---

/// The stream's queue, or null.
queue* find_queue(const stream_id& id, const memory::place& where) noexcept;
/// The stream's queue, which is made if there is none; null if there is no memory.
queue* add_queue(const stream_id& id, const memory::place& where) noexcept;
/// Gives the proxy an item, which it begins when the stream has reached it.
status hand_over(queue& q, item&& i) noexcept;
/// Gives the proxy an operation in a graph, which it begins in each replay of the graph.
status hand_over(replayed&& r) noexcept;
/// The code of the stream's first operation that has failed since the last call; 0 if none has.
int take_failure(const stream_id& id) noexcept;

}  // namespace telpher::stream
