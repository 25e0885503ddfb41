// SPDX-License-Identifier: BSD-3-Clause
#include "path/matched_room.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "base/lasting.hpp"
#include "memory/held_streams.hpp"
#include "memory/memory.hpp"
#include "memory/streams.hpp"
#include "path/exported.hpp"

namespace telpher::path {

/// The waiters of one room. They outlive the room while a kernel is not over.
struct matched_room::waiters {
  memory::buffer ended;                 // pinned, a word of 64 bits for each
  std::vector<std::uint32_t> launched;  // under guard
  bool held = false;                    // under guard

  std::uint64_t* word(std::size_t i) const noexcept {
    return static_cast<std::uint64_t*>(ended.data()) + i;
  }
  /// Launches of the waiter that has most.
  int under_way() const noexcept {
    std::int32_t most = 0;
    for (std::size_t i = 0; i < launched.size(); ++i) {
      const std::uint64_t count = std::atomic_ref(*word(i)).load(std::memory_order_acquire);
      most = std::max(most,
                      static_cast<std::int32_t>(launched[i] - static_cast<std::uint32_t>(count)));
    }
    return most;
  }
};

namespace {

std::mutex guard;
lasting<std::vector<matched_room::waiters*>> holding;                    // under guard
lasting<std::vector<std::unique_ptr<matched_room::waiters>>> left_over;  // of rooms that are gone

// Ends the holds of those whose kernels are over. Frees nothing: it may be asked for by a call that
// frees memory.
void look_at_waiters() noexcept {
  const std::lock_guard lock(guard);
  std::erase_if(*holding, [](matched_room::waiters* w) {
    if (w->under_way() > 0) return false;
    w->held = false;
    memory::held_streams::instance().end();
    return true;
  });
}

// Those of a room that is gone.
void keep_while_held(std::unique_ptr<matched_room::waiters> of) noexcept {
  const std::lock_guard lock(guard);
  if (of->held) left_over->push_back(std::move(of));
}

void free_left_over() {
  std::vector<std::unique_ptr<matched_room::waiters>> over;  // is destroyed after the lock
  const std::lock_guard lock(guard);
  const auto first =
      std::partition(left_over->begin(), left_over->end(), [](const auto& w) { return w->held; });
  over.assign(std::make_move_iterator(first), std::make_move_iterator(left_over->end()));
  left_over->erase(first, left_over->end());
}

result<std::unique_ptr<matched_room::waiters>> make_waiters(const memory::place& where,
                                                            std::size_t count) noexcept {
  auto words = memory::buffer::for_kernels(std::max<std::size_t>(count, 1) * sizeof(std::uint64_t),
                                           where.owner);
  TELPHER_TRY(words);
  std::memset(words->data(), 0, words->size());
  try {
    free_left_over();
    auto made = std::make_unique<matched_room::waiters>();
    made->launched.resize(count);
    made->ended = std::move(*words);
    return made;
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

}  // namespace

result<std::shared_ptr<matched_room>> matched_room::make(const memory::place& where,
                                                         std::size_t bytes,
                                                         std::size_t waiters) noexcept {
  if (!where.owner->kernels_may_wait(where.device)) return status::not_supported;
  static_cast<void>(memory::before_waits(where));
  auto words = make_waiters(where, waiters);
  TELPHER_TRY(words);
  auto memory = where.owner->allocate_flags(where.device, bytes);
  TELPHER_TRY(memory);
  const std::shared_ptr<matched_room> made(new (std::nothrow) matched_room(where));
  if (!made) {
    static_cast<void>(where.owner->release(where.device, *memory));
    return status::out_of_memory;
  }
  made->waiters_ = std::move(*words);
  made->base_ = static_cast<std::byte*>(*memory);
  device::pointer_info info;
  memory::classify(made->base_, info);
  TELPHER_TRY(export_region({where, made->base_, bytes}, info, made->exported_));
  TELPHER_TRY(memory::clear_and_wait(where, made->base_, bytes));
  TELPHER_TRY(memory::make_streams(where));  // and loads our kernels: a launch must not wait
  return made;
}

matched_room::matched_room(const memory::place& where) noexcept : where_(where) {}

matched_room::~matched_room() {
  if (captured_) memory::held_streams::instance().end();
  look_at_waiters();
  if (waiters_) keep_while_held(std::move(waiters_));
  if (base_)
    memory::held_streams::instance().call_when_free([where = where_, base = base_] {
      static_cast<void>(where.owner->release(where.device, base));
    });
}

void matched_room::captured() noexcept {
  if (!std::exchange(captured_, true)) memory::held_streams::instance().begin();
}

std::uint64_t* matched_room::ended(std::size_t waiter) const noexcept {
  return waiters_->word(waiter);
}

int matched_room::under_way() noexcept {
  const std::lock_guard lock(guard);
  int sum = 0;
  for (const waiters* w : *holding) sum += w->under_way();
  return sum;
}

// Asked for before the kernel may be launched, so that no call that would wait for it begins.
void matched_room::count_launch(std::size_t first, std::size_t count, int change) noexcept {
  auto& streams = memory::held_streams::instance();
  streams.ask_by(look_at_waiters);
  const std::lock_guard lock(guard);
  for (std::size_t i = first; i < first + count; ++i)
    waiters_->launched[i] += static_cast<std::uint32_t>(change);
  if (std::exchange(waiters_->held, true)) return;
  streams.begin();
  holding->push_back(waiters_.get());
}

}  // namespace telpher::path
