// SPDX-License-Identifier: BSD-3-Clause
// raw: copied to host memory, sent as an ordinary message, copied to the device.
#include "path/eager.hpp"
#include "path/staged.hpp"

namespace telpher::path {
namespace {

class landed_copy final : public transfer {
 public:
  landed_copy(const region& to, const void* from) noexcept
      : copies_(to.where, memory::lane::in), started_(copies_.start(to.data, from, to.bytes)) {}
  status poll() noexcept override {
    TELPHER_TRY(started_);
    auto finished = copies_.finished();
    TELPHER_TRY(finished);
    return *finished ? status::ok : status::would_block;
  }
  kind moved_by() const noexcept override { return kind::raw; }

 private:
  block_copies copies_;
  status started_;
};

}  // namespace

bool raw_serves(send_end& e) noexcept {
  return !e.may_announce || forced() == kind::raw ||
         (may_wait_for(e) && !e.near && !between_nodes(forced()) && raw_sizes.holds(e.from.bytes));
}

status raw_send(send_end& e) noexcept {
  auto copy = memory::buffer::host(e.from.bytes, e.from.where.owner);
  TELPHER_TRY(copy);
  copy->filled();
  TELPHER_TRY(memory::copy_and_wait(e.from.where, copy->data(), e.from.data, e.from.bytes));
  e.keep = std::move(*copy);
  e.bytes = e.keep.data();
  count(kind::raw, e.from.bytes);
  return status::ok;
}

status raw_receive(receive_end& e) noexcept {
  e.transfer = std::make_unique<landed_copy>(e.to, e.landed);
  return status::ok;
}

}  // namespace telpher::path
