// SPDX-License-Identifier: BSD-3-Clause
// Finding the program's MPI among the libraries that the process has mapped. Looks only at what is
// mapped: it never loads a library, since a second MPI in one process ends badly.
#include "host_mpi/host_mpi.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"

namespace telpher::host_mpi {
namespace {

enum class kind { none, mpich, ompi, mpi_abi };

#if defined(MPI_ABI)
constexpr kind built_for = kind::mpi_abi;
#elif defined(OPEN_MPI)
constexpr kind built_for = kind::ompi;
#elif defined(MPICH_VERSION) || defined(MPICH) || defined(I_MPI_VERSION)
constexpr kind built_for = kind::mpich;
#else
#error "this mpi.h is neither MPICH's, nor Open MPI's, nor the standard ABI's (-DMPI_ABI)"
#endif

const char* describe(kind k) {
  switch (k) {
    case kind::mpich:
      return "MPICH or an MPI of its ABI (libmpi.so.12)";
    case kind::ompi:
      return "Open MPI 4 or 5 (libmpi.so.40)";
    case kind::mpi_abi:
      return "the MPI standard ABI (libmpi_abi.so)";
    case kind::none:
      break;
  }
  return "no MPI";
}

const char* library_for(kind k) {
  switch (k) {
    case kind::mpich:
      return "libtelpher-mpich.so";
    case kind::ompi:
      return "libtelpher-ompi.so";
    case kind::mpi_abi:
      return "libtelpher-mpi_abi.so";
    case kind::none:
      break;
  }
  return "";
}

// By soname. MPICH's ABI has version 12 whoever builds it: libmpi.so.12, Debian's libmpich.so.12,
// Cray's libmpi_cray.so.12 and libmpi_gnu_123.so.12. The bindings of other languages do not count.
kind kind_of(std::string_view soname) {
  if (!soname.starts_with("libmpi")) return kind::none;
  if (soname.starts_with("libmpi_abi.so")) return kind::mpi_abi;
  if (soname == "libmpi.so.40") return kind::ompi;
  for (const char* binding : {"libmpicxx", "libmpichcxx", "libmpifort", "libmpichfort"})
    if (soname.starts_with(binding)) return kind::none;
  return soname.ends_with(".so.12") ? kind::mpich : kind::none;
}

struct mapped_library {
  std::string path;
  kind flavour;
};

// The name inside the library: the file may be called libmpi.so.12.5.2, or libmpi.so.
const char* soname_of(const dl_phdr_info& object) {
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i)
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  ElfW(Addr) strings = 0;
  ElfW(Xword) offset = 0;
  for (; entry && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SONAME) offset = entry->d_un.d_val;
  }
  if (!strings || !offset) return "";
  // glibc relocates DT_STRTAB in place, except where the section is read-only.
  if (strings < object.dlpi_addr) strings += object.dlpi_addr;
  return reinterpret_cast<const char*>(strings + offset);
}

std::vector<mapped_library> mapped_mpi_libraries() {
  std::vector<mapped_library> found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* list) {
        const std::string_view path = object->dlpi_name ? object->dlpi_name : "";
        if (path.find("libmpi") == path.npos) return 0;
        if (const kind k = kind_of(soname_of(*object)); k != kind::none)
          static_cast<std::vector<mapped_library>*>(list)->push_back({std::string(path), k});
        return 0;
      },
      &found);
  return found;
}

// A library of the standard ABI may sit on top of its vendor's own: where both are mapped, the
// program speaks the standard ABI. Otherwise one of our kind will do, whatever else is there.
const mapped_library* library_of_the_program(const std::vector<mapped_library>& mapped) {
  const mapped_library* chosen = nullptr;
  for (const auto& candidate : mapped) {
    if (candidate.flavour == kind::mpi_abi) return &candidate;
    if (!chosen || candidate.flavour == built_for) chosen = &candidate;
  }
  return chosen;
}

// Handles, constants and statuses of another kind of MPI would be misread, so there is no going on.
void check_kind(const mapped_library& program) {
  if (program.flavour == built_for) return;
  log::write(log::level::error, TELPHER_SUBSYSTEM,
             "%s is built for %s, but this program runs on %s: %s; use %s instead",
             library_for(built_for), describe(built_for), describe(program.flavour),
             program.path.c_str(), library_for(program.flavour));
  ::_exit(EXIT_FAILURE);
}

// The handle through which the program's MPI is searched. Global names come first, so that a
// profiling library of the program's own that defines PMPI names is respected.
void* private_handle() {
  const auto mapped = mapped_mpi_libraries();
  const auto* program = library_of_the_program(mapped);
  if (!program) return nullptr;
  check_kind(*program);
  return ::dlopen(program->path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
}

// Telpher shows PMPI's names too (mpi/fortran.hpp).
bool is_ours(void* address) {
  Dl_info there{}, here{};
  return address && ::dladdr(address, &there) != 0 &&
         ::dladdr(reinterpret_cast<void*>(&find), &here) != 0 && there.dli_fbase == here.dli_fbase;
}

}  // namespace

void* find(const char* name) noexcept {
  static constinit std::atomic<void*> known{nullptr};  // while no MPI is mapped: none
  void* handle = known.load(std::memory_order_relaxed);
  if (!handle) known.store(handle = private_handle(), std::memory_order_relaxed);
  void* address = ::dlsym(RTLD_DEFAULT, name);
  if (is_ours(address)) address = ::dlsym(RTLD_NEXT, name);
  if (address && !is_ours(address)) return address;
  return handle ? ::dlsym(handle, name) : nullptr;
}

void report_absent(const char* name) noexcept {
  TELPHER_ERROR("%s is needed, but the MPI of this program does not have it", name);
}

}  // namespace telpher::host_mpi
