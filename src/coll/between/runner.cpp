// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/runner.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/between/sums.hpp"
#include "coll/exchange/exchange.hpp"

namespace telpher::coll::between {

runner::runner(room& r, call&& c, status mine, exchange::launch_context&& context) noexcept
    : running(r, std::move(c), stream_of(c, context), mine), context_(std::move(context)) {
  if (call_.on_host) {
    images_.emplace(*call_.plan, call_.unit, call_.input, call_.output);
    return;
  }
  loaded_ = stored_ = true;
  if (!context_) keep(status::device_error);
}

exchange::launch_context runner::context_for(const room& r, const call& c) noexcept {
  if (c.on_host) return {};
  auto common = exchange::launch_context::common(r.where);
  return common ? std::move(*common) : exchange::launch_context();
}

std::optional<device::stream> runner::stream_of(const call& c,
                                                const exchange::launch_context& of) noexcept {
  if (c.on_host) return std::nullopt;
  return of ? of.stream() : device::stream{};
}

/// Announces every message that will come.
void runner::expect() {
  for (; expected_ < steps().size(); ++expected_)
    if (const step& s = steps()[expected_]; s.kind == step_kind::receive)
      messages_.expect(s.peer, call_.how.travels(s.to.count * call_.unit));
}

std::byte* runner::at(const span& s) const noexcept {
  const std::uint64_t offset = s.offset * call_.unit;
  if (s.where == space::scratch) return room_.scratch_of(s.rank, call_.on_host) + offset;
  const bool in = s.where == space::input;
  if (images_) return (in ? images_->input() : images_->output()) + offset;
  return (in ? call_.input : call_.output).at + offset;
}

// --- in host memory ---

/// Loads or stores them, once. A rank that has failed moves nothing.
status runner::move_images(bool& done, status (images::*act)() noexcept) noexcept {
  if (done) return status::ok;
  const status s = failing() ? status::ok : ((*images_).*act)();
  if (s == status::would_block) return s;
  keep(s);
  done = true;
  return status::ok;
}

void runner::move_on_host(const step& s, std::byte* to, std::uint64_t bytes) {
  if (s.kind == step_kind::copy) {
    std::memcpy(to, at(s.sources[0]), bytes);
    return;
  }
  sources_.clear();
  for (const span& from : s.sources) sources_.push_back(at(from));
  reduce_on_host(call_.by, to, sources_, bytes);
}

// --- device work ---

/// Puts an event behind all work so far. Without memory for it the work is waited for.
void runner::put_mark() {
  if (finished_ == work_ || (!marks_.empty() && marks_.back().work == work_)) return;
  const auto marked = [&]() -> status {
    if (!context_) return status::device_error;
    auto event = memory::pooled_event::acquire(room_.where);
    TELPHER_TRY(event);
    TELPHER_TRY(event->record(context_.stream()));
    marks_.push_back({work_, std::move(*event)});
    return status::ok;
  };
  const status s = marked();
  if (!failed(s)) return;
  keep(s);
  if (context_) static_cast<void>(room_.where.owner->synchronise(context_.stream()));
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
  for (; !used_.empty() && used_.front().work <= finished_; used_.pop_front())
    if (used_.front().made_here && !failing())
      if (const auto e = used_.front().form->counted()) error_ = std::max(error_.value_or(*e), *e);
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

status runner::move_data(const step& s) {
  std::byte* const to = at(s.to);
  const std::uint64_t bytes = s.to.count * call_.unit;
  if (messages_.reads(to, bytes)) return status::would_block;
  if (failing()) return status::ok;
  if (images_) {
    move_on_host(s, to, bytes);
    return status::ok;
  }
  overwrite(to);
  ++work_;
  if (s.kind == step_kind::copy) {
    keep(room_.where.owner->copy(to, at(s.sources[0]), bytes, context_.stream()));
    return status::ok;
  }
  std::vector<const void*> sources;
  for (const span& from : s.sources) sources.push_back(at(from));
  keep(exchange::start_reduction(context_, launched_, call_.by, to, sources, bytes));
  return status::ok;
}

// --- messages ---

/// The compressed form of a span. The span itself is rounded to it, unless it is the program's.
std::shared_ptr<coded_form> runner::code(const span& from, const codec::plan& p) {
  std::byte* const place = at(from);
  if (const auto known = coded_.find(place); known != coded_.end()) return known->second;
  used& one = used_.emplace_back(used{not_given, nullptr, true});
  auto made = coded_form::made(room_.where, context_.stream(), p, place);
  if (!made) {
    used_.pop_back();
    keep(made.error());
    return nullptr;
  }
  one.form = *made;
  one.work = ++work_;
  if (from.where != space::scratch) return *made;
  coded_.emplace(place, *made);
  keep((*made)->decode(context_.stream(), place));
  one.work = ++work_;
  return *made;
}

void runner::send(const step& s) {
  const span& from = s.sources[0];
  const std::uint64_t bytes = from.count * call_.unit;
  const codec::plan p = call_.how.plan_for(bytes);
  const auto form = p && !failing() ? code(from, p) : nullptr;
  put_mark();
  messages_.send(s.peer, form ? form->data() : at(from), call_.how.travels(bytes), work_, form);
}

/// Memory for a compressed message to a place. Until it has come, landing_ is the only note of it.
void runner::make_landing(const span& to, const codec::plan& p) {
  std::byte* const place = at(to);
  auto made = coded_form::landing(room_.where, p);
  if (!made) return keep(made.error());
  overwrite(place);
  landing_ = &used_.emplace_back(used{not_given, *made, false});
  if (to.where == space::scratch) coded_.emplace(place, *made);
}

/// All that can throw comes before the message is taken, because it is taken only once.
status runner::receive(const step& s) {
  std::byte* const to = at(s.to);
  const std::uint64_t bytes = s.to.count * call_.unit;
  if (messages_.reads(to, bytes)) return status::would_block;
  const codec::plan p = call_.how.plan_for(bytes);
  if (p && !landing_ && !failing()) make_landing(s.to, p);
  put_mark();
  TELPHER_TRY(messages_.receive(landing_ ? landing_->form->data() : to, finished_ == work_));
  begun_ = true;
  if (images_) return status::ok;
  ++work_;
  used* const landed = std::exchange(landing_, nullptr);
  if (!landed) {
    overwrite(to);
    return status::ok;
  }
  landed->work = work_;
  if (failing()) return status::ok;
  keep(landed->form->decode(context_.stream(), to));
  landed->work = ++work_;
  return status::ok;
}

// --- the walk ---

status runner::take_step(const step& s) {
  switch (s.kind) {
    case step_kind::copy:
    case step_kind::reduce:
      return move_data(s);
    case step_kind::signal:
      put_mark();
      signals_.push_back({work_, s.peer});
      return status::ok;
    case step_kind::send:
      send(s);
      return status::ok;
    case step_kind::wait: {
      const status came = room_.wait(s.peer);
      awaited_ = came == status::would_block ? s.peer : -1;
      if (came == status::would_block) return came;
      begun_ = true;
      keep(came);
      return status::ok;
    }
    case step_kind::receive:
      break;
  }
  return receive(s);
}

/// Goes on as far as possible. would_block: the next step has to wait.
status runner::walk() {
  TELPHER_TRY(pack());
  TELPHER_TRY(move_images(loaded_, &images::load));
  for (; next_ < steps().size(); ++next_) TELPHER_TRY(take_step(steps()[next_]));
  TELPHER_TRY(move_images(stored_, &images::store));
  return unpack();
}

bool runner::at_end() const noexcept {
  return lost_ || (walked_ && finished_ == work_ && signals_.empty() && messages_.idle());
}

bool runner::move() {
  bool moved = look_at_marks();
  expect();
  walked_ = walk() == status::ok;
  if (walked_) put_mark();
  moved = look_at_marks() || moved;
  moved = send_signals() || moved;
  return messages_.advance(finished_) || moved;
}

void runner::describe(char* text, std::size_t size) const noexcept {
  const std::size_t count = steps().size();
  if (awaited_ >= 0)
    std::snprintf(text, size, "step %zu of %zu, until rank %d of its communicator has come there",
                  next_, count, awaited_);
  else
    std::snprintf(text, size, "step %zu of %zu, until a message of rank %d has come or gone", next_,
                  count, messages_.awaited());
}

}  // namespace telpher::coll::between
