// SPDX-License-Identifier: BSD-3-Clause
// Used if libfabric's headers are missing at build time.
#include "base/log.hpp"
#include "net/fabric.hpp"

namespace telpher::net {

result<std::unique_ptr<fabric>> fabric::open(const char*) noexcept {
  TELPHER_WARN("TELPHER_RDMA: this build is without libfabric; going on without RDMA");
  return status::not_supported;
}

}  // namespace telpher::net
