// SPDX-License-Identifier: BSD-3-Clause
// The few functions that libfabric's library exports as symbols; the library is opened at run time.
// All others are called through the tables of functions in the objects that these return.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "base/library.hpp"
#include "base/status.hpp"

namespace telpher::net {

struct libfabric {
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;

  /// Opened once. not_supported, with a log line, if the library is missing.
  static result<const libfabric*> instance() noexcept;
};

}  // namespace telpher::net
