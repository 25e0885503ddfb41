// SPDX-License-Identifier: BSD-3-Clause
#include "rma/under_way.hpp"

#include <cstring>
#include <utility>

#include "base/settings.hpp"
#include "path/table.hpp"
#include "rma/rma.hpp"

namespace telpher::rma {
namespace {

using datatype::elements;

// Without gaps, and where the device reaches it: its own memory, which mapped memory of a peer
// counts as, or what is small enough for pinned memory in its place.
bool in_reach(const elements& e, const memory::place& device) noexcept {
  if (!e.one_run()) return false;
  return e.at.where.on_device() ? e.at.where == device : e.bytes() <= config().landing_pinned_limit;
}

std::byte* run_of(const elements& e) noexcept {
  return e.at.data + e.type.true_lower_bound;
}

}  // namespace

result<std::uint64_t> under_way::start(int target, const elements& from, const elements& to,
                                       memory::mapping& mapping, std::shared_ptr<answer> told) {
  const memory::place& device = to.at.where.on_device() ? to.at.where : from.at.where;
  if (!device.on_device() || !in_reach(from, device) || !in_reach(to, device))
    return status::not_supported;
  const std::size_t bytes = from.bytes();
  const bool writes_host = !to.at.where.on_device(), reads_host = !from.at.where.on_device();
  memory::buffer pinned;
  if (writes_host || reads_host) {
    if (failed(memory::buffer::for_kernels(bytes, device.owner).into(pinned)))
      return status::not_supported;
    if (reads_host) std::memcpy(pinned.data(), run_of(from), bytes);
  }
  wait_for_room();
  const auto held = progress_.lock();
  const path::copier::outlook outlook = outlook_for(bytes);
  moving& m = at(target).copies.emplace_back();
  m.job.to = writes_host ? pinned.data() : run_of(to);
  m.job.from = reads_host ? pinned.data() : run_of(from);
  m.job.bytes = bytes;
  if (writes_host) m.to_host = run_of(to);
  m.pinned = std::move(pinned);
  m.mapping = std::move(mapping);
  m.told = std::move(told);
  m.by = &path::copier::on(device);
  m.by->enqueue(m.job);
  m.by->flush(outlook);
  ++count_;
  progress_.enlist(*this);
  return ++at(target).started;
}

// Where the copy before was alone the next one probably is, too, and starts at once. Where others
// came behind it, the start of the first one would cost a launch of its own. Beside others even a
// single large one goes by a kernel: later ones are gathered behind it, as messages are.
path::copier::outlook under_way::outlook_for(std::size_t bytes) noexcept {
  const bool first = count_ == 0;
  const bool alone = first && run_ == 1;
  run_ = first ? 1 : run_ + 1;
  return {.others = !first, .more = !alone && path::batch_sizes.holds(bytes), .coming = true};
}

status under_way::finish(int target, const char* call) noexcept {
  if (target != everyone) return finish_one(target, call);
  status first = status::ok;
  for (int t = 0; t < static_cast<int>(targets_.size()); ++t) {
    const status s = finish_one(t, call);
    if (!failed(first)) first = s;
  }
  return first;
}

status under_way::finish_one(int target, const char* call) noexcept {
  std::uint64_t last = 0;
  {
    const auto held = progress_.lock();
    last = at(target).started;
    if (at(target).ended == last) return std::exchange(at(target).error, status::ok);
  }
  progress_.wait_unlocked(call, [&] { return ended(target, last); });
  const auto held = progress_.lock();
  return std::exchange(at(target).error, status::ok);
}

bool under_way::ended(int target, std::uint64_t number) noexcept {
  const auto held = progress_.lock();
  if (at(target).ended >= number) return true;
  look();
  return at(target).ended >= number;
}

void under_way::give_up(int target, answer& told) noexcept {
  const auto held = progress_.lock();
  told.given_up = true;
  if (failed(told.outcome) && told.outcome != status::would_block) at(target).fail(told.outcome);
}

void under_way::look() noexcept {
  path::copier::flush_all({});
  if (!advance()) progress_.dismiss(*this);
}

void under_way::wait_for_room() noexcept {
  progress_.wait_unlocked("a put or get", [&] {
    const auto held = progress_.lock();
    if (count_ >= most) look();
    return count_ < most;
  });
}

bool under_way::advance() noexcept {
  for (list& one : targets_)
    for (; !one.copies.empty(); one.copies.pop_front(), ++one.ended, --count_) {
      moving& m = one.copies.front();
      const status s = m.by->poll(m.job);
      if (s == status::would_block) break;
      one.end(m, s);
    }
  return count_ > 0;
}

void under_way::report(log::level at) const noexcept {
  for (std::size_t t = 0; t < targets_.size(); ++t)
    if (const list& one = targets_[t]; !one.copies.empty())
      log::write(at, TELPHER_SUBSYSTEM,
                 "  %zu puts and gets of a window at its rank %zu, of %llu so far",
                 one.copies.size(), t, static_cast<unsigned long long>(one.started));
}

void under_way::list::end(moving& m, status s) noexcept {
  if (s == status::ok && m.to_host) std::memcpy(m.to_host, m.pinned.data(), m.job.bytes);
  if (m.told) m.told->outcome = s;
  if (!m.told || m.told->given_up) fail(s);
}

}  // namespace telpher::rma
