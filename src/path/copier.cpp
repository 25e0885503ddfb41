// SPDX-License-Identifier: BSD-3-Clause
#include "path/copier.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/lasting.hpp"
#include "base/log.hpp"
#include "base/recycled.hpp"
#include "base/stall_clock.hpp"
#include "base/trace.hpp"
#include "device/registry.hpp"
#include "path/exported.hpp"
#include "path/table.hpp"

namespace telpher::path {
namespace {

// Copies are gathered up to this limit before a kernel is launched: a launch costs the host 4 us,
// in which a link moves more than a megabyte. While running kernels have `busy_bytes` left to do,
// starting another one soon gains nothing, and it may be larger.
constexpr std::size_t gather_pieces = 64;
constexpr std::size_t gather_bytes = std::size_t{1} << 20;
constexpr std::size_t busy_bytes = std::size_t{2} << 20;
constexpr std::size_t gather_bytes_busy = std::size_t{4} << 20;
// A link needs as long for this much (11 us) as the host needs for a launch and for finding the
// rest of a window of messages.
constexpr std::size_t first_bytes = std::size_t{4} << 20;

lasting<std::vector<std::unique_ptr<copier>>> all;

}  // namespace

// --- a message that the receiver's device gets ---

namespace {

/// local and ipc_get; the copier says by which of its ways the bytes went.
class get_copy final : public transfer, public recycled<get_copy> {
 public:
  get_copy(const memory::place& mover, const region& to, const void* from, kind by) noexcept
      : copier_(copier::on(mover)), by_(by) {
    job_.to = to.data;
    job_.from = from;
    job_.bytes = to.bytes;
    job_.near = to.where == mover;
    if (!to.where.on_device()) land(mover);
  }
  /// `mapping` is kept while the bytes move.
  void start(bool engine_only, memory::mapping mapping = {}) noexcept {
    job_.engine_only |= engine_only;
    mapping_ = std::move(mapping);
    copier_.enqueue(job_);
  }

  status poll() noexcept override {
    const status s = copier_.poll(job_);
    if (s == status::ok && landing_) std::memcpy(target_, landing_.data(), job_.bytes);
    return s;
  }
  kind moved_by() const noexcept override { return by_ == kind::local ? by_ : job_.moved_by(); }
  bool in_order() const noexcept override { return true; }
  bool owes_answer() const noexcept override { return true; }

 private:
  // A kernel takes less time for a small message than a copy of the driver, but may write to pinned
  // host memory only.
  void land(const memory::place& mover) noexcept {
    job_.engine_only = true;
    if (job_.bytes > config().landing_pinned_limit) return;
    auto landing = memory::buffer::for_kernels(job_.bytes, mover.owner);
    if (!landing) return;
    landing_ = std::move(*landing);
    target_ = std::exchange(job_.to, landing_.data());
    job_.engine_only = false;
  }

