// SPDX-License-Identifier: BSD-3-Clause
// What a trace says of a call: the other rank by its number in MPI_COMM_WORLD, tag, bytes.
// Evaluated only while something is recorded.
#pragma once

#include "base/trace.hpp"
#include "mpi/pt2pt.hpp"
#include "ticket/progress.hpp"

namespace telpher::mpi {

inline long long bytes_of(MPI_Count count, MPI_Datatype type) noexcept {
  MPI_Count element = 0;
  if (pmpi::Type_size_x(type, &element) != MPI_SUCCESS) return -1;
  return static_cast<long long>(count * element);
}

inline trace::facts facts_of(const pt2pt::send_args& a) noexcept {
  trace::facts f;
  f.add("to", host_mpi::world_rank(ticket::job(), a.comm, a.destination));
  f.add("tag", a.tag);
  f.add("bytes", bytes_of(a.count, a.type));
  return f;
}

/// The source may be a wildcard: -1 then.
inline trace::facts facts_of(const pt2pt::receive_args& a) noexcept {
  trace::facts f;
  f.add("from", host_mpi::world_rank(ticket::job(), a.comm, a.source));
  f.add("tag", a.tag);
  f.add("room", bytes_of(a.count, a.type));
  return f;
}

}  // namespace telpher::mpi
