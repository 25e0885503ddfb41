// SPDX-License-Identifier: BSD-3-Clause
// Which reduction a call does, in terms of what devices can do.
#pragma once

#include "kernel/reduction.hpp"

namespace telpher::coll {

struct reduction {
  bool known = false;  // a predefined one that the device does
  kernel::reduce_op op{};
  kernel::value_type type{};

  /// The exchange kernel that does it; of what is not known, the one that moves data only.
  kernel::id body() const noexcept {
    return known ? kernel::exchange_with(op, type) : kernel::id::exchange;
  }
  bool operator==(const reduction&) const = default;
};

}  // namespace telpher::coll
