// SPDX-License-Identifier: BSD-3-Clause
#include "path/matched_room.hpp"

#include <mutex>
#include <new>
#include <vector>

#include "base/lasting.hpp"
#include "memory/held_streams.hpp"
#include "memory/streams.hpp"
#include "path/pull.hpp"

namespace telpher::path {

result<std::shared_ptr<matched_room>> matched_room::make(const memory::place& where,
                                                         std::size_t bytes) noexcept {
  if (!where.owner->kernels_may_wait(where.device)) return status::not_supported;
  auto memory = where.owner->allocate_flags(where.device, bytes);
  TELPHER_TRY(memory);
  const std::shared_ptr<matched_room> made(new (std::nothrow) matched_room(where));
  if (!made) {
    static_cast<void>(where.owner->release(where.device, *memory));
    return status::out_of_memory;
  }
  made->base_ = static_cast<std::byte*>(*memory);
  device::pointer_info info;
  memory::classify(made->base_, info);
  TELPHER_TRY(export_region({where, made->base_, bytes}, info, made->exported_));
  if (!made->exported_.exportable) return status::not_supported;
  TELPHER_TRY(memory::clear_and_wait(where, made->base_, bytes));
  TELPHER_TRY(memory::make_streams(where));  // and loads our kernels: a launch must not wait
  return made;
}

matched_room::~matched_room() {
  if (captured_) memory::held_streams::instance().end();
  if (base_)
    memory::held_streams::instance().call_when_free([where = where_, base = base_] {
      static_cast<void>(where.owner->release(where.device, base));
    });
}

void matched_room::captured() noexcept {
  if (!std::exchange(captured_, true)) memory::held_streams::instance().begin();
}

// --- streams that wait ---

namespace {

std::mutex guard;
lasting<std::vector<memory::pooled_event>> behind_waits;  // under guard

// Ends the hold of those whose kernels are over.
void look_at_waits() noexcept {
  const std::lock_guard lock(guard);
  std::erase_if(*behind_waits, [](const memory::pooled_event& e) {
    if (e.query() == status::would_block) return false;
    memory::held_streams::instance().end();
    return true;
  });
}

// After the launch of a kernel that waits. Without an event the stream stays held.
void end_hold_after(const memory::place& where, device::stream s) noexcept {
  auto event = memory::pooled_event::acquire(where);
  if (!event || failed(event->record(s))) return;
  const std::lock_guard lock(guard);
  behind_waits->push_back(std::move(*event));
}

}  // namespace

waiting_launch::waiting_launch(const memory::place& where, device::stream s, bool captured) noexcept
    : where_(where), stream_(s), captured_(captured) {
  if (captured_) return;
  look_at_waits();
  auto& held = memory::held_streams::instance();
  held.ask_by(look_at_waits);
  held.begin();
}

waiting_launch::~waiting_launch() {
  if (!captured_) end_hold_after(where_, stream_);
}

}  // namespace telpher::path
