// SPDX-License-Identifier: BSD-3-Clause
#include "stream/proxy.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <condition_variable>
#include <system_error>
#include <thread>
#include <vector>

#include "base/blocked_signals.hpp"
#include "base/lasting.hpp"
#include "base/log.hpp"
#include "base/stall_clock.hpp"
#include "memory/held_streams.hpp"
#include "stream/health.hpp"
#include "stream/processors.hpp"
#include "stream/queue.hpp"
#include "stream/running.hpp"
#include "stream/words.hpp"

namespace telpher::stream {
namespace {

constexpr int device_failed = -1;  // in place of an MPI code; take_failure's caller knows

struct arrival {
  queue* to;
  item what;
};

class proxy {
 public:
  queue* find(const stream_id& id, const memory::place& where) noexcept {
    const std::lock_guard lock(mutex_);
    return find_locked(id, where);
  }
  queue* add_queue(const stream_id& id, const memory::place& where) noexcept;
  int take_failure(const stream_id& id) noexcept;
  status add(queue& q, item&& i) noexcept;
  status add(replayed&& r) noexcept;
  bool idle() const noexcept { return open_.load(std::memory_order_acquire) == 0; }
  bool any_graphs() const noexcept { return graph_count_.load(std::memory_order_relaxed) > 0; }
  std::uint64_t looks() const noexcept { return looks_; }
  /// False: graphs of the program still have words.
  bool stop() noexcept;

 private:
  void run() noexcept;
  void report(double seconds) const noexcept;
  queue* find_locked(const stream_id& id, const memory::place& where) noexcept;
  bool start_thread() noexcept;
  void wait_for_arrivals() noexcept;
  bool take_arrivals() noexcept;
  bool begin_next() noexcept;
  void begin(queue& q, item next, replayed* replay) noexcept;
  void forget_graphs() noexcept;
  bool advance() noexcept;
  bool give_up_failed() noexcept;
  void end(queue& q, item& i, replayed* replay, int code) noexcept;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<queue>> queues_;             // under mutex_
  std::vector<arrival> arrivals_;                          // under mutex_
  std::vector<std::unique_ptr<replayed>> graphs_arrived_;  // under mutex_
  std::uint64_t calls_ = 0;                                // under mutex_
  bool stopping_ = false;                                  // under mutex_
  std::thread thread_;                                     // under mutex_
  std::atomic<bool> arrived_{false};                       // something has, or it shall end
  std::atomic<std::size_t> open_{0};                       // items that are not over
  std::atomic<int> graph_count_{0};                        // of operations in graphs
  // The proxy's own.
  std::vector<arrival> taken_;
  std::vector<queue*> busy_;  // with waiting items
  std::vector<running> running_;
  std::vector<std::unique_ptr<replayed>> graphs_;  // in the order of the capturing calls
  watched_devices devices_;
  std::uint64_t looks_ = 0;
};

made_at_start<proxy> the_proxy;
thread_local bool is_proxy = false;

queue* proxy::find_locked(const stream_id& id, const memory::place& where) noexcept {
  for (const auto& q : queues_)
    if (q->id == id && q->where == where) return q.get();
  return nullptr;
}

// Default streams of several devices have one handle.
int proxy::take_failure(const stream_id& id) noexcept {
  std::lock_guard lock(mutex_);
  for (const auto& q : queues_)
    if (q->id == id)
      if (const int code = q->failure.exchange(0, std::memory_order_acquire)) return code;
  return 0;
}

queue* proxy::add_queue(const stream_id& id, const memory::place& where) noexcept {
  std::lock_guard lock(mutex_);
  if (queue* const other_thread_made = find_locked(id, where)) return other_thread_made;
  auto made = std::unique_ptr<queue>(new (std::nothrow) queue(id, where));
  if (!made) return nullptr;
  queues_.push_back(std::move(made));
  return queues_.back().get();
}

// --- handing over ---

bool proxy::start_thread() noexcept {
  const blocked_signals blocked;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
  }
  return thread_.joinable();
}

status proxy::add(queue& q, item&& i) noexcept {
  std::lock_guard lock(mutex_);
  if (!thread_.joinable() && !start_thread()) return status::out_of_memory;
  i.call = ++calls_;
  open_.fetch_add(1, std::memory_order_relaxed);
  arrivals_.push_back({&q, std::move(i)});
  arrived_.store(true, std::memory_order_release);
  wake_.notify_one();
  return status::ok;
}

status proxy::add(replayed&& r) noexcept {
  std::lock_guard lock(mutex_);
  if (!thread_.joinable() && !start_thread()) return status::out_of_memory;
  graphs_arrived_.push_back(std::make_unique<replayed>(std::move(r)));
  graph_count_.fetch_add(1, std::memory_order_relaxed);
  arrived_.store(true, std::memory_order_release);
  wake_.notify_one();
  return status::ok;
}

// --- the thread ---

// A program that waits for its stream after each operation enqueues the next one soon.
void proxy::wait_for_arrivals() noexcept {
  for (int looks = 0; looks < patient_passes; ++looks) {
    if (arrived_.load(std::memory_order_acquire)) break;
    pause(looks);
  }
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return arrived_.load(std::memory_order_relaxed); });
}

