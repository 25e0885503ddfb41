// SPDX-License-Identifier: BSD-3-Clause
// An execution view for kernel bodies in which a block has many work items, each a thread of this
// process. With one work item per block, a missing barrier or wrongly divided work goes unnoticed;
// here it shows in the result or under ThreadSanitizer. As on a GPU:
//   - What the block shares has no initial value, and lies at one place however often it is
//     declared.
//   - A barrier orders what the block wrote. It is an error if work items meet at different
//     barriers, or if one has ended while others wait for it.
//   - A vote or a shuffle of readers waits for all of them and orders nothing. It is made of
//     relaxed accesses, which ThreadSanitizer does not take for synchronisation.
// omitted() names a barrier that does nothing; it is for the test of this test.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <source_location>
#include <string>
#include <thread>
#include <vector>

#include "kernel/cpu.hpp"

namespace block_of_threads {

/// The location of a barrier: file:line.
inline std::string name_of(const std::source_location& where) {
  const char* slash = std::strrchr(where.file_name(), '/');
  return (slash ? slash + 1 : where.file_name()) + (":" + std::to_string(where.line()));
}

/// The barrier that does nothing; empty if there is none.
inline std::string& omitted() {
  static std::string name;
  return name;
}

/// All barriers that were executed.
class sites {
 public:
  static void add(const std::string& name) {
    const std::lock_guard lock(one().mutex_);
    one().names_.insert(name);
  }
  static std::set<std::string> names() {
    const std::lock_guard lock(one().mutex_);
    return one().names_;
  }

 private:
  static sites& one() {
    static sites all;
    return all;
  }
  std::mutex mutex_;
  std::set<std::string> names_;
};

/// The state that the work items of a block share.
class block_state {
 public:
  static constexpr std::size_t memory_bytes = 96 * 1024;

  explicit block_state(unsigned items) : items_(items), said_(4 * items) {
    std::memset(memory_.get(), 0xa5, memory_bytes);
  }

  /// A barrier; returns whether `mine` is true for all.
  bool meet(const std::source_location& where, bool mine) {
    const std::string name = name_of(where);
    std::unique_lock lock(mutex_);
    if (ended_ != 0) diverged(name, "a work item that has ended");
    if (waiting_ == 0) {
      site_ = name;
      all_ = true;
    } else if (site_ != name) {
      diverged(name, site_.c_str());
    }
    all_ = all_ && mine;
    if (++waiting_ == items_) {
      waiting_ = 0;
      result_ = all_;
      ++generation_;
      met_.notify_all();
      return result_;
    }
    const auto now = generation_;
    met_.wait(lock, [&] { return generation_ != now; });
    return result_;
  }

  void end() {
    const std::lock_guard lock(mutex_);
    ++ended_;
    if (waiting_ != 0) diverged(site_, "a work item that has ended");
  }

  /// The `round`-th vote of work item `id` among the first `readers`; orders nothing. Slots for two
  /// rounds are enough: who is in round n + 2 has seen all in round n + 1, so all have left round
  /// n. Votes of an omitted barrier are counted separately.
  bool vote(unsigned id, unsigned readers, std::uint64_t round, bool mine, bool apart = false) {
    const auto place = [&](unsigned i) -> std::atomic<std::uint64_t>& {
      return said_[i * 4 + round % 2 + (apart ? 2 : 0)];
    };
    place(id).store(round << 1 | (mine ? 1 : 0), std::memory_order_relaxed);
    bool all = true;
    for (unsigned i = 0; i < readers; ++i) {
      std::uint64_t seen = 0;
      while ((seen = place(i).load(std::memory_order_relaxed)) >> 1 != round)
        std::this_thread::yield();
      all = all && (seen & 1) != 0;
    }
    return all;
  }

  /// Distributes work item 0's value, as two halves that carry the number of the round.
  std::uint64_t shuffle(unsigned id, std::uint32_t round, std::uint64_t value) {
    auto& halves = first_[round % 2];
    std::uint64_t result = 0;
    for (unsigned h = 0; h < 2; ++h) {
      if (id == 0)
        halves[h].store(std::uint64_t{round} << 32 | (value >> 32 * h & 0xffffffffu),
                        std::memory_order_relaxed);
      std::uint64_t seen = 0;
      while ((seen = halves[h].load(std::memory_order_relaxed)) >> 32 != round)
        std::this_thread::yield();
      result |= (seen & 0xffffffffu) << 32 * h;
    }
    return result;
  }

