// SPDX-License-Identifier: BSD-3-Clause
#include "net/libfabric.hpp"

#include <string>

#include "base/log.hpp"

namespace telpher::net {
namespace {

bool find_all(const library& l, libfabric& f) noexcept {
  return l.find("fi_getinfo", f.getinfo) && l.find("fi_freeinfo", f.freeinfo) &&
         l.find("fi_dupinfo", f.dupinfo) && l.find("fi_fabric", f.fabric) &&
         l.find("fi_strerror", f.strerror);
}

}  // namespace

result<const libfabric*> libfabric::instance() noexcept {
  static libfabric functions;
  static const bool there = [] {
    std::string why;
    const library l = library::open("libfabric.so.1", why);
    if (!l) TELPHER_WARN("TELPHER_RDMA: %s; going on without RDMA", why.c_str());
    return l && find_all(l, functions);
  }();
  if (!there) return status::not_supported;
  return &functions;
}

}  // namespace telpher::net