  copier& copier_;
  memory::mapping mapping_;
  memory::buffer landing_;  // of host memory, where a kernel moves the bytes
  void* target_ = nullptr;  // where they go then
  copy_job job_;
  kind by_;
};

// No back end can copy between its own memory and another back end's.
bool crosses_back_ends(const receive_end& e, const device::backend* owner) noexcept {
  return e.to.where.on_device() && e.to.where.owner != owner;
}

status begun(receive_end& e, std::unique_ptr<get_copy> copy) noexcept {
  e.transfer = std::move(copy);
  e.cell->set(e.epoch, slot_state::getting);
  return status::ok;
}

// A kernel can access memory of another device of this process only if peer access was enabled; a
// copy engine always can.
status get_local(receive_end& e) noexcept {
  const exported_memory& payload = e.cell->payload;
  const memory::place where{device::find(payload.owner), payload.device};
  if (e.cell->is_strided || crosses_back_ends(e, where.owner)) return status::not_supported;
  const memory::place& mover = e.to.where.on_device() ? e.to.where : where;
  auto copy = std::make_unique<get_copy>(
      mover, e.to, reinterpret_cast<const void*>(payload.address), kind::local);
  copy->start(!(mover == where));
  return begun(e, std::move(copy));
}

status get_imported(receive_end& e) noexcept {
  const exported_memory& payload = e.cell->payload;
  if (e.cell->is_strided || crosses_back_ends(e, device::find(payload.owner)))
    return status::not_supported;
  auto importer = importer_for(payload, e.to.where);
  TELPHER_TRY(importer);
  auto mapping = open_exported(e.peer, payload, *importer);
  TELPHER_TRY(mapping);
  const void* from = mapping->base() + (payload.address - payload.base);
  auto copy = std::make_unique<get_copy>(*importer, e.to, from, kind::ipc_get);
  copy->start(false, std::move(*mapping));
  return begun(e, std::move(copy));
}

}  // namespace

constinit const record local_path{
    .name = kind::local, .between = process, .when = use::always, .start_receive = get_local};
constinit const record ipc_get_path{
    .name = kind::ipc_get, .between = node, .when = use::always, .start_receive = get_imported};
// How the copies of both are made is chosen below, for all that wait.
constinit const record batch_path{
    .name = kind::batch, .between = by_copier, .when = use::unless_other, .sizes = batch_sizes};
constinit const record linger_path{
    .name = kind::linger, .between = by_copier, .when = use::unless_other, .sizes = linger_sizes};

// --- the copies of a device ---

copier::copier(const memory::place& where) noexcept
    : where_(where), batch_(where), linger_(where) {}

copier& copier::on(const memory::place& where) noexcept {
  for (const auto& p : *all)
    if (p->where_ == where) return *p;
  return *all->emplace_back(std::make_unique<copier>(where));
}

void copier::flush_all(const outlook& o) noexcept {
  for (const auto& p : *all) p->flush(o);
}

std::size_t copier::bytes_to_start_with() noexcept {
  const bool moving = std::any_of(all->begin(), all->end(),
                                  [](const auto& p) { return p->batch_.in_flight() > 0; });
  return moving ? std::numeric_limits<std::size_t>::max() : first_bytes;
}

void copier::shut_down() noexcept {
  all->clear();
}

void copier::enqueue(copy_job& job) noexcept {
  job.moved_by_ = kind::none;
  job.engine_status_ = status::would_block;
  queued_.push_back(&job);
  queued_bytes_ += job.bytes;
}

// --- start ---

bool copier::gathers(const outlook& o) const noexcept {
  if (!o.more) return false;
  const bool busy = batch_.bytes_in_flight() >= busy_bytes;
  if (queued_bytes_ >= (busy ? gather_bytes_busy : gather_bytes)) return false;
  if (queued_.size() >= gather_pieces) return false;
  return o.coming || batch_.in_flight() > 0;
}

void copier::flush(const outlook& o) noexcept {
  ++pass_;
  if (queued_.empty() || gathers(o)) return;
  if (trace::on()) [[unlikely]]
    for (copy_job* j : queued_) j->started_ns_ = now_ns();
  const auto batchable = [](const copy_job* j) {
    return !j->engine_only && (forced() == kind::batch || batch_sizes.holds(j->bytes));
  };
  const auto middle = std::stable_partition(queued_.begin(), queued_.end(), batchable);
  const auto small = static_cast<std::size_t>(middle - queued_.begin());
  const bool one_will_do = o.others || forced() == kind::batch;
  const std::size_t fewest = one_will_do ? 1 : static_cast<std::size_t>(config().batch_minimum);
  std::size_t started = 0;
  if (allowed(kind::batch) && small >= fewest) {
    while (started < small) {
      const std::size_t n = std::min<std::size_t>(small - started, kernel::copy_batch::capacity);
      if (!start_batch(queued_.data() + started, n)) break;
      started += n;
    }
  }
  for (; started < queued_.size(); ++started) start_single(*queued_[started]);
  queued_.clear();
  queued_bytes_ = 0;
}

void copier::start_single(copy_job& job) noexcept {
  if (!start_by_linger(job)) start_engine(job);
}

bool copier::start_by_linger(copy_job& job) noexcept {
  if (!wants_linger(job)) return false;
  if (trace::on()) [[unlikely]]
    job.started_ns_ = now_ns();
  const auto sequence = linger_.submit(job.to, job.from, job.bytes, job.near);
  if (!sequence) return false;
  job.sequence_ = *sequence;
  job.moved_by_ = kind::linger;
  return true;
}

status copier::copy_by_linger(const memory::place& where, void* to, const void* from,
                              std::size_t bytes, bool near) noexcept {
  copy_job job;
  job.to = to;
  job.from = from;
  job.bytes = bytes;
  job.near = near;
  copier& c = on(where);
  if (!c.start_by_linger(job)) return status::not_supported;
  stall_clock clock;
  for (;; pause(clock.polls(), brisk)) {
    if (const status s = c.poll(job); s != status::would_block) return s;
    if (clock.warns())
      TELPHER_WARN("a copy of %zu bytes waits for the device, whose kernel for it does not run",
                   job.bytes);
  }
}

bool copier::wants_linger(const copy_job& job) noexcept {
  if (job.engine_only || !allowed(kind::linger) || !linger_sizes.holds(job.bytes)) return false;
  return (forced() == kind::linger && config().linger != "off") ||
         (burst_.goes_on(where_) && burst_.pays(linger_.served()));
}

void copier::start_engine(copy_job& job) noexcept {
  job.moved_by_ = kind::ipc_get;
  // Two streams in turn: the start-up cost of one copy is hidden behind the other's bytes. If one
  // has more to do, the other: copies over a slow link do not hold those over another one.
  const std::size_t first = engine_[0].running.size(), second = engine_[1].running.size();
  job.engine_ = first != second ? first > second : static_cast<int>(next_engine_++ % 2);
  const auto role = job.engine_ ? memory::stream_role::in : memory::stream_role::copy;
  const status s = [&]() -> status {
    TELPHER_TRY(memory::pooled_event::acquire(where_).into(job.event_));
    auto stream = memory::stream(where_, role);
    TELPHER_TRY(stream);
    TELPHER_TRY(where_.owner->copy(job.to, job.from, job.bytes, *stream));
    return job.event_.record(*stream);
  }();
  if (s == status::ok) return engine_[job.engine_].running.push_back(&job);
  job.engine_status_ = s;
  memory::wait_for(where_, role);  // the copy itself may be running
}

bool copier::start_batch(copy_job** jobs, std::size_t count) noexcept {
  kernel::copy_batch::piece pieces[kernel::copy_batch::capacity] = {};
  for (std::size_t i = 0; i < count; ++i) pieces[i] = {jobs[i]->to, jobs[i]->from, jobs[i]->bytes};
  auto first = batch_.launch(pieces, count);
  if (!first) return false;
  for (std::size_t i = 0; i < count; ++i) {
    jobs[i]->batch_ = {first->batch, static_cast<std::uint16_t>(i)};
    jobs[i]->moved_by_ = kind::batch;
  }
  return true;
}

// --- watch ---

// In the trace a copy ends when its end was seen.
status copier::poll(copy_job& job) noexcept {
  const status s = look(job);
  if (s != status::would_block && job.started_ns_ != 0) [[unlikely]] {
    trace::facts f;
    f.add("bytes", static_cast<long long>(job.bytes)).add("device", where_.device);
    trace::record("copy", to_string(job.moved_by_), job.started_ns_, now_ns(), f);
    job.started_ns_ = 0;
  }
  return s;
}

status copier::look(copy_job& job) noexcept {
  switch (job.moved_by_) {
    case kind::none:
      return status::would_block;  // starts at the next flush
    case kind::batch:
      return batch_.poll(job.batch_, job.bytes);
    case kind::linger:
      return linger_.poll(job.sequence_);
    default:
      break;
  }
  if (job.engine_status_ == status::would_block) look_at(job.engine_);
  return job.engine_status_;
}

void copier::look_at(int engine) noexcept {
  engine_stream& s = engine_[engine];
  if (s.looked_at == pass_) return;
  s.looked_at = pass_;
  while (!s.running.empty()) {
    copy_job& oldest = *s.running.front();
    oldest.engine_status_ = oldest.event_.query();
    if (oldest.engine_status_ == status::would_block) return;
    s.running.pop_front();
  }
}

}  // namespace telpher::path
