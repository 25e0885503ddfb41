// SPDX-License-Identifier: BSD-3-Clause
// Profiling tools that come after Telpher in the loader's search order. Such a tool may get the
// program's calls only if the PMPI_X that it calls comes back to Telpher. That holds if it refers
// to PMPI_X by name, because the loader binds the name to Telpher's function. A tool that looks up
// PMPI_X behind itself (dlsym with RTLD_NEXT) would pass device memory to the host MPI. It is left
// out, and a log line says so.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/lasting.hpp"
#include "base/log.hpp"
#include "host_mpi/host_mpi.hpp"
#include "host_mpi/objects.hpp"

namespace telpher::host_mpi {
namespace {

// The undefined symbols of an object: the first entries of its dynamic symbol table.
class undefined_names {
 public:
  explicit undefined_names(const link_map& object) noexcept {
    for (const ElfW(Dyn)* d = object.l_ld; d->d_tag != DT_NULL; ++d) {
      ElfW(Addr) at = d->d_un.d_ptr;
      if (at < object.l_addr) at += object.l_addr;  // on most systems glibc has relocated it
      if (d->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const ElfW(Sym)*>(at);
      if (d->d_tag == DT_STRTAB) strings_ = reinterpret_cast<const char*>(at);
      // The second word is the number of symbols: all of them (DT_HASH), or those before the first
      // defined one (DT_GNU_HASH).
      if (d->d_tag == DT_HASH || d->d_tag == DT_GNU_HASH)
        count_ = std::max(count_, reinterpret_cast<const std::uint32_t*>(at)[1]);
    }
    if (!symbols_ || !strings_) count_ = 0;
  }

  template <class Wanted>
  bool any(const Wanted& wanted) const noexcept {
    for (std::uint32_t i = 1; i < count_; ++i)
      if (symbols_[i].st_shndx == SHN_UNDEF && wanted(strings_ + symbols_[i].st_name)) return true;
    return false;
  }

 private:
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  std::uint32_t count_ = 0;
};

// A library that refers to no PMPI function at all may be anything, for example a stub MPI.
void report_left_out(const char* path, const char* name, bool is_tool) noexcept {
  static constinit lasting<std::mutex> guard;
  static constinit lasting<std::vector<std::string>> reported;
  const std::lock_guard lock(*guard);
  if (std::find(reported->begin(), reported->end(), path) != reported->end()) return;
  reported->emplace_back(path);
  log::write(is_tool ? log::level::warn : log::level::info, TELPHER_SUBSYSTEM,
             "%s has an %s, but comes after Telpher and does not call P%s by that name: it does "
             "not see the program's calls; if it is a profiling tool, put it in front of Telpher "
             "in LD_PRELOAD",
             path, name, name);
}

}  // namespace

void* find_tool(const char* pmpi_name) noexcept {
  const char* const name = pmpi_name + 1;
  void* const next = ::dlsym(RTLD_NEXT, name);
  Dl_info where{}, host{};
  link_map* object = nullptr;
  if (!next || ::dladdr1(next, &where, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0)
    return nullptr;
  if (caller_at(next) != caller::other || is_ours(next)) return nullptr;
  void* const native = find(pmpi_name);
  if (native && ::dladdr(native, &host) != 0 && host.dli_fbase == where.dli_fbase) return nullptr;
  const undefined_names names(*object);
  if (names.any([&](const char* n) { return std::strcmp(n, pmpi_name) == 0; })) return next;
  report_left_out(where.dli_fname, name,
                  names.any([](const char* n) { return std::strncmp(n, "PMPI_", 5) == 0; }));
  return nullptr;
}

void* own_function(const void* caller, const char* name) noexcept {
  Dl_info where{};
  if (::dladdr(caller, &where) == 0) return nullptr;
  void* const handle = ::dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return handle ? ::dlsym(handle, name) : nullptr;
}

}  // namespace telpher::host_mpi
