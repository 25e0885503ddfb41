// SPDX-License-Identifier: BSD-3-Clause
// What the C functions of telpher.h have in common.
#pragma once

#pragma GCC visibility push(default)
#include "telpher/telpher.h"
#pragma GCC visibility pop

#include "base/status.hpp"
#include "device/device.hpp"

namespace telpher::api {

inline int error_code(status s) {
  switch (s) {
    case status::ok:
      return TELPHER_SUCCESS;
    case status::invalid_argument:
      return TELPHER_ERR_ARGUMENT;
    case status::out_of_memory:
      return TELPHER_ERR_MEMORY;
    case status::not_supported:
      return TELPHER_ERR_UNSUPPORTED;
    default:
      return TELPHER_ERR_DEVICE;
  }
}

/// Of this thread: the one that it chose, or the one that belongs to the rank's place on its node.
int current_device(int count);

}  // namespace telpher::api
