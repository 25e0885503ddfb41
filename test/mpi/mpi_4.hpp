// SPDX-License-Identifier: BSD-3-Clause
// Whether the host MPI has MPI 4's calls: persistent collectives, partitioned communication,
// sessions, MPI_Isendrecv. Open MPI 5 has them but calls itself MPI 3.1.
#pragma once

#include <mpi.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define MPI_TEST_HAS_MPI_4 1
#else
#define MPI_TEST_HAS_MPI_4 0
#endif
