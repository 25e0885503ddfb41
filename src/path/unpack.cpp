// SPDX-License-Identifier: BSD-3-Clause
#include "path/unpack.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/lasting.hpp"
#include "base/recycled.hpp"
#include "datatype/strided.hpp"
#include "datatype/unpack_plan.hpp"
#include "device/registry.hpp"
#include "memory/streams.hpp"
#include "path/exported.hpp"
#include "path/neighbours.hpp"
#include "path/table.hpp"

namespace telpher::path {
namespace {

/// A kernel for one message or several.
struct launch {
  memory::pooled_event end;
  status outcome = status::would_block;

  status look() noexcept {
    if (outcome == status::would_block) outcome = end.query();
    return outcome;
  }
};

class unpacking final : public transfer, public recycled<unpacking> {
 public:
  unpacking(const datatype::unpack_plan& p, memory::mapping m) noexcept
      : plan_(p), mapping_(std::move(m)) {}
  ~unpacking() override;

  const datatype::unpack_plan& plan() const noexcept { return plan_; }
  void started(std::shared_ptr<launch> by) noexcept { by_ = std::move(by); }

  status poll() noexcept override { return by_ ? by_->look() : status::would_block; }
  kind moved_by() const noexcept override { return kind::ipc_unpack; }
  bool in_order() const noexcept override { return true; }
  bool owes_answer() const noexcept override { return true; }

 private:
  datatype::unpack_plan plan_;
  memory::mapping mapping_;  // of the sender's memory
  std::shared_ptr<launch> by_;
};

class unpacker {
 public:
  explicit unpacker(const memory::place& where) noexcept : where_(where) {
    may_wait_on(where);  // announces to the other ranks that the device is used
  }
  static unpacker& on(const memory::place& where) noexcept;

  void enqueue(unpacking& one) noexcept { queued_.push_back(&one); }
  void forget(const unpacking& one) noexcept { std::erase(queued_, &one); }
  void flush() noexcept;

 private:
  // The second one is there when the first one ends; a third one would not begin earlier.
  static constexpr std::size_t most_running = 2;

  status start(std::size_t count, launch& by) noexcept;

  memory::place where_;
  std::vector<unpacking*> queued_;
  std::deque<std::shared_ptr<launch>> running_;
};

lasting<std::vector<std::unique_ptr<unpacker>>> all;

unpacker& unpacker::on(const memory::place& where) noexcept {
  for (const auto& u : *all)
    if (u->where_ == where) return *u;
  return *all->emplace_back(std::make_unique<unpacker>(where));
}

unpacking::~unpacking() {
  if (!by_)
    for (const auto& u : *all) u->forget(*this);
}

void unpacker::flush() noexcept {
  if (queued_.empty()) return;
  while (!running_.empty() && running_.front()->look() != status::would_block) running_.pop_front();
  while (!queued_.empty() && running_.size() < most_running) {
    const std::size_t n = std::min(queued_.size(), kernel::unpack_all::capacity);
    const auto by = std::make_shared<launch>();
    if (const status s = start(n, *by); s != status::ok) {
      memory::wait_for(where_, memory::stream_role::kernel);  // for a part of it
      by->outcome = s;
    } else {
      running_.push_back(by);
    }
    for (std::size_t i = 0; i < n; ++i) queued_[i]->started(by);
    queued_.erase(queued_.begin(), queued_.begin() + static_cast<std::ptrdiff_t>(n));
  }
}

status unpacker::start(std::size_t count, launch& by) noexcept {
  TELPHER_TRY(memory::pooled_event::acquire(where_).into(by.end));
  const auto s = memory::stream(where_, memory::stream_role::kernel);
  TELPHER_TRY(s);
  kernel::unpack_all k;
  std::uint64_t share = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const datatype::unpack_plan& p = queued_[i]->plan();
    k.each[i] = p.rows;
    share = std::max(share, p.blocks);
  }
  const std::uint64_t most = std::max<std::uint64_t>(queued_[0]->plan().most_blocks / count, 1);
  k.share = static_cast<std::uint32_t>(std::min(share, most));
  device::backend& owner = *where_.owner;
  constexpr int threads = datatype::unpack_plan::threads;
  TELPHER_TRY(count == 1 ? owner.launch(kernel::id::unpack_blocks, &k.each[0],
                                        static_cast<int>(k.share), threads, *s)
                         : owner.launch(kernel::id::unpack_all, &k,
                                        static_cast<int>(k.share * count), threads, *s));
  return by.end.record(*s);
}

/// The payload where kernels of the receiver's device reach it.
result<opened_memory> reach(const receive_end& e) noexcept {
  const exported_memory& payload = e.cell->payload;
  if (e.between == node) return open_for(e.peer, payload, e.to.where);
  if (!(e.to.where == memory::place{device::find(payload.owner), payload.device}))
    return status::not_supported;
  return opened_memory{{}, reinterpret_cast<std::byte*>(payload.address)};
}

status begin(receive_end& e) noexcept {
  if (!e.plan || !e.to.where.on_device()) return status::not_supported;
  const exported_memory& payload = e.cell->payload;
  const bool strided = e.cell->is_strided != 0;
  const datatype::strided shape = e.cell->shape;  // the other process may change it
  if (strided && !shape.within(payload.address, e.to.bytes, payload.base, payload.allocation_bytes))
    return status::not_supported;
  auto from = reach(e);
  TELPHER_TRY(from);
  const auto s = memory::stream(e.to.where, memory::stream_role::kernel);
  TELPHER_TRY(s);
  const auto plan = e.plan(from->data, strided ? &shape : nullptr, *s, e.unpacks);
  TELPHER_TRY(plan);
  auto made = std::make_unique<unpacking>(*plan, std::move(from->mapping));
  unpacker::on(e.to.where).enqueue(*made);
  e.transfer = std::move(made);
  e.cell->set(e.epoch, slot_state::getting);
  return status::ok;
}

}  // namespace

constinit const record ipc_unpack_path{.name = kind::ipc_unpack,
                                       .between = process | node,
                                       .when = use::unless_other,
                                       .sizes = unpack_sizes,
                                       .start_receive = begin};

void flush_unpacking() noexcept {
  for (const auto& u : *all) u->flush();
}

void stop_unpacking() noexcept {
  all->clear();
}

}  // namespace telpher::path
