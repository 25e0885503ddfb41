// SPDX-License-Identifier: BSD-3-Clause
#include "base/status.hpp"

namespace telpher {

const char* to_string(status s) noexcept {
  switch (s) {
    case status::ok:
      return "ok";
    case status::would_block:
      return "would block";
    case status::not_supported:
      return "not supported";
    case status::invalid_argument:
      return "invalid argument";
    case status::out_of_memory:
      return "out of memory";
    case status::device_error:
      return "device error";
    case status::truncated:
      return "message truncated";
    case status::corrupt:
      return "corrupt ticket";
    case status::peer_lost:
      return "peer process lost";
    case status::host_mpi_error:
      return "host MPI error";
  }
  return "unknown status";
}

}  // namespace telpher
