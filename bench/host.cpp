// SPDX-License-Identifier: BSD-3-Clause
#include "host.hpp"

#include <algorithm>

#include "pairs.hpp"

namespace telpher::bench {

namespace {

constexpr int requests = 64;
constexpr int waitall_bytes = 8;
constexpr long waitall_iterations = 200;

// Half of the requests are receives, half are sends. Returns the microseconds of one round.
figure measure_waitall(const pairing& pair, const plan& p) {
  std::vector<double> rounds;
  for (int b = 0; b <= p.batches; ++b) {
    char out[waitall_bytes] = {}, in[requests][waitall_bytes];
    MPI_Request pending[requests];
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, pair.peer, 0, nullptr, 0, MPI_BYTE, pair.peer, 0, pair.comm,
                 MPI_STATUS_IGNORE);
    const double start = MPI_Wtime();
    for (long i = 0; i < waitall_iterations; ++i) {
      for (int r = 0; r < requests / 2; ++r)
        MPI_Irecv(in[r], waitall_bytes, MPI_BYTE, pair.peer, r, pair.comm, &pending[r]);
      for (int r = 0; r < requests / 2; ++r)
        MPI_Isend(out, waitall_bytes, MPI_BYTE, pair.peer, r, pair.comm,
                  &pending[requests / 2 + r]);
      MPI_Waitall(requests, pending, MPI_STATUSES_IGNORE);
    }
    // The first batch warms up.
    if (b > 0) rounds.push_back((MPI_Wtime() - start) / waitall_iterations * 1e6);
  }
  double found[2] = {median(rounds), *std::min_element(rounds.begin(), rounds.end())};
  MPI_Bcast(found, 2, MPI_DOUBLE, 0, pair.comm);
  figure f;
  f.us = found[0];
  f.us_min = found[1];
  f.rate = requests / f.us * 1e6;
  f.gbps = f.rate * waitall_bytes / 1e9;
  return f;
}

std::vector<row> measure_pair(memory_source& source, const pairing& pair, const plan& p) {
  std::vector<row> rows;
  for (const test t : {test::latency, test::bw}) {
    for (const std::size_t bytes : {8ul, 1024ul, 65536ul, 4194304ul}) {
      const shape s{.what = t, .bytes = bytes, .window_memory = 128u << 20};
      const auto found = measure(source, pair, s, {mode::telpher}, p);
      rows.push_back({std::string("host_") + name(t), "H:H", "telpher", bytes, found[0], 0});
    }
  }
  rows.push_back({"host_waitall64", "H:H", "telpher", waitall_bytes, measure_waitall(pair, p), 0});
  return rows;
}

}  // namespace

std::vector<row> measure_host(memory_source& source, const plan& p) {
  pairing pair = pair_up(MPI_COMM_WORLD, 1);
  auto rows = pair.active ? measure_pair(source, pair, p) : std::vector<row>{};
  part(MPI_COMM_WORLD, pair);
  return rows;
}

}  // namespace telpher::bench