// False: the thread shall end.
bool proxy::take_arrivals() noexcept {
  if (!arrived_.load(std::memory_order_acquire)) return true;
  forget_graphs();
  {
    std::unique_lock lock(mutex_);
    if (stopping_) return false;
    taken_.swap(arrivals_);
    for (auto& r : graphs_arrived_) graphs_.push_back(std::move(r));
    graphs_arrived_.clear();
    arrived_.store(false, std::memory_order_relaxed);
  }
  for (arrival& a : taken_) {
    if (a.what.is_launched()) {
      running_.push_back({a.to, std::move(a.what), nullptr});
      continue;
    }
    if (a.to->waiting.empty()) busy_.push_back(a.to);
    a.to->waiting.push_back(std::move(a.what));
  }
  taken_.clear();
  return true;
}

// Operations that a program enqueues before it launches a graph have arrived by the time a replay
// is seen.
bool proxy::begin_next() noexcept {
  replayed* replay = nullptr;
  for (const auto& r : graphs_)
    if (r->is_idle() && r->what.reached()) {
      replay = r.get();
      break;
    }
  if (replay) take_arrivals();
  std::sort(busy_.begin(), busy_.end(), [](const queue* a, const queue* b) {
    return a->waiting.front().call > b->waiting.front().call;
  });
  queue* oldest = nullptr;
  for (queue* q : busy_)
    if (q->waiting.front().reached()) oldest = q;
  if (oldest) {
    item next = std::move(oldest->waiting.front());
    oldest->waiting.pop_front();
    if (oldest->waiting.empty()) std::erase(busy_, oldest);
    begin(*oldest, std::move(next), nullptr);
  } else if (replay) {
    replay->answer();
    open_.fetch_add(1, std::memory_order_relaxed);
    begin(*replay->of, std::move(replay->what), replay);
  }
  return oldest || replay;
}

// A stream that has reached an operation and does not wait for it is free.
void proxy::begin(queue& q, item next, replayed* replay) noexcept {
  if (!replay && !next.holds) next.count_out();
  if (const int code = next.op->begin(); code != 0)
    end(q, next, replay, code);
  else
    running_.push_back({&q, std::move(next), replay});
}

bool proxy::advance() noexcept {
  const std::size_t before = running_.size();
  ++looks_;
  count_reached(running_, looks_);
  std::erase_if(running_, [&](running& r) {
    int code = 0;
    if (!r.what.op->poll(code)) {
      r.of->note_failure(code);
      return false;
    }
    end(*r.of, r.what, r.replay, code);
    return true;
  });
  return running_.size() != before;
}

// Failed work of the stream is the operation's failure: what it would read may not be there.
bool proxy::give_up_failed() noexcept {
  for (const queue* q : busy_) devices_.watch(q->where);
  for (const running& r : running_)
    if (r.what.is_launched()) devices_.watch(r.of->where);
  bool any = false;
  for (const memory::place& where : devices_.failed()) {
    const auto give_up = [&](queue& q, item& i) {
      q.note_failure(device_failed);
      i.op->abandon();
      end(q, i, nullptr, device_failed);
      return any = true;
    };
    std::erase_if(running_, [&](running& r) {
      return r.what.is_launched() && r.of->where == where && give_up(*r.of, r.what);
    });
    std::erase_if(busy_, [&](queue* q) {
      if (q->where != where) return false;
      for (item& i : q->waiting) give_up(*q, i);
      q->waiting.clear();
      return true;
    });
  }
  return any;
}

