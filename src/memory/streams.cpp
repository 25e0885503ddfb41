// SPDX-License-Identifier: BSD-3-Clause
// Our streams and events: one stream for each role on a device, created at first use, and a free
// list of events. All live until shut_down.
#include "memory/streams.hpp"

#include <array>
#include <mutex>
#include <vector>

#include "base/clock.hpp"
#include "base/lasting.hpp"
#include "base/trace.hpp"
#include "memory/held_streams.hpp"

namespace telpher::memory {
namespace {

constexpr auto roles = static_cast<std::size_t>(stream_role::count_);

struct device_objects {
  place where;
  std::array<device::stream, roles> streams;
  std::vector<device::event> free_events;
};

std::mutex guard;
lasting<std::vector<device_objects>> table;

device_objects& objects_of(const place& p) {
  for (device_objects& d : *table)
    if (d.where == p) return d;
  table->push_back({p, {}, {}});
  return table->back();
}

}  // namespace

result<device::stream> stream(const place& p, stream_role r) noexcept {
  std::lock_guard lock(guard);
  device::stream& s = objects_of(p).streams[static_cast<std::size_t>(r)];
  if (s) return s;
  auto made = p.owner->create_stream(p.device);
  if (!made) return made.error();
  s = *made;
  return s;
}

bool before_waits(const place& p) noexcept {
  return held_streams::instance().call_if_free([p] { p.owner->before_waits(p.device); });
}

status make_streams(const place& p) noexcept {
  for (std::size_t l = 0; l < roles; ++l) TELPHER_TRY(stream(p, static_cast<stream_role>(l)));
  return status::ok;
}

result<pooled_event> pooled_event::acquire(const place& p) noexcept {
  {
    std::lock_guard lock(guard);
    auto& free = objects_of(p).free_events;
    if (!free.empty()) {
      pooled_event e(p, free.back());
      free.pop_back();
      return e;
    }
  }
  auto made = p.owner->create_event(p.device);
  if (!made) return made.error();
  return pooled_event(p, *made);
}

void pooled_event::hold_stream() noexcept {
  if (!std::exchange(holds_, true)) held_streams::instance().begin();
}

void pooled_event::give_back() noexcept {
  if (!event_) return;
  {
    std::lock_guard lock(guard);
    objects_of(where_).free_events.push_back(event_);
  }
  event_ = {};
  if (std::exchange(holds_, false)) held_streams::instance().end();
}

status copy_and_wait(const place& p, void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == 0) return status::ok;
  auto s = stream(p, stream_role::copy);
  TELPHER_TRY(s);
  const std::uint64_t begin_ns = trace::on() ? now_ns() : 0;
  TELPHER_TRY(p.owner->copy(to, from, bytes, *s));
  const status waited = p.owner->synchronise(*s);
  if (begin_ns != 0) [[unlikely]]
    trace::record(
        "copy", "copy", begin_ns, now_ns(),
        trace::facts().add("bytes", static_cast<long long>(bytes)).add("device", p.device));
  return waited;
}

status clear_and_wait(const place& p, void* from, std::size_t bytes) noexcept {
  auto s = stream(p, stream_role::copy);
  TELPHER_TRY(s);
  TELPHER_TRY(p.owner->fill(from, 0, bytes, *s));
  return p.owner->synchronise(*s);
}

void wait_for(const place& p, stream_role r) noexcept {
  [[maybe_unused]] status ignored = status::ok;
  if (auto s = stream(p, r)) ignored = p.owner->synchronise(*s);
}

void release_streams() noexcept {
  std::lock_guard lock(guard);
  for (device_objects& d : *table) {
    for (device::event e : d.free_events) d.where.owner->destroy_event(e);
    for (device::stream s : d.streams)
      if (s) d.where.owner->destroy_stream(s);
  }
  table->clear();
}

}  // namespace telpher::memory
