// SPDX-License-Identifier: BSD-3-Clause
// The functions of the eager paths that the table of paths refers to.
#pragma once

#include "path/table.hpp"

namespace telpher::path {

/// What goes eagerly is complete when the call returns. A payload that is not yet is announced if
/// that is possible.
inline bool may_wait_for(const send_end& e) noexcept {
  return e.ready || !e.may_announce;
}

bool mapped_serves(send_end& e) noexcept;
status mapped_send(send_end& e) noexcept;
status mapped_receive(receive_end& e) noexcept;

bool raw_serves(send_end& e) noexcept;
status raw_send_by_kernel(send_end& e) noexcept;
status raw_send(send_end& e) noexcept;
status raw_receive(receive_end& e) noexcept;

}  // namespace telpher::path
