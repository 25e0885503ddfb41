// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/fortran.hpp"

#include <link.h>

#include <cstdint>
#include <string_view>

#include "base/address_range.hpp"
#include "base/thread_local.hpp"

namespace telpher::mpi {
namespace {

// The libraries that called last: one of bindings, and one of another kind.
constinit thread_local TELPHER_NEAR_TLS address_range bindings;
constinit thread_local TELPHER_NEAR_TLS address_range another;

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
        const address_range r = mapped(*object);
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