  std::byte* memory() const { return memory_.get(); }
  unsigned items() const { return items_; }

 private:
  [[noreturn]] static void diverged(const std::string& here, const char* there) {
    std::printf("FAILED: the work items of a block part: at %s and at %s\n", here.c_str(), there);
    std::fflush(stdout);
    std::_Exit(3);
  }

  unsigned items_;
  std::mutex mutex_;
  std::condition_variable met_;
  std::string site_;
  unsigned waiting_ = 0, ended_ = 0;
  std::uint64_t generation_ = 0;
  bool all_ = true, result_ = true;
  std::vector<std::atomic<std::uint64_t>> said_;
  std::array<std::array<std::atomic<std::uint64_t>, 2>, 2> first_{};
  std::unique_ptr<std::byte[]> memory_{new std::byte[memory_bytes]};
};

/// The state of one work item. Bodies pass their view by value.
struct item_state {
  block_state* block;
  unsigned id;
  std::size_t shared_bytes = 0;  // of the variables declared so far
  std::uint64_t votes = 0, votes_apart = 0;
  std::uint32_t shuffles = 0;
};

class work {
 public:
  static constexpr unsigned command_readers = 2;
  static constexpr unsigned program_readers =
      4;  // a GPU has 32; that many threads would only be slow

  template <class T>
  class shared {
   public:
    explicit shared(const work& w)
        : item_(*w.item_), before_(item_.shared_bytes), value(place(item_)) {}
    ~shared() { item_.shared_bytes = before_; }
    shared(const shared&) = delete;
    shared& operator=(const shared&) = delete;

   private:
    static T& place(item_state& item) {
      std::byte* at = item.block->memory() + item.shared_bytes;
      item.shared_bytes += (sizeof(T) + 63) / 64 * 64;
      return *reinterpret_cast<T*>(at);
    }
    item_state& item_;
    std::size_t before_;

   public:
    T& value;
  };

  using place = std::source_location;

  work(item_state* item, unsigned block, unsigned blocks)
      : item_(item), block_(block), blocks_(blocks) {}
  unsigned id() const { return item_->id; }
  unsigned size() const { return item_->block->items(); }
  unsigned block() const { return block_; }
  unsigned blocks() const { return blocks_; }
  void barrier(place where = place::current()) const { meet(where, true); }
  bool all(bool mine, place where = place::current()) const { return meet(where, mine); }
  void publish(place where = place::current()) const { meet(where, true); }
  void publish_near(place where = place::current()) const { meet(where, true); }
  void settle(place where = place::current()) const { meet(where, true); }
  bool readers_agree(unsigned readers, bool mine) const {
    return item_->block->vote(id(), readers, ++item_->votes, mine);
  }
  std::uint64_t of_first(std::uint64_t value) const {
    return item_->block->shuffle(id(), ++item_->shuffles, value);
  }

 private:
  bool meet(const place& where, bool mine) const {
    const std::string name = name_of(where);
    if (id() == 0) sites::add(name);
    if (name == omitted())
      return item_->block->vote(id(), size(), ++item_->votes_apart, mine, true);
    return item_->block->meet(where, mine);
  }

  item_state* item_;
  unsigned block_, blocks_;
};

/// Runs one block with `items` work items to its end.
template <class Body>
void run_block(Body body, unsigned block, unsigned blocks, unsigned items) {
  block_state state(items);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < items; ++i)
    threads.emplace_back([&, i] {
      item_state own{&state, i};
      body(work(&own, block, blocks));
      state.end();
    });
  for (std::thread& t : threads) t.join();
}

/// Runs all blocks of a launch concurrently.
template <class Body>
void run(Body body, unsigned blocks, unsigned items) {
  std::vector<std::thread> threads;
  for (unsigned b = 0; b < blocks; ++b)
    threads.emplace_back([=] { run_block(body, b, blocks, items); });
  for (std::thread& t : threads) t.join();
}

}  // namespace block_of_threads
