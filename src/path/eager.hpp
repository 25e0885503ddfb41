// SPDX-License-Identifier: BSD-3-Clause
// The functions of the eager paths that the table of paths refers to.
#pragma once

#include "path/table.hpp"

namespace telpher::path {

bool mapped_serves(send_end& e) noexcept;
status mapped_send(send_end& e) noexcept;
status mapped_receive(receive_end& e) noexcept;

bool raw_serves(send_end& e) noexcept;
status raw_send(send_end& e) noexcept;
status raw_receive(receive_end& e) noexcept;

}  // namespace telpher::path
