// SPDX-License-Identifier: BSD-3-Clause
// The thread that serves relays. It starts with the first one, sleeps while there are none, and
// holds a mutex in each pass; who adds or removes one asks for the mutex first, so that the thread
// does not take it again at once. It takes the progress lock between passes only, without the
// mutex. When nothing moves it also moves the program's messages: a kernel that holds up this rank
// may wait for another one, which waits for a message from here.

#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "base/blocked_signals.hpp"
#include "base/lasting.hpp"
#include "base/pause.hpp"
#include "memory/held_streams.hpp"
#include "rma/relay.hpp"
#include "stream/processors.hpp"
#include "ticket/progress.hpp"

namespace telpher::rma::relays {
namespace {

constexpr long passes_between_looks = 16;

struct client {
  relay* of;
  bool retires = false;
};

struct server {
  std::mutex mutex;
  std::atomic<int> asking{0};
  std::vector<client> served;  // under the mutex
  std::condition_variable wake;
  std::thread thread;     // under the mutex
  bool stopping = false;  // under the mutex
};
lasting<server> the_server;

class turn {
 public:
  turn() noexcept {
    the_server->asking.fetch_add(1);
    the_server->mutex.lock();
    the_server->asking.fetch_sub(1);
  }
  ~turn() { the_server->mutex.unlock(); }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
};

// Functions of ours that the host MPI calls back in this thread must know that Telpher is at work
// here (mpi/handles.hpp). Else they would take the progress lock, beneath the mutex.
void run() noexcept {
  const ticket::held_lock at_work;
  memory::held_streams::make_none_here();
  stream::choose_processors();
  for (long idle_passes = 0;;) {
    bool moved = false;
    {
      std::unique_lock lock(the_server->mutex);
      the_server->wake.wait(lock,
                            [] { return the_server->stopping || !the_server->served.empty(); });
      if (the_server->stopping) return;
      std::erase_if(the_server->served, [&](const client& c) {
        const bool moves = c.of->serve();
        moved |= moves;
        return c.retires && !moves && c.of->at_rest();
      });
    }
    while (the_server->asking.load(std::memory_order_relaxed) > 0) sched_yield();
    idle_passes = moved ? 0 : idle_passes + 1;
    if (idle_passes % passes_between_looks == passes_between_looks - 1) {
      auto& progress = ticket::progress();
      const auto held = progress.lock();
      progress.poll();
    }
    pause(idle_passes);
  }
}

/// With the turn.
client* find(const relay& r) noexcept {
  for (client& c : the_server->served)
    if (c.of == &r) return &c;
  return nullptr;
}

bool start() noexcept {
  const blocked_signals blocked;
  try {
    the_server->thread = std::thread(run);
  } catch (const std::system_error&) {
  }
  return the_server->thread.joinable();
}

}  // namespace

bool add(relay& r) noexcept {
  const turn mine;
  if (client* const c = find(r)) {
    c->retires = false;
    return true;
  }
  try {
    the_server->served.push_back({&r});
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (the_server->thread.joinable() || start()) {
    the_server->wake.notify_one();
    return true;
  }
  the_server->served.pop_back();
  return false;
}

void remove(relay& r) noexcept {
  const turn mine;
  std::erase_if(the_server->served, [&](const client& c) { return c.of == &r; });
}

void retire(relay& r) noexcept {
  const turn mine;
  if (client* const c = find(r)) c->retires = true;
}

void stop() noexcept {
  std::thread over;
  {
    const turn mine;
    the_server->served.clear();
    the_server->stopping = true;
    the_server->wake.notify_one();
    over = std::move(the_server->thread);
  }
  if (over.joinable()) over.join();
  the_server->stopping = false;
}

}  // namespace telpher::rma::relays
