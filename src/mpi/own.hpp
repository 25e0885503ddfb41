// SPDX-License-Identifier: BSD-3-Clause
// The bodies of wrappers (mpi/names.hpp) that Telpher calls in the program's place, where the body
// has no name of its own below the wrapper.
#pragma once

#include "host_mpi/host_mpi.hpp"
#include "mpi/names.hpp"

#define TELPHER_OWN_BODY(name) extern "C" TELPHER_OWN decltype(MPI_##name) own_##name

TELPHER_OWN_BODY(Comm_dup);
TELPHER_OWN_BODY(Ibarrier);
TELPHER_OWN_BODY(Ibcast);
TELPHER_OWN_BODY(Igather);
TELPHER_OWN_BODY(Igatherv);
TELPHER_OWN_BODY(Iscatter);
TELPHER_OWN_BODY(Iscatterv);
TELPHER_OWN_BODY(Iallgather);
TELPHER_OWN_BODY(Iallgatherv);
TELPHER_OWN_BODY(Ialltoall);
TELPHER_OWN_BODY(Ialltoallv);
TELPHER_OWN_BODY(Ialltoallw);
TELPHER_OWN_BODY(Ireduce);
TELPHER_OWN_BODY(Iallreduce);
TELPHER_OWN_BODY(Ireduce_scatter_block);
TELPHER_OWN_BODY(Ireduce_scatter);
TELPHER_OWN_BODY(Iscan);
TELPHER_OWN_BODY(Iexscan);
TELPHER_OWN_BODY(Ineighbor_allgather);
TELPHER_OWN_BODY(Ineighbor_allgatherv);
TELPHER_OWN_BODY(Ineighbor_alltoall);
TELPHER_OWN_BODY(Ineighbor_alltoallv);
TELPHER_OWN_BODY(Ineighbor_alltoallw);
#if TELPHER_HOST_HAS_Iallreduce_c
TELPHER_OWN_BODY(Iallreduce_c);
#endif
#if TELPHER_HOST_HAS_Pready
TELPHER_OWN_BODY(Pready);
#endif

#undef TELPHER_OWN_BODY
