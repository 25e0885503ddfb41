// SPDX-License-Identifier: BSD-3-Clause
// The host MPI as Telpher calls it: one callable object for each PMPI function. This is the only
// file that includes <mpi.h>. Nothing here refers to a symbol of the host MPI, so the library loads
// into any process. The address of a function is looked up when it is first called, wherever the
// process has mapped its MPI (Python maps it privately). Code that includes this file is compiled
// once per mpi.h.
#pragma once

// The wrappers define what mpi.h declares, and must be visible; everything else here is hidden.
#pragma GCC visibility push(default)
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#pragma GCC visibility pop

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <type_traits>

#include "host_mpi/caller.hpp"

// Generated at configure time from this mpi.h. TELPHER_HOST_HAS_<name> is 1 for each PMPI function
// that it declares, and 0 for names in the two lists below that it does not declare.
#include "host_mpi_declared.hpp"

namespace telpher::host_mpi {

/// The address of a function of the program's MPI, or null if that MPI lacks it. Ends the process
/// with an explanation if that MPI is not of the kind that this library was compiled for.
void* find(const char* name) noexcept;

template <class Function>
Function* find_function(const char* name) noexcept {
  return reinterpret_cast<Function*>(find(name));
}

/// As find, for a variable, or for a function that Telpher does not wrap: searches as the program
/// would.
void* find_global(const char* name) noexcept;

/// The MPI_X that belongs to PMPI_X in a profiling tool behind Telpher; null if there is none.
void* find_tool(const char* pmpi_name) noexcept;
/// The function that the library of `caller` would find under this name.
void* own_function(const void* caller, const char* name) noexcept;

/// Logs that the program's MPI lacks `name`.
void report_absent(const char* name) noexcept;

template <class Name, class Function>
class function;

/// A function that mpi.h declares. A call costs one relaxed load and one indirect call.
template <class Name, class Result, class... Arguments>
class function<Name, Result(Arguments...)> {
 public:
  Result operator()(Arguments... arguments) const {
    return address_.load(std::memory_order_relaxed)(arguments...);
  }

  /// Whether the MPI in the process has it. An older MPI may lack functions that mpi.h declares.
  bool available() const noexcept {
    const auto known = address_.load(std::memory_order_relaxed);
    return (known == &first_call ? look_up() : known) != &absent;
  }

  using pointer = Result (*)(Arguments...);

  /// The program's call of MPI_X goes to the MPI_X of a profiling tool that lies behind Telpher, or
  /// to `Own` if there is none.
  template <pointer Own>
  Result of_program(Arguments... arguments) const {
    return way_<Own>.load(std::memory_order_relaxed)(arguments...);
  }

  /// The function to call when PMPI_X is called from inside the host MPI; null for other callers.
  pointer for_host_mpi(const void* called_from) const noexcept {
    const caller who = caller_at(called_from);
    if (who == caller::other) [[likely]]
      return nullptr;
    if (who == caller::beneath)
      return reinterpret_cast<pointer>(own_function(called_from, Name::text));
    return address_.load(std::memory_order_relaxed);
  }

 private:
  static pointer look_up() noexcept {
    auto address = reinterpret_cast<pointer>(find(Name::text));
    if (!address) address = &absent;
    address_.store(address, std::memory_order_relaxed);
    return address;
  }

  template <pointer Own>
  static Result first_of_program(Arguments... arguments) {
    const auto tool = reinterpret_cast<pointer>(find_tool(Name::text));
    const pointer way = tool ? tool : Own;
    way_<Own>.store(way, std::memory_order_relaxed);
    return way(arguments...);
  }

  static Result first_call(Arguments... arguments) { return look_up()(arguments...); }

  static Result absent(Arguments...) {
    report_absent(Name::text);
    if constexpr (std::is_same_v<Result, int>)
      return MPI_ERR_OTHER;
    else
      return Result{};
  }

  static inline constinit std::atomic<pointer> address_{&first_call};
  template <pointer Own>
  static inline constinit std::atomic<pointer> way_{&first_of_program<Own>};
};

/// A function that mpi.h does not declare. Code that asks available() first compiles anyway.
template <class Name>
class function<Name, void> {
 public:
  template <class... Arguments>
  int operator()(const Arguments&...) const noexcept {
    report_absent(Name::text);
    return MPI_ERR_OTHER;
  }

  constexpr bool available() const noexcept { return false; }
};

/// A string as template argument.
template <std::size_t Length>
struct symbol_name {
  constexpr symbol_name(const char (&name)[Length]) { std::copy_n(name, Length, text); }
  char text[Length];
};

/// The address of a variable of the host MPI; looked up once.
template <symbol_name Name>
inline constinit std::atomic<void*> known_variable{nullptr};
template <symbol_name Name>
[[gnu::cold, gnu::noinline]] void* variable_slow() noexcept {
  void* const address = find_global(Name.text);
  known_variable<Name>.store(address, std::memory_order_relaxed);
  return address;
}
template <symbol_name Name>
[[gnu::always_inline]] inline void* variable() noexcept {
  void* const address = known_variable<Name>.load(std::memory_order_relaxed);
  return address ? address : variable_slow<Name>();
}

}  // namespace telpher::host_mpi

// Open MPI defines MPI_COMM_WORLD, MPI_BYTE and so on by this macro, as addresses of its variables.
#ifdef OMPI_PREDEFINED_GLOBAL
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) \
  (static_cast<type>(::telpher::host_mpi::variable<#global>()))
#endif

/// pmpi::Send(...) is PMPI_Send(...) of the program's MPI.
namespace telpher::pmpi {

#define TELPHER_PMPI(name) TELPHER_PMPI_EXPAND(TELPHER_HOST_HAS_##name, name)
#define TELPHER_PMPI_EXPAND(declared, name) TELPHER_PMPI_PICK(declared, name)
#define TELPHER_PMPI_PICK(declared, name) TELPHER_PMPI_##declared(name)
#define TELPHER_PMPI_1(name) TELPHER_PMPI_DEFINE(name, decltype(PMPI_##name))
#define TELPHER_PMPI_0(name) TELPHER_PMPI_DEFINE(name, void)
#define TELPHER_PMPI_DEFINE(name, type)                \
  struct name##_name {                                 \
    static constexpr const char* text = "PMPI_" #name; \
  };                                                   \
  inline constexpr host_mpi::function<name##_name, type> name{};

#include "host_mpi/wrapped.def"
#include "host_mpi/used.def"

#undef TELPHER_PMPI_DEFINE
#undef TELPHER_PMPI_0
#undef TELPHER_PMPI_1
#undef TELPHER_PMPI_PICK
#undef TELPHER_PMPI_EXPAND
#undef TELPHER_PMPI

}  // namespace telpher::pmpi
