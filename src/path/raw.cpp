// SPDX-License-Identifier: BSD-3-Clause
// raw: copied to host memory, sent as an ordinary message, copied to the device.
#include <cstring>

#include "path/copier.hpp"
#include "path/table.hpp"

namespace telpher::path {
namespace {

// Bytes in pinned memory may be moved by a kernel, which takes less time than a copy of the driver.
// So a small message that landed elsewhere is copied there first.
class landed_copy final : public transfer {
 public:
  explicit landed_copy(const receive_end& e) noexcept : copier_(copier::on(e.to.where)) {
    job_.to = e.to.data;
    job_.from = e.landed;
    job_.bytes = e.to.bytes;
    job_.near = true;
    job_.engine_only = !e.landed_pinned;
    if (job_.engine_only && job_.bytes <= config().landing_pinned_limit) pin(e);
    copier_.enqueue(job_);
  }
  status poll() noexcept override { return copier_.poll(job_); }
  kind moved_by() const noexcept override { return kind::raw; }
  bool in_order() const noexcept override { return true; }

 private:
  void pin(const receive_end& e) noexcept {
    auto copy = memory::buffer::for_kernels(job_.bytes, e.to.where.owner);
    if (!copy) return;
    pinned_ = std::move(*copy);
    std::memcpy(pinned_.data(), e.landed, job_.bytes);
    job_.from = pinned_.data();
    job_.engine_only = false;
  }

  copier& copier_;
  memory::buffer pinned_;
  copy_job job_;
};

status take_memory(send_end& e) noexcept {
  if (e.keep) return status::ok;
  auto copy = memory::buffer::host(e.from.bytes, e.from.where.owner);
  TELPHER_TRY(copy);
  copy->filled();
  e.keep = std::move(*copy);
  return status::ok;
}

status copied(send_end& e) noexcept {
  e.bytes = e.keep.data();
  count(kind::raw, e.from.bytes);
  return status::ok;
}

bool raw_serves(send_end& e) noexcept {
  return !e.may_announce || forced() == kind::raw ||
         (may_wait_for(e) && !e.near && !between_nodes(forced()));
}

// The kernel that stays takes 4 us for what takes the driver about 10.
status raw_send_by_kernel(send_end& e) noexcept {
  if (!linger_sizes.holds(e.from.bytes)) return status::not_supported;
  TELPHER_TRY(take_memory(e));
  if (!e.keep.pinned()) return status::not_supported;
  TELPHER_TRY(copier::copy_by_linger(e.from.where, e.keep.data(), e.from.data, e.from.bytes));
  return copied(e);
}

status raw_send(send_end& e) noexcept {
  TELPHER_TRY(take_memory(e));
  TELPHER_TRY(memory::copy_and_wait(e.from.where, e.keep.data(), e.from.data, e.from.bytes));
  return copied(e);
}

status raw_receive(receive_end& e) noexcept {
  e.transfer = std::make_unique<landed_copy>(e);
  return status::ok;
}

}  // namespace

constinit const record raw_path{.name = kind::raw,
                                .between = eager,
                                .when = use::always,
                                .sizes = raw_sizes,
                                .serves = raw_serves,
                                .start_send = raw_send,
                                .start_receive = raw_receive,
                                .send_by_kernel = raw_send_by_kernel};

}  // namespace telpher::path
