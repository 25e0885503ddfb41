/* SPDX-License-Identifier: BSD-3-Clause */
/* A profiling tool that counts calls, one that does so and finds MPI behind itself (TOOL_LOOKS_BEHIND, as Darshan
 * does), and a library that is named like a part of the host MPI (PART_OF_HOST_MPI). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

#if defined(PART_OF_HOST_MPI)

int part_wait(MPI_Request* request);
int part_receive(void* to, int bytes, int source, int tag, MPI_Comm comm, MPI_Request* request);

int part_wait(MPI_Request* request) {
  return PMPI_Wait(request, MPI_STATUS_IGNORE);
}
int part_receive(void* to, int bytes, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  return PMPI_Irecv(to, bytes, MPI_BYTE, source, tag, comm, request);
}

#else

#if defined(TOOL_LOOKS_BEHIND)
#define NEXT(name) ((__typeof__(&MPI_##name))dlsym(RTLD_NEXT, "PMPI_" #name))
#else
#define NEXT(name) PMPI_##name
#endif

enum { init, init_thread, isend, irecv, sendrecv, wait, waitall, bcast, allreduce, names };
static const char* const name_of[names] = {"Init", "Init_thread", "Isend", "Irecv", "Sendrecv",
                                           "Wait", "Waitall",     "Bcast", "Allreduce"};
static long count_of[names];

/* Calls of one function; of all, where `name` is null; -1 for one that the tool does not have. */
long tool_calls(const char* name);
long tool_calls(const char* name) {
  long all = 0;
  for (int i = 0; i < names; ++i) {
    if (name && strcmp(name, name_of[i]) == 0) return count_of[i];
    all += count_of[i];
  }
  return name ? -1 : all;
}

int MPI_Init(int* argc, char*** argv) {
  ++count_of[init];
  return NEXT(Init)(argc, argv);
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  ++count_of[init_thread];
  return NEXT(Init_thread)(argc, argv, required, provided);
}
int MPI_Isend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  ++count_of[isend];
  return NEXT(Isend)(b, n, t, to, tag, c, r);
}
int MPI_Irecv(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r) {
  ++count_of[irecv];
  return NEXT(Irecv)(b, n, t, from, tag, c, r);
}
int MPI_Sendrecv(const void* a, int n, MPI_Datatype t, int to, int tag, void* b, int m, MPI_Datatype u, int from,
                 int tug, MPI_Comm c, MPI_Status* s) {
  ++count_of[sendrecv];
  return NEXT(Sendrecv)(a, n, t, to, tag, b, m, u, from, tug, c, s);
}
int MPI_Wait(MPI_Request* r, MPI_Status* s) {
  ++count_of[wait];
  return NEXT(Wait)(r, s);
}
int MPI_Waitall(int n, MPI_Request* r, MPI_Status* s) {
  ++count_of[waitall];
  return NEXT(Waitall)(n, r, s);
}
int MPI_Bcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c) {
  ++count_of[bcast];
  return NEXT(Bcast)(b, n, t, root, c);
}
int MPI_Allreduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  ++count_of[allreduce];
  return NEXT(Allreduce)(a, b, n, t, o, c);
}

#endif
