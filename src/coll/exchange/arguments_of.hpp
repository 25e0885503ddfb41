// SPDX-License-Identifier: BSD-3-Clause
// How the arguments of each collective are read: one function for each operation, with MPI's
// parameters except for the communicator. What it returns lives as long as these.
#pragma once

#include <numeric>

#include "coll/exchange/exchange.hpp"

namespace telpher::coll::exchange {

template <class Count>
auto bcast(void* buffer, Count count, MPI_Datatype type, int root) noexcept {
  return described(
      operation::bcast,
      [=](arguments& a) {
        a.rooted(root);
        const bool ok = a.rank == root ? a.buffers(buffer, nullptr) : a.buffers(nullptr, buffer);
        if (ok) a.vector(count, type);
      },
      [=](int) { return bytes_of(count, type); });
}

template <class Count>
auto gather(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
            Count receive_count, MPI_Datatype receive_type, int root) noexcept {
  return described(operation::gather, [=](arguments& a) {
    a.rooted(root);
    if (!a.buffers(send, a.rank == root ? receive : nullptr)) return;
    a.vectors(send_count, send_type, receive_count, receive_type, a.rank == root);
  });
}

template <class Count, class Displacement>
auto gatherv(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
             const Count* counts, const Displacement* displacements, MPI_Datatype receive_type,
             int root) noexcept {
  return described(operation::gatherv, [=](arguments& a) {
    a.rooted(root);
    if (!a.buffers(send, a.rank == root ? receive : nullptr)) return;
    if (a.rank == root) a.output_blocks(counts, displacements, receive_type);
    a.own_block(send_count, send_type);
  });
}

template <class Count>
auto scatter(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
             Count receive_count, MPI_Datatype receive_type, int root) noexcept {
  return described(operation::scatter, [=](arguments& a) {
    a.rooted(root);
    if (!a.buffers(a.rank == root ? send : nullptr, receive)) return;
    a.vectors(receive_count, receive_type, send_count, send_type, a.rank == root);
  });
}

template <class Count, class Displacement>
auto scatterv(const void* send, const Count* counts, const Displacement* displacements,
              MPI_Datatype send_type, void* receive, Count receive_count, MPI_Datatype receive_type,
              int root) noexcept {
  return described(operation::scatterv, [=](arguments& a) {
    a.rooted(root);
    if (!a.buffers(a.rank == root ? send : nullptr, receive)) return;
    if (a.rank == root) a.input_blocks(counts, displacements, send_type);
    a.expected_block(receive_count, receive_type);
  });
}

template <class Count>
auto block_from_each(operation what, const void* send, Count send_count, MPI_Datatype send_type,
                     void* receive, Count receive_count, MPI_Datatype receive_type) noexcept {
  return described(
      what,
      [=](arguments& a) {
        if (!a.buffers(send, receive)) return;
        a.vectors(send_count, send_type, receive_count, receive_type, true);
      },
      [=](int n) { return bytes_of(MPI_Count{receive_count} * n, receive_type); });
}
template <class... A>
auto allgather(const A&... a) noexcept {
  return block_from_each(operation::allgather, a...);
}
template <class... A>
auto alltoall(const A&... a) noexcept {
  return block_from_each(operation::alltoall, a...);
}

template <class Count, class Displacement>
auto allgatherv(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
                const Count* counts, const Displacement* displacements,
                MPI_Datatype receive_type) noexcept {
  return described(
      operation::allgatherv,
      [=](arguments& a) {
        if (!a.buffers(send, receive)) return;
        a.output_blocks(counts, displacements, receive_type);
        a.own_block(send_count, send_type);
      },
      [=](int n) {
        return bytes_of(std::accumulate(counts, counts + n, std::int64_t{0}), receive_type);
      });
}

template <class Count, class Displacement>
auto alltoallv(const void* send, const Count* send_counts, const Displacement* send_displacements,
               MPI_Datatype send_type, void* receive, const Count* counts,
               const Displacement* displacements, MPI_Datatype receive_type) noexcept {
  return described(operation::alltoallv, [=](arguments& a) {
    if (!a.buffers(send, receive)) return;
    a.output_blocks(counts, displacements, receive_type);
    if (a.in_place)
      a.input_blocks(counts, displacements, receive_type);
    else
      a.input_blocks(send_counts, send_displacements, send_type);
  });
}

template <class Count>
auto reduce(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op,
            int root) noexcept {
  return described(
      operation::reduce,
      [=](arguments& a) {
        a.rooted(root);
        if (a.buffers(send, a.rank == root ? receive : nullptr)) a.reducing(count, type, op);
      },
      [=](int) { return bytes_of(count, type); });
}

template <class Count>
auto reduce_vector(operation what, const void* send, void* receive, Count count, MPI_Datatype type,
                   MPI_Op op) noexcept {
  return described(
      what,
      [=](arguments& a) {
        if (a.buffers(send, receive)) a.reducing(count, type, op);
      },
      [=](int n) {
        return bytes_of(
            what == operation::reduce_scatter_block ? MPI_Count{count} * n : MPI_Count{count},
            type);
      });
}
template <class... A>
auto allreduce(const A&... a) noexcept {
  return reduce_vector(operation::allreduce, a...);
}
template <class... A>
auto scan(const A&... a) noexcept {
  return reduce_vector(operation::scan, a...);
}
template <class... A>
auto reduce_scatter_block(const A&... a) noexcept {
  return reduce_vector(operation::reduce_scatter_block, a...);
}

template <class Count>
auto exscan(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op) noexcept {
  return described(operation::exscan, [=](arguments& a) {
    const bool counts = a.rank > 0 || send == MPI_IN_PLACE;
    if (a.buffers(send, counts ? receive : nullptr)) a.reducing(count, type, op);
  });
}
template <class Count>
auto reduce_scatter(const void* send, void* receive, const Count* counts, MPI_Datatype type,
                    MPI_Op op) noexcept {
  return described(
      operation::reduce_scatter,
      [=](arguments& a) {
        if (!a.buffers(send, receive)) return;
        a.reducing(std::accumulate(counts, counts + a.ranks, std::int64_t{0}), type, op);
        a.common_counts(counts);
      },
      [=](int n) { return bytes_of(std::accumulate(counts, counts + n, std::int64_t{0}), type); });
}

}  // namespace telpher::coll::exchange
