// SPDX-License-Identifier: BSD-3-Clause
// What the callers' side (enqueue.cpp) and the proxy's thread (proxy.cpp) share: streams of the
// program with the words by which they and the proxy tell each other how far they are, and what is
// enqueued there. proxy.hpp has the protocol.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "memory/memory.hpp"
#include "stream/proxy.hpp"

namespace telpher::stream {

/// Words of pinned memory, whose numbers rise.
struct word_pair {
  std::uint32_t* reached = nullptr;  // the stream writes it when it gets to an operation
  std::uint32_t* over = nullptr;     // the proxy writes it, the stream waits for it
};

struct item {
  std::unique_ptr<operation> op;
  std::uint64_t call = 0;  // in the order of the enqueuing calls
  word_pair words;
  std::uint32_t number = 0;  // in both words
  bool holds = false;        // the stream waits for it

  bool reached() const noexcept {
    return std::atomic_ref(*words.reached).load(std::memory_order_acquire) >= number;
  }
  void let_go() const noexcept {
    std::atomic_ref(*words.over).store(number, std::memory_order_release);
  }
};

/// A stream of the program. `thread` is 0, or the thread whose stream it is where the handle names
/// another one in each thread.
struct stream_id {
  void* native;
  std::uint64_t thread;
  friend bool operator==(const stream_id&, const stream_id&) = default;
};

/// A stream of the program, as long as the process lives: a stream that gets the handle of one that
/// is gone goes on with its numbers.
struct queue {
  queue(const stream_id& i, const memory::place& w) noexcept : id(i), where(w) {}

  const stream_id id;
  const memory::place where;
  std::mutex order_mutex;
  word_pair words;         // under order_mutex
  std::uint32_t last = 0;  // under order_mutex: the number of its last operation
  // Operations for which the stream waits: callers add under order_mutex, the proxy takes away.
  std::atomic<int> held{0};
  std::atomic<int> failure{0};
  std::deque<item> waiting;  // the proxy's
};

/// An operation that a graph holds; its words are its own. `what.op` is away while a replay is
/// under way.
struct replayed {
  queue* of;
  item what;
  std::shared_ptr<std::atomic<bool>> gone;  // the graph, and all that was made of it

  bool is_idle() const noexcept { return what.op != nullptr; }
  /// A replay that has got there is seen.
  void answer() const noexcept {
    std::atomic_ref(*what.words.reached).store(0, std::memory_order_relaxed);
  }
};

// --- what the callers' side asks of the proxy (proxy.cpp) ---

/// The stream's queue, or null.
queue* find_queue(const stream_id& id, const memory::place& where) noexcept;
/// Makes it where there is none; null if there is no memory.
queue* add_queue(const stream_id& id, const memory::place& where) noexcept;
/// Hands an item over, to be begun when its stream has got there.
status hand_over(queue& q, item&& i) noexcept;
/// The same for one that a graph holds, to be begun in each of its replays.
status hand_over(replayed&& r) noexcept;
/// The code of the first operation of the stream that failed since it was asked last.
int take_failure(const stream_id& id) noexcept;

}  // namespace telpher::stream
