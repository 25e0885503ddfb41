// SPDX-License-Identifier: BSD-3-Clause
// One call of any collective in any of its forms: what a test names is the same for all.
#pragma once

#include <initializer_list>

#include "mpi_4.hpp"

namespace mpi_test {

/// Those that move data, reductions, those of neighbours.
enum class collective_call {
#define MPI_TEST_COLLECTIVE(kind, ...) kind,
#include "collective_calls.def"
#undef MPI_TEST_COLLECTIVE
};
inline constexpr const char* collective_names[] = {
#define MPI_TEST_COLLECTIVE(kind, Name, ...) #Name,
#include "collective_calls.def"
#undef MPI_TEST_COLLECTIVE
};
inline const char* name_of(collective_call which) {
  return collective_names[static_cast<int>(which)];
}

/// Whether blocks have counts of their own.
inline bool has_counts(collective_call which) {
  using enum collective_call;
  for (const collective_call one : {gatherv, scatterv, allgatherv, alltoallv, alltoallw,
                                    neighbor_allgatherv, neighbor_alltoallv, neighbor_alltoallw})
    if (which == one) return true;
  return false;
}

enum class form { blocking, nonblocking, persistent };
inline constexpr const char* form_names[] = {"blocking", "non-blocking", "persistent"};
inline constexpr int form_count = MPI_TEST_HAS_MPI_4 ? 3 : 2;

/// The arguments of a call, as far as it has them: `out` is what it sends, `in` what it receives.
/// Both of them are the broadcast's. Of a reduction the second type counts.
struct call_arguments {
  MPI_Comm comm = MPI_COMM_NULL;
  int root = 0;
  MPI_Op op = MPI_SUM;
  const void* out = nullptr;
  void* in = nullptr;
  int sent = 0, received = 0;  // elements of the vector, or of a block
  MPI_Datatype out_type = MPI_DATATYPE_NULL, in_type = MPI_DATATYPE_NULL;
  const int *out_counts = nullptr, *in_counts = nullptr;
  const int *out_places = nullptr, *in_places = nullptr;  // of Alltoallw in bytes
  const MPI_Aint *out_bytes = nullptr, *in_bytes = nullptr;
  const MPI_Datatype *out_types = nullptr, *in_types = nullptr;
};

/// MPI's code. A form with a request makes `*q`; a persistent one is not started.
inline int make_call(collective_call which, form f, const call_arguments& x, MPI_Request* q) {
#if MPI_TEST_HAS_MPI_4
#define MPI_TEST_IF_MPI_4(...) __VA_ARGS__
#else
#define MPI_TEST_IF_MPI_4(...) MPI_ERR_OTHER
#endif
#define MPI_TEST_COLLECTIVE(kind, Name, Iname, ...)      \
  case collective_call::kind:                            \
    return f == form::blocking ? MPI_##Name(__VA_ARGS__) \
           : f == form::nonblocking                      \
               ? MPI_##Iname(__VA_ARGS__, q)             \
               : MPI_TEST_IF_MPI_4(MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, q));
  switch (which) {
#include "collective_calls.def"
  }
#undef MPI_TEST_COLLECTIVE
#undef MPI_TEST_IF_MPI_4
  return MPI_ERR_OTHER;
}

}  // namespace mpi_test
