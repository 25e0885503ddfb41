// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/runner.hpp"

#include <cstdio>
#include <new>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/exchange/exchange.hpp"

namespace telpher::coll::between {

runner::runner(room& r, call&& c) : room_(r), call_(std::move(c)) {
  auto common = exchange::lane::common(r.where);
  if (common) lane_ = std::move(*common);
  messages_.emplace(r, lane_ ? lane_.stream() : device::stream{});
  if (!lane_) messages_->fail(status::device_error);
  for (const step& s : call_.plan.steps)
    if (s.kind == step_kind::receive) messages_->expect(s.peer, s.to.count * call_.unit);
}

runner::~runner() {
  auto held = ticket::progress().lock();
  ticket::progress().dismiss(*this);
}

memory_ref runner::at(const span& s) const noexcept {
  const std::uint64_t offset = s.offset * call_.unit;
  if (s.where == space::input) return call_.input + offset;
  if (s.where == space::output) return call_.output + offset;
  return {room_.scratch_of(s.rank) + offset, room_.where};
}

// --- device work ---

/// An event behind all work that was given so far. Without one the work is waited for.
void runner::put_mark() {
  if (finished_ == work_ || (!marks_.empty() && marks_.back().work == work_)) return;
  const auto marked = [&]() -> status {
    if (!lane_) return status::device_error;
    auto event = memory::pooled_event::acquire(room_.where);
    TELPHER_TRY(event);
    TELPHER_TRY(event->record(lane_.stream()));
    marks_.push_back({work_, std::move(*event)});
    return status::ok;
  };
  const status s = marked();
  if (!failed(s)) return;
  keep(s);
  if (lane_) static_cast<void>(room_.where.owner->synchronise(lane_.stream()));
  marks_.clear();
  finished_ = work_;
}

bool runner::look_at_marks() noexcept {
  bool moved = false;
  for (; !marks_.empty(); marks_.pop_front(), moved = true) {
    const status s = marks_.front().event.query();
    if (s == status::would_block) break;
    keep(s);
    finished_ = marks_.front().work;
  }
  while (!images_.empty() && images_.front().work <= finished_) images_.pop_front();
  return moved;
}

bool runner::send_signals() noexcept {
  bool moved = false;
  for (; !signals_.empty(); signals_.pop_front(), moved = true) {
    if (signals_.front().after > finished_) break;
    room_.signal(signals_.front().peer, failing());
  }
  return moved;
}

status runner::copy(memory_ref to, memory_ref from, std::uint64_t bytes) noexcept {
  ++work_;
  return room_.where.owner->copy(to.at, from.at, bytes, lane_.stream());
}

result<std::byte*> runner::image_of(std::uint64_t bytes) {
  auto data = memory::buffer::device(room_.where, bytes);
  TELPHER_TRY(data);
  auto* const at = static_cast<std::byte*>(data->data());
  images_.push_back({work_ + 1, std::move(*data)});
  return at;
}

status runner::reduce(memory_ref to, const step& s, std::uint64_t bytes) {
  std::vector<const void*> sources;
  for (const span& source : s.sources) {
    memory_ref from = at(source);
    if (!(from.where == room_.where)) {
      auto made = image_of(bytes);
      TELPHER_TRY(made);
      TELPHER_TRY(copy({*made, room_.where}, from, bytes));
      from.at = *made;
    }
    sources.push_back(from.at);
  }
  const bool here = to.where == room_.where;
  std::byte* target = to.at;
  if (!here) {
    auto made = image_of(bytes);
    TELPHER_TRY(made);
    target = *made;
  }
  ++work_;
  // An image is kept for the last of the work that uses it.
  for (image& i : images_)
    if (i.work > finished_) i.work = work_ + (here ? 0 : 1);
  TELPHER_TRY(exchange::start_reduction(lane_, launched_, call_.by, target, sources, bytes));
  return here ? status::ok : copy(to, {target, room_.where}, bytes);
}

status runner::move(const step& s) {
  const memory_ref to = at(s.to);
  const std::uint64_t bytes = s.to.count * call_.unit;
  if (messages_->reads(to.at, bytes)) return status::would_block;
  if (failing()) return status::ok;
  keep(s.kind == step_kind::copy ? copy(to, at(s.sources[0]), bytes) : reduce(to, s, bytes));
  return status::ok;
}

// --- the walk ---

status runner::take_step(const step& s) {
  switch (s.kind) {
    case step_kind::copy:
    case step_kind::reduce:
      return move(s);
    case step_kind::signal:
      put_mark();
      signals_.push_back({work_, s.peer});
      return status::ok;
    case step_kind::send: {
      put_mark();
      const span& from = s.sources[0];
      messages_->send(s.peer, at(from).at, from.count * call_.unit, work_);
      return status::ok;
    }
    case step_kind::wait: {
      const status came = room_.wait(s.peer);
      awaited_ = came == status::would_block ? s.peer : -1;
      if (came == status::would_block) return came;
      keep(came);
      return status::ok;
    }
    case step_kind::receive:
      break;
  }
  const memory_ref to = at(s.to);
  if (messages_->reads(to.at, s.to.count * call_.unit)) return status::would_block;
  put_mark();
  TELPHER_TRY(messages_->receive(to.at, finished_ == work_));
  begun_ = true;
  ++work_;
  return status::ok;
}

/// Goes as far as it can; would_block: a step could not be taken yet.
status runner::walk() {
  for (; next_ < call_.plan.steps.size(); ++next_) TELPHER_TRY(take_step(call_.plan.steps[next_]));
  return status::ok;
}

bool runner::all_done() const noexcept {
  return next_ == call_.plan.steps.size() && finished_ == work_ && signals_.empty() &&
         messages_->idle();
}

/// The walk has no other way to fail than memory of the host.
bool runner::advance() noexcept {
  if (done_) return false;
  const std::size_t before = next_;
  bool moved = look_at_marks();
  try {
    if (walk() == status::ok) put_mark();
    moved = look_at_marks() || moved;
    moved = send_signals() || moved;
    moved = messages_->advance(finished_) || moved;
  } catch (const std::bad_alloc&) {
    keep(status::out_of_memory);
  }
  done_ = all_done();
  if (!done_) look_at_clock(moved || next_ != before);
  return !done_;
}

/// A peer that has come and then stands still is taken for lost.
void runner::look_at_clock(bool moved) noexcept {
  if (moved) return still_.moved();
  if (!begun_ || !still_.expired(config().transfer_timeout)) return;
  char text[160];
  describe(text, sizeof text);
  TELPHER_ERROR("%s: nothing has moved for %.0f s: %s", call_.name,
                config().transfer_timeout.value / 1e6, text);
  keep(status::peer_lost);
  room_.abandon();
  done_ = true;
}

void runner::describe(char* text, std::size_t size) const noexcept {
  const std::size_t steps = call_.plan.steps.size();
  if (awaited_ >= 0)
    std::snprintf(text, size,
                  "%s, step %zu of %zu, until rank %d of its communicator has come there",
                  call_.name, next_, steps, awaited_);
  else
    std::snprintf(text, size, "%s, step %zu of %zu, until a message of rank %d has come or gone",
                  call_.name, next_, steps, messages_->awaited());
}

void runner::report(log::level at) const noexcept {
  char text[160];
  describe(text, sizeof text);
  log::write(at, TELPHER_SUBSYSTEM, "  %s", text);
}

status run_blocking(room& r, call&& c) noexcept {
  if (r.abandoned()) return status::peer_lost;
  try {
    const char* const name = c.name;
    runner one(r, std::move(c));
    auto& e = ticket::progress();
    auto held = e.lock();
    e.enlist(one);
    e.wait_until(held, name, [&] { return one.done(); });
    return one.outcome();
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

}  // namespace telpher::coll::between
