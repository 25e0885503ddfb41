// SPDX-License-Identifier: BSD-3-Clause
#include "stream/proxy.hpp"

#include <sched.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "device/registry.hpp"
#include "memory/held_streams.hpp"
#include "memory/streams.hpp"
#include "stream/words.hpp"

namespace telpher::stream {
namespace {

constexpr int device_failed = -1;  // in place of an MPI code; take_failure's caller knows

struct item {
  std::unique_ptr<operation> op;
  memory::pooled_event reached;   // done when the stream has got there
  std::uint64_t call = 0;         // in the order of the enqueuing calls
  std::uint32_t* word = nullptr;  // null: the stream does not wait
  std::uint32_t number = 0;       // what is written there
};

/// A stream of the program. `thread` is 0, or the thread whose stream it is where the handle names
/// another one in each thread.
struct stream_id {
  void* native;
  std::uint64_t thread;
  friend bool operator==(const stream_id&, const stream_id&) = default;
};

// Never used again, unlike addresses and the system's numbers of threads.
std::uint64_t this_thread() noexcept {
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t own = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return own;
}

stream_id id_of(device::backend& owner, void* native) noexcept {
  return {native, owner.one_for_each_thread(native) ? this_thread() : 0};
}

/// A stream of the program, as long as the process lives: a stream that gets the handle of one that
/// is gone goes on with its numbers.
struct queue {
  queue(const stream_id& i, const memory::place& w) noexcept : id(i), where(w) {}

  const stream_id id;
  const memory::place where;
  std::mutex order_mutex;
  std::uint32_t* word = nullptr;  // under order_mutex
  std::uint32_t last = 0;         // under order_mutex
  // Operations for which the stream waits: callers add under order_mutex, the proxy takes away.
  std::atomic<int> held{0};
  std::atomic<int> failure{0};
  std::deque<item> waiting;  // the proxy's
};

struct arrival {
  queue* to;
  item what;
};

struct running {
  queue* of;
  item what;
};

class proxy {
 public:
  queue* find(const stream_id& id, const memory::place& where) noexcept;
  queue* add_queue(const stream_id& id, const memory::place& where) noexcept;
  int take_failure(const stream_id& id) noexcept;
  status add(queue& q, item&& i) noexcept;
  bool idle() const noexcept { return open_.load(std::memory_order_acquire) == 0; }
  void stop() noexcept;

