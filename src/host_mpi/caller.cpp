// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/caller.hpp"

#include <dlfcn.h>

#include <cstdint>

#include "base/address_range.hpp"
#include "base/thread_local.hpp"
#include "host_mpi/objects.hpp"

namespace telpher::host_mpi {
namespace {

// Address ranges of the libraries that called last. A library of the host MPI is kept mapped once
// it is known (dlopen), so no other library can take its range. Other libraries may be unloaded. If
// a part of the host MPI is then loaded into such a range, its calls go through Telpher, which does
// no harm.
struct known_caller {
  address_range where;
  caller who = caller::other;
};
constinit thread_local TELPHER_NEAR_TLS known_caller inside;
constinit thread_local TELPHER_NEAR_TLS address_range
    outside[2];  // for example a tool and a language binding

// Recognises the host MPI by soname, and Open MPI's plug-ins by file name. Libraries that only use
// MPI do not count: bindings of other languages, tools that come with an MPI.
caller part_of_host_mpi(std::string_view path, std::string_view soname) noexcept {
  const std::string_view file = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  const kind k = kind_of(soname);
#if defined(MPI_ABI)
  if (k == kind::mpi_abi) return caller::host_mpi;
  constexpr caller plug_in = caller::beneath;
#else
  constexpr caller plug_in = caller::host_mpi;
#endif
  const bool part = k != kind::none || soname.starts_with("libpmpi") || file.starts_with("mca_") ||
                    file.starts_with("libmca_");
  return part ? plug_in : caller::other;
}

struct search {
  std::uintptr_t address;
  known_caller found;
  std::string path;
};

int look_at(dl_phdr_info* object, std::size_t, void* data) {
  auto& s = *static_cast<search*>(data);
  const address_range r = mapped(*object);
  if (!r.holds(s.address)) return 0;
  s.path = object->dlpi_name ? object->dlpi_name : "";
  s.found = {r, part_of_host_mpi(s.path, soname_of(*object))};
  return 1;
}

[[gnu::cold, gnu::noinline]] caller caller_at_slow(std::uintptr_t address) noexcept {
  search s{address, {}, {}};
  ::dl_iterate_phdr(look_at, &s);
  if (s.found.who == caller::other) {
    outside[1] = outside[0];
    outside[0] = s.found.where;
  } else if (::dlopen(s.path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
    inside = s.found;
  }
  return s.found.who;
}

}  // namespace

caller caller_at(const void* address) noexcept {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  if (outside[0].holds(a) || outside[1].holds(a)) return caller::other;
  if (inside.where.holds(a)) return inside.who;
  return caller_at_slow(a);
}

}  // namespace telpher::host_mpi