// The stream goes on first: the rest is not in its way.
void proxy::end(queue& q, item& i, replayed* replay, int code) noexcept {
  q.note_failure(code);
  if (replay) {
    i.let_go();
    replay->what = std::move(i);
  } else if (i.holds) {
    i.let_go();
    q.held.fetch_sub(1, std::memory_order_release);
  }
  if (!replay) i.count_out();
  i.op.reset();
  open_.fetch_sub(1, std::memory_order_release);
}

// Once no replay of them can come any more.
void proxy::forget_graphs() noexcept {
  std::erase_if(graphs_, [&](const auto& r) {
    if (!r->is_idle() || !r->gone->load(std::memory_order_acquire)) return false;
    give_word(r->of->where.owner, r->what.words.reached);
    give_word(r->of->where.owner, r->what.words.over);
    graph_count_.fetch_sub(1, std::memory_order_relaxed);
    memory::held_streams::instance().end();
    return true;
  });
}

void proxy::report(double seconds) const noexcept {
  const running& oldest = running_.front();
  char what[200];
  oldest.what.op->describe(what, sizeof what);
  TELPHER_WARN(
      "%zu enqueued operations are under way and none has ended for %.0f s; the oldest is of "
      "stream %p%s%s",
      running_.size(), seconds, oldest.of->id.native, *what ? ": " : "", what);
}

void proxy::run() noexcept {
  is_proxy = true;
  memory::held_streams::make_none_here();
  choose_processors();
  prctl(PR_SET_TIMERSLACK, 1000ul);  // ns: it sleeps for microseconds
  constexpr int passes_between_looks = 1024;
  stall_clock clock;
  for (long idle_passes = 0;;) {
    if (busy_.empty() && running_.empty() && graphs_.empty()) wait_for_arrivals();
    if (!take_arrivals()) break;
    bool moved = false;
    while (begin_next()) moved = true;
    moved |= advance();
    idle_passes = moved ? 0 : idle_passes + 1;
    if (idle_passes > 0 && idle_passes % passes_between_looks == 0) {
      forget_graphs();
      if (idle_passes >= patient_passes) moved = give_up_failed();
    }
    pause(idle_passes);
    if (moved || running_.empty())
      clock.moved();
    else if (clock.warns())
      report(clock.seconds());
  }
  devices_.clear();
}

bool proxy::stop() noexcept {
  {
    std::lock_guard lock(mutex_);
    if (!thread_.joinable()) return true;
    stopping_ = true;
    arrived_.store(true, std::memory_order_release);
    wake_.notify_one();
  }
  thread_.join();
  std::lock_guard lock(mutex_);
  thread_ = {};
  stopping_ = false;
  arrived_.store(false, std::memory_order_relaxed);
  for (const auto& q : queues_)
    if (q->failure.load() != 0)
      TELPHER_WARN(
          "an operation that was enqueued in stream %p failed, and the program did not ask",
          q->id.native);
  queues_.clear();
  forget_graphs();
  const bool no_graphs = graphs_.empty();
  graph_count_.store(0, std::memory_order_relaxed);
  for (; !graphs_.empty(); graphs_.pop_back()) memory::held_streams::instance().end();
  return no_graphs;
}

}  // namespace

queue* find_queue(const stream_id& id, const memory::place& where) noexcept {
  return the_proxy->find(id, where);
}

queue* add_queue(const stream_id& id, const memory::place& where) noexcept {
  return the_proxy->add_queue(id, where);
}

status hand_over(queue& q, item&& i) noexcept {
  return the_proxy->add(q, std::move(i));
}

status hand_over(replayed&& r) noexcept {
  return the_proxy->add(std::move(r));
}

int take_failure(const stream_id& id) noexcept {
  return the_proxy->take_failure(id);
}

bool idle() noexcept {
  return the_proxy->idle();
}

bool any_graphs() noexcept {
  return the_proxy->any_graphs();
}

std::uint64_t looks() noexcept {
  return the_proxy->looks();
}

bool in_proxy() noexcept {
  return is_proxy;
}

void start() noexcept {
  the_proxy.make();
}

void stop() noexcept {
  if (the_proxy->stop()) release_words();
}

}  // namespace telpher::stream
