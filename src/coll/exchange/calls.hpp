// SPDX-License-Identifier: BSD-3-Clause
// What the wrappers of blocking collectives call before they stage: one function an operation, with
// the arguments of MPI's. True: done, `*code` is to be returned.
#pragma once

#include <numeric>

#include "coll/exchange/exchange.hpp"
#include "coll/two_level/calls.hpp"

namespace telpher::coll::exchange {

/// Makes arguments by `fill` and tries. Every rank of the communicator gets here or none.
template <class Fill>
bool try_call(const char* call, operation what, MPI_Comm comm, int* code, Fill&& fill) noexcept {
  if (!enabled()) return false;
  communicator* c = communicator::of(comm);
  if (!c) return false;
  arguments a(what, c->ranks, c->rank);
  fill(a);
  return attempt(call, *c).run(a, code);
}

template <class Count>
bool bcast(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm,
           int* code) noexcept {
  const bool here = try_call("MPI_Bcast", operation::bcast, comm, code, [&](arguments& a) {
    a.rooted(root);
    const bool ok = a.rank == root ? a.buffers(buffer, nullptr) : a.buffers(nullptr, buffer);
    if (ok) a.vector(count, type);
  });
  return here || two_level::bcast(buffer, count, type, root, comm, code);
}

template <class Count>
bool gather(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
            Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm,
            int* code) noexcept {
  return try_call("MPI_Gather", operation::gather, comm, code, [&](arguments& a) {
    a.rooted(root);
    if (!a.buffers(send, a.rank == root ? receive : nullptr)) return;
    a.vectors(send_count, send_type, receive_count, receive_type, a.rank == root);
  });
}

template <class Count, class Displacement>
bool gatherv(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
             const Count* counts, const Displacement* displacements, MPI_Datatype receive_type,
             int root, MPI_Comm comm, int* code) noexcept {
  return try_call("MPI_Gatherv", operation::gatherv, comm, code, [&](arguments& a) {
    a.rooted(root);
    if (!a.buffers(send, a.rank == root ? receive : nullptr)) return;
    if (a.rank == root) a.output_blocks(counts, displacements, receive_type);
    a.own_block(send_count, send_type);
  });
}

template <class Count>
bool scatter(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
             Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm,
             int* code) noexcept {
  return try_call("MPI_Scatter", operation::scatter, comm, code, [&](arguments& a) {
    a.rooted(root);
    if (!a.buffers(a.rank == root ? send : nullptr, receive)) return;
    a.vectors(receive_count, receive_type, send_count, send_type, a.rank == root);
  });
}

template <class Count, class Displacement>
bool scatterv(const void* send, const Count* counts, const Displacement* displacements,
              MPI_Datatype send_type, void* receive, Count receive_count, MPI_Datatype receive_type,
              int root, MPI_Comm comm, int* code) noexcept {
  return try_call("MPI_Scatterv", operation::scatterv, comm, code, [&](arguments& a) {
    a.rooted(root);
    if (!a.buffers(a.rank == root ? send : nullptr, receive)) return;
    if (a.rank == root) a.input_blocks(counts, displacements, send_type);
    a.expected_block(receive_count, receive_type);
  });
}

template <class Count>
bool allgather(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
               Count receive_count, MPI_Datatype receive_type, MPI_Comm comm, int* code) noexcept {
  const bool here = try_call("MPI_Allgather", operation::allgather, comm, code, [&](arguments& a) {
    if (!a.buffers(send, receive)) return;
    a.vectors(send_count, send_type, receive_count, receive_type, true);
  });
  return here || two_level::allgather(send, send_count, send_type, receive, receive_count,
                                      receive_type, comm, code);
}

template <class Count, class Displacement>
bool allgatherv(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
                const Count* counts, const Displacement* displacements, MPI_Datatype receive_type,
                MPI_Comm comm, int* code) noexcept {
  return try_call("MPI_Allgatherv", operation::allgatherv, comm, code, [&](arguments& a) {
    if (!a.buffers(send, receive)) return;
    a.output_blocks(counts, displacements, receive_type);
    a.own_block(send_count, send_type);
  });
}

template <class Count>
bool alltoall(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
              Count receive_count, MPI_Datatype receive_type, MPI_Comm comm, int* code) noexcept {
  const bool here = try_call("MPI_Alltoall", operation::alltoall, comm, code, [&](arguments& a) {
    if (!a.buffers(send, receive)) return;
    a.vectors(send_count, send_type, receive_count, receive_type, true);
  });
  return here || two_level::alltoall(send, send_count, send_type, receive, receive_count,
                                     receive_type, comm, code);
}

template <class Count, class Displacement>
bool alltoallv(const void* send, const Count* send_counts, const Displacement* send_displacements,
               MPI_Datatype send_type, void* receive, const Count* counts,
               const Displacement* displacements, MPI_Datatype receive_type, MPI_Comm comm,
               int* code) noexcept {
  return try_call("MPI_Alltoallv", operation::alltoallv, comm, code, [&](arguments& a) {
    if (!a.buffers(send, receive)) return;
    a.output_blocks(counts, displacements, receive_type);
    if (a.in_place)
      a.input_blocks(counts, displacements, receive_type);
    else
      a.input_blocks(send_counts, send_displacements, send_type);
  });
}

template <class Count>
bool reduce(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm, int* code) noexcept {
  const bool here = try_call("MPI_Reduce", operation::reduce, comm, code, [&](arguments& a) {
    a.rooted(root);
    if (a.buffers(send, a.rank == root ? receive : nullptr)) a.reducing(count, type, op);
  });
  return here || two_level::reduce(send, receive, count, type, op, root, comm, code);
}

template <class Count>
bool reduce_vector(const char* call, operation what, const void* send, void* receive, Count count,
                   MPI_Datatype type, MPI_Op op, MPI_Comm comm, int* code) noexcept {
  return try_call(call, what, comm, code, [&](arguments& a) {
    if (a.buffers(send, receive)) a.reducing(count, type, op);
  });
}
template <class Count>
bool allreduce(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm, int* code) noexcept {
  return reduce_vector("MPI_Allreduce", operation::allreduce, send, receive, count, type, op, comm,
                       code) ||
         two_level::allreduce(send, receive, count, type, op, comm, code);
}
template <class Count>
bool scan(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
          int* code) noexcept {
  return reduce_vector("MPI_Scan", operation::scan, send, receive, count, type, op, comm, code);
}
template <class Count>
bool exscan(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op,
            MPI_Comm comm, int* code) noexcept {
  return reduce_vector("MPI_Exscan", operation::exscan, send, receive, count, type, op, comm, code);
}
template <class Count>
bool reduce_scatter_block(const void* send, void* receive, Count count, MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm, int* code) noexcept {
  return reduce_vector("MPI_Reduce_scatter_block", operation::reduce_scatter_block, send, receive,
                       count, type, op, comm, code) ||
         two_level::reduce_scatter_block(send, receive, count, type, op, comm, code);
}

template <class Count>
bool reduce_scatter(const void* send, void* receive, const Count* counts, MPI_Datatype type,
                    MPI_Op op, MPI_Comm comm, int* code) noexcept {
  return try_call("MPI_Reduce_scatter", operation::reduce_scatter, comm, code, [&](arguments& a) {
    if (!a.buffers(send, receive)) return;
    a.reducing(std::accumulate(counts, counts + a.ranks, std::int64_t{0}), type, op);
    a.common_counts(counts);
  });
}

}  // namespace telpher::coll::exchange
