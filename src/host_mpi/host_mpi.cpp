// SPDX-License-Identifier: BSD-3-Clause
// Finds the program's MPI among the libraries that the process has mapped. It never loads a
// library, because two MPIs in one process do not work.
#include "host_mpi/host_mpi.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "base/log.hpp"
#include "host_mpi/objects.hpp"

namespace telpher::host_mpi {
namespace {

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

// A library of the standard ABI may sit on top of its vendor's own library. If both are mapped, the
// program uses the standard ABI. Otherwise a library of the kind that Telpher was built for is
// preferred.
const mapped_library* library_of_the_program(const std::vector<mapped_library>& mapped) {
  const mapped_library* chosen = nullptr;
  for (const auto& candidate : mapped) {
    if (candidate.flavour == kind::mpi_abi) return &candidate;
    if (!chosen || candidate.flavour == built_for) chosen = &candidate;
  }
  return chosen;
}

// Handles, constants and statuses of another kind of MPI would be misread, so the process ends.
void check_kind(const mapped_library& program) {
  if (program.flavour == built_for) return;
  log::write(log::level::error, TELPHER_SUBSYSTEM,
             "%s is built for %s, but this program runs on %s: %s; use %s instead",
             library_for(built_for), describe(built_for), describe(program.flavour),
             program.path.c_str(), library_for(program.flavour));
  ::_exit(EXIT_FAILURE);
}

// A handle for dlsym in the program's MPI; null if no MPI is mapped.
void* private_handle() {
  const auto mapped = mapped_mpi_libraries();
  const auto* program = library_of_the_program(mapped);
  if (!program) return nullptr;
  check_kind(*program);
  return ::dlopen(program->path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
}

void* handle_of_host_mpi() noexcept {
  static constinit std::atomic<void*> known{nullptr};  // null as long as no MPI is mapped
  void* handle = known.load(std::memory_order_relaxed);
  if (!handle) known.store(handle = private_handle(), std::memory_order_relaxed);
  return handle;
}

}  // namespace

// Searches in this order. First the libraries that the loader finds behind Telpher; so a library of
// the program's that defines PMPI names is respected. (A library in front of Telpher has already
// been called.) Then the program's MPI, which Python maps privately. Then the whole process, for
// programs that link MPI statically.
void* find(const char* name) noexcept {
  void* const handle = handle_of_host_mpi();
  if (void* const next = ::dlsym(RTLD_NEXT, name); next && !is_ours(next)) return next;
  if (handle)
    if (void* const there = ::dlsym(handle, name)) return there;
  void* const first = ::dlsym(RTLD_DEFAULT, name);
  return is_ours(first) ? nullptr : first;
}

// A program may have its own copy of a variable (copy relocation); that copy is the one to use.
void* find_global(const char* name) noexcept {
  void* const handle = handle_of_host_mpi();
  if (void* const first = ::dlsym(RTLD_DEFAULT, name)) return first;
  return handle ? ::dlsym(handle, name) : nullptr;
}

void report_absent(const char* name) noexcept {
  TELPHER_ERROR("%s is needed, but the MPI of this program does not have it", name);
}

}  // namespace telpher::host_mpi
