// SPDX-License-Identifier: BSD-3-Clause
// The two names of each wrapped function, as every MPI has them:
//   MPI_X    what the program calls. Telpher's body, or the MPI_X of a profiling tool that lies
//            behind Telpher in the search order; such a tool calls PMPI_X.
//   PMPI_X   what tools call; also some programs, and bindings of other languages (Open MPI's
//            Fortran, and `use mpi_f08` of both MPIs). Telpher's body, except for callers inside
//            the host MPI itself, which get the host MPI's own.
// So a tool sees each call of the program once and with the program's arguments, and the call that
// it passes on reaches Telpher. This holds whether the tool lies in front of Telpher or behind it
// in the search order.
#pragma once

#include "host_mpi/host_mpi.hpp"
#include "mpi/requests.hpp"

/// Defines both names; the body follows in braces. `parameters` and `arguments` are in parentheses.
#define TELPHER_MPI(name, parameters, arguments) \
  TELPHER_MPI_NAMES(name, parameters, arguments, false)

/// For functions that complete or start requests. A caller inside the host MPI that passes a
/// request of ours got it from the program, and the host MPI alone would never end it: so that call
/// goes to Telpher's body too. `which`: the arguments of requests::known, in parentheses.
#define TELPHER_MPI_OF_REQUESTS(name, parameters, arguments, which) \
  TELPHER_MPI_NAMES(name, parameters, arguments, telpher::requests::known which)

/// The body alone, which calls of ours in place of the program's go to (own.hpp).
#define TELPHER_OWN __attribute__((visibility("hidden")))

#define TELPHER_MPI_NAMES(name, parameters, arguments, always_ours)                  \
  TELPHER_OWN int own_##name parameters;                                             \
  int MPI_##name parameters {                                                        \
    return telpher::pmpi::name.of_program<&own_##name> arguments;                    \
  }                                                                                  \
  int PMPI_##name parameters {                                                       \
    const auto host = telpher::pmpi::name.for_host_mpi(__builtin_return_address(0)); \
    return host && !(always_ours) ? host arguments : own_##name arguments;           \
  }                                                                                  \
  int own_##name parameters
