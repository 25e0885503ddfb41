// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/fortran.hpp"

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/thread_local.hpp"

namespace telpher::mpi {
namespace {

struct range {
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;  // one past
  bool holds(std::uintptr_t a) const noexcept { return a - first < last - first; }
};

// The libraries that called last: one of bindings, and one of another kind.
constinit thread_local TELPHER_NEAR_TLS range bindings;
constinit thread_local TELPHER_NEAR_TLS range another;

range mapped(const dl_phdr_info& object) noexcept {
  range all{UINTPTR_MAX, 0};
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t at = object.dlpi_addr + segment.p_vaddr;
    all.first = std::min(all.first, at);
    all.last = std::max(all.last, at + segment.p_memsz);
  }
  return all.last ? all : range{};
}

bool is_binding(std::string_view path) noexcept {
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  return name.starts_with("libmpi_mpifh") || name.starts_with("libmpi_usempi") ||
         name.starts_with("libmpifort") || name.starts_with("libmpichfort");
}

[[gnu::cold, gnu::noinline]] bool from_fortran_slow(std::uintptr_t caller) noexcept {
  struct search {
    std::uintptr_t caller;
    bool found;
  } s{caller, false};
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto& wanted = *static_cast<search*>(data);
        const range r = mapped(*object);
        if (!r.holds(wanted.caller)) return 0;
        wanted.found = is_binding(object->dlpi_name ? object->dlpi_name : "");
        (wanted.found ? bindings : another) = r;
        return 1;
      },
      &s);
  return s.found;
}

}  // namespace

bool from_fortran(const void* caller) noexcept {
  const auto a = reinterpret_cast<std::uintptr_t>(caller);
  if (bindings.holds(a)) return true;
  if (another.holds(a)) return false;
  return from_fortran_slow(a);
}

}  // namespace telpher::mpi
