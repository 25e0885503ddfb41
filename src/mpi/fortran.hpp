// SPDX-License-Identifier: BSD-3-Clause
// Fortran. The bindings of MPICH's mpif.h and `use mpi` call MPI's C functions, which Telpher
// wraps; those of Open MPI, and of both for `use mpi_f08`, call PMPI's. So Telpher shows PMPI's
// names as well (generated/fortran_*.cpp): a call that comes from a library of such bindings goes
// to the wrapper, any other (a profiling tool's, the host MPI's own) to the host MPI. The bindings
// have turned handles, statuses and constants into C's by then.
#pragma once

namespace telpher::mpi {

/// Whether a return address lies in a library of the host MPI's Fortran bindings.
bool from_fortran(const void* caller) noexcept;

}  // namespace telpher::mpi
