// SPDX-License-Identifier: BSD-3-Clause
// What the files of the test `partitioned` share.
#pragma once

#include <numeric>

#include "suite.hpp"

namespace partitioned_test {

using namespace mpi_test;

#if MPI_TEST_HAS_MPI_4

/// A ring: each rank sends to the next one and receives from the one before.
struct ring {
  int next, before;
  explicit ring(MPI_Comm comm) {
    int rank = 0, size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
  }
};

inline std::uint64_t identity(int sender, int what, int round) {
  return static_cast<std::uint64_t>((round * 64 + what) * 64 + sender + 1);
}

/// The partitions in an order that is neither ascending nor descending.
inline std::vector<int> shuffled(int partitions, int round) {
  std::vector<int> order(static_cast<std::size_t>(partitions));
  std::iota(order.begin(), order.end(), 0);
  random_numbers random(static_cast<std::uint64_t>(round + 17));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

/// One end's request with its buffer of bytes.
struct one_end {
  one_end(kind k, std::size_t bytes) : data(k, bytes) {}
  void send(int partitions, int to, int tag, MPI_Comm comm) {
    MPI_Psend_init(data.data(), partitions, count(partitions), MPI_BYTE, to, tag, comm,
                   MPI_INFO_NULL, &request);
  }
  void receive(int partitions, int from, int tag, MPI_Comm comm) {
    MPI_Precv_init(data.data(), partitions, count(partitions), MPI_BYTE, from, tag, comm,
                   MPI_INFO_NULL, &request);
  }
  MPI_Count count(int partitions) const {
    return static_cast<MPI_Count>(data.bytes()) / std::max(partitions, 1);
  }
  buffer data;
  MPI_Request request = MPI_REQUEST_NULL;
};

void round_trip(suite& s, const ring& r, MPI_Comm comm, one_end& out, one_end& in, int partitions,
                int round);
/// Memory kinds, sizes and partitions of both ends.
void ends(suite& s, kind from, kind to, int send_partitions, int receive_partitions,
          std::size_t bytes);

// partitioned_edges.cpp
void origins(suite& s, kind k);
void between_groups(suite& s, kind k);
void edges(suite& s, kind k);
void wrong_use(suite& s, kind k);

#endif

}  // namespace partitioned_test