 private:
  void run() noexcept;
  queue* find_locked(const stream_id& id, const memory::place& where) noexcept;
  bool start_thread() noexcept;
  bool take_arrivals() noexcept;
  bool begin_next() noexcept;
  bool advance() noexcept;
  void end(queue& q, item& i, int code) noexcept;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<queue>> queues_;  // under mutex_
  std::vector<arrival> arrivals_;               // under mutex_
  std::uint64_t calls_ = 0;                     // under mutex_
  bool stopping_ = false;                       // under mutex_
  std::thread thread_;                          // under mutex_
  std::atomic<std::size_t> open_{0};            // items that are not over
  // The proxy's own.
  std::vector<arrival> taken_;
  std::vector<queue*> busy_;  // with waiting items
  std::vector<running> running_;
};

proxy& the_proxy() {
  static auto* const one = new proxy;
  return *one;
}

thread_local bool is_proxy = false;

queue* proxy::find_locked(const stream_id& id, const memory::place& where) noexcept {
  for (const auto& q : queues_)
    if (q->id == id && q->where == where) return q.get();
  return nullptr;
}

queue* proxy::find(const stream_id& id, const memory::place& where) noexcept {
  std::lock_guard lock(mutex_);
  return find_locked(id, where);
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
  // The program's signals are for the program's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread_.joinable();
}

status proxy::add(queue& q, item&& i) noexcept {
  std::lock_guard lock(mutex_);
  if (!thread_.joinable() && !start_thread()) return status::out_of_memory;
  i.call = ++calls_;
  open_.fetch_add(1, std::memory_order_relaxed);
  arrivals_.push_back({&q, std::move(i)});
  wake_.notify_one();
  return status::ok;
}

// --- the thread ---

// False: it shall end.
bool proxy::take_arrivals() noexcept {
  {
    std::unique_lock lock(mutex_);
    if (busy_.empty() && running_.empty())
      wake_.wait(lock, [&] { return stopping_ || !arrivals_.empty(); });
    if (arrivals_.empty()) return !stopping_;
    taken_.swap(arrivals_);
  }
  for (arrival& a : taken_) {
    if (a.to->waiting.empty()) busy_.push_back(a.to);
    a.to->waiting.push_back(std::move(a.what));
  }
  taken_.clear();
  return true;
}

// Failed work of the stream is the operation's failure: what it would read may not be there.
bool proxy::begin_next() noexcept {
  std::sort(busy_.begin(), busy_.end(), [](const queue* a, const queue* b) {
    return a->waiting.front().call > b->waiting.front().call;
  });
  queue* oldest = nullptr;
  status reached = status::ok;
  for (queue* q : busy_)
    if (const status s = q->waiting.front().reached.query(); s != status::would_block)
      oldest = q, reached = s;
  if (!oldest) return false;
  item next = std::move(oldest->waiting.front());
  oldest->waiting.pop_front();
  if (oldest->waiting.empty()) std::erase(busy_, oldest);
  if (failed(reached)) {
    next.op->abandon();
    end(*oldest, next, device_failed);
    return true;
  }
  if (const int code = next.op->begin(); code != 0)
    end(*oldest, next, code);
  else
    running_.push_back({oldest, std::move(next)});
  return true;
}

bool proxy::advance() noexcept {
  const std::size_t before = running_.size();
  std::erase_if(running_, [&](running& r) {
    int code = 0;
    if (!r.what.op->poll(code)) return false;
    end(*r.of, r.what, code);
    return true;
  });
  return running_.size() != before;
}

void proxy::end(queue& q, item& i, int code) noexcept {
  int none = 0;
  if (code != 0) q.failure.compare_exchange_strong(none, code, std::memory_order_release);
  i.op.reset();
  i.reached = {};
  if (i.word) {
    std::atomic_ref<std::uint32_t>(*i.word).store(i.number, std::memory_order_release);
    memory::held_streams::instance().end();
    q.held.fetch_sub(1, std::memory_order_release);
  }
  open_.fetch_sub(1, std::memory_order_release);
}

/// Rings each time that another TELPHER_STALL_WARNING has passed.
class stall_clock {
 public:
  double seconds() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  bool rings() noexcept {
    if (seconds() < next_) return false;
    next_ += config().stall_warning.value / 1e6;
    return true;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double next_ = config().stall_warning.value / 1e6;
};

// A pass that moves nothing is followed by a pause: none, then the processor is offered to others,
// and after a millisecond or so the thread sleeps between passes, for kernels that take long.
void pause(int idle_passes) noexcept {
  constexpr int brisk = 64, patient = 4096;
  if (idle_passes < brisk) return;
  if (idle_passes < patient) {
    sched_yield();
    return;
  }
  constexpr timespec nap{0, 20'000};
  nanosleep(&nap, nullptr);
}

void proxy::run() noexcept {
  is_proxy = true;
  stall_clock clock;
  for (int idle_passes = 0; take_arrivals();) {
    bool moved = false;
    while (begin_next()) moved = true;
    moved |= advance();
    idle_passes = moved ? 0 : idle_passes + 1;
    pause(idle_passes);
    if (moved || running_.empty())
      clock = {};
    else if (clock.rings())
      TELPHER_WARN(
          "%zu enqueued operations are under way and none has ended for %.0f s; the oldest "
          "is of stream %p",
          running_.size(), clock.seconds(), running_.front().of->id.native);
  }
}

void proxy::stop() noexcept {
  {
    std::lock_guard lock(mutex_);
    if (!thread_.joinable()) return;
    stopping_ = true;
    wake_.notify_one();
  }
  thread_.join();
  std::lock_guard lock(mutex_);
  thread_ = {};
  stopping_ = false;
  for (const auto& q : queues_)
    if (q->failure.load() != 0)
      TELPHER_WARN(
          "an operation that was enqueued in stream %p failed, and the program did not ask",
          q->id.native);
  queues_.clear();
}

// --- the callers' side ---

/// One of the program's streams, as ours.
class adopted {
 public:
  explicit adopted(void* native) noexcept : owner_(device::active_backend()) {
    if (!owner_) return;
    if (auto s = owner_->adopt_stream(native, device_)) stream_ = *s;
  }
  ~adopted() {
    if (stream_) owner_->disown_stream(stream_);
  }
  adopted(const adopted&) = delete;
  adopted& operator=(const adopted&) = delete;

  memory::place where() const noexcept { return {owner_, device_}; }
  device::stream get() const noexcept { return stream_; }

 private:
  device::backend* owner_;
  int device_ = -1;
  device::stream stream_;
};

// A word is used until its numbers would need the 32nd bit: back ends differ in what that means.
constexpr std::uint32_t last_number = 0x7fffffff;

status make_wait(queue& q, device::stream s, item& i) noexcept {
  if (!q.word || q.last == last_number) {
    const auto word = take_word(q.where.owner);
    TELPHER_TRY(word);
    q.word = *word;
    q.last = 0;
  }
  i.word = q.word;
  i.number = q.last + 1;
  memory::held_streams::instance().begin();
  const status made = q.where.owner->wait_value(s, i.word, i.number);
  if (failed(made)) {
    memory::held_streams::instance().end();
    return made;
  }
  q.last = i.number;
  q.held.fetch_add(1, std::memory_order_relaxed);
  return made;
}

// The proxy's own calls, out of an error handler say, cannot wait for the proxy.
void wait_for_room(queue& q) noexcept {
  if (is_proxy) return;
  const auto most = static_cast<int>(config().stream_ahead);
  stall_clock clock;
  for (int looks = 0; q.held.load(std::memory_order_acquire) >= most; ++looks) {
    pause(looks);
    if (clock.rings())
      TELPHER_WARN(
          "a call that enqueues in stream %p has waited for %.0f s: %d operations that the stream "
          "waits for are not complete (TELPHER_STREAM_AHEAD)",
          q.id.native, clock.seconds(), most);
  }
}

refusal put(queue& q, device::stream s, std::unique_ptr<operation> op, bool holds) noexcept {
  item made;
  made.op = std::move(op);
  std::lock_guard order(q.order_mutex);
  if (holds) wait_for_room(q);
  auto event = memory::pooled_event::acquire(q.where);
  if (!event) return {event.error(), "no event could be made"};
  made.reached = std::move(*event);
  if (const status r = made.reached.record(s); failed(r)) return {r, "its event was refused"};
  if (holds)
    if (const status w = make_wait(q, s, made); failed(w))
      return {w, "the stream could not be made to wait"};
  std::uint32_t* const word = made.word;
  const std::uint32_t number = made.number;
  const status added = the_proxy().add(q, std::move(made));
  // What waits in the stream already must not wait for ever.
  if (failed(added) && word) {
    std::atomic_ref<std::uint32_t>(*word).store(number, std::memory_order_release);
    memory::held_streams::instance().end();
    q.held.fetch_sub(1, std::memory_order_release);
  }
  return {added, failed(added) ? "the thread that serves streams could not be started" : nullptr};
}

}  // namespace

refusal enqueue(void* native, std::unique_ptr<operation> op, bool holds) noexcept {
  const adopted s(native);
  if (!s.where().owner)
    return {status::not_supported, "no device back end is active; 'telpher info' says why"};
  if (!s.get())
    return {status::invalid_argument,
            "it is no stream of the active back end (telpher_choose_backend chooses another), or "
            "that back end cannot order operations in a stream"};
  device::backend& owner = *s.where().owner;
  if (owner.is_captured(s.get()))
    return {status::not_supported,
            "the stream is being captured, and a graph cannot hold operations of MPI: enqueue it "
            "outside of the capture"};
  if (holds && !owner.streams_wait(s.where().device))
    return {status::not_supported,
            "streams of this device cannot wait for memory (its driver or back end lacks it): use "
            "the call without _enqueue after synchronising"};
  const stream_id id = id_of(owner, native);
  queue* q = the_proxy().find(id, s.where());
  if (!q) {
    if (const status made = memory::make_streams(s.where()); failed(made))
      return {made, "our own streams on its device could not be made"};
    q = the_proxy().add_queue(id, s.where());
  }
  if (!q) return {status::out_of_memory, "host memory"};
  return put(*q, s.get(), std::move(op), holds);
}

bool idle() noexcept {
  return the_proxy().idle();
}

int take_failure(void* native) noexcept {
  device::backend* const owner = device::active_backend();
  return owner ? the_proxy().take_failure(id_of(*owner, native)) : 0;
}

bool in_proxy() noexcept {
  return is_proxy;
}

void stop() noexcept {
  the_proxy().stop();
  release_words();
}

}  // namespace telpher::stream
