// SPDX-License-Identifier: BSD-3-Clause
// mapped: the CPU loads and stores device memory through a window, without a driver call.
#include "path/table.hpp"

namespace telpher::path {
namespace {

bool mapped_serves(send_end& e) noexcept {
  if (!mapped_sizes.holds(e.from.bytes) || !may_wait_for(e)) return false;
  e.window = memory::open_window(e.from.where, *e.info, e.from.data);
  return e.window && (e.window.direct() || e.from.bytes <= config().mapped_read_limit);
}

status mapped_send(send_end& e) noexcept {
  if (e.window.direct()) {
    e.bytes = e.window.data();
    e.keep = std::move(*e.packed);
  } else {
    TELPHER_TRY(memory::buffer::host(e.from.bytes, e.from.where.owner).into(e.keep));
    e.window.load(e.keep.data(), e.from.bytes);
    e.bytes = e.keep.data();
  }
  count(kind::mapped, e.from.bytes);
  return status::ok;
}

status mapped_receive(receive_end& e) noexcept {
  if (!e.in_place || !mapped_sizes.holds(e.to.bytes)) return status::not_supported;
  auto info = memory::describe(e.to.where, e.to.data);
  TELPHER_TRY(info);
  if (!inside(e.to, *info)) return status::not_supported;  // a window shows one chunk
  const auto window = memory::open_window(e.to.where, *info, e.to.data);
  if (!window) return status::not_supported;
  window.store(e.landed, e.to.bytes);
  return status::ok;
}

}  // namespace

constinit const record mapped_path{.name = kind::mapped,
                                   .between = eager,
                                   .when = use::unless_other,
                                   .sizes = mapped_sizes,
                                   .serves = mapped_serves,
                                   .start_send = mapped_send,
                                   .start_receive = mapped_receive};

}  // namespace telpher::path
