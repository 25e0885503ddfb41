// SPDX-License-Identifier: BSD-3-Clause
// Latency and bandwidth from every rank to every other, one pair at a time while the others sleep.
// This shows what a link between devices carries when it is not shared. Telpher's settings choose
// the path; `telpher bench matrix` runs this once for each path.
#include <cstdio>

#include "pairs.hpp"
#include "run.hpp"

namespace telpher::bench {

namespace {

constexpr std::size_t small_bytes = 8;
constexpr std::size_t large_bytes = 4u << 20;

// Both tests from one rank to another, on a communicator of the two.
std::vector<row> measure_way(const options& o, memory_source& source, const pairing& pair) {
  std::vector<row> rows;
  const std::size_t small = o.sizes.size() == 2 ? o.sizes[0] : small_bytes;
  const std::size_t large = o.sizes.size() == 2 ? o.sizes[1] : large_bytes;
  for (const test t : {test::latency, test::bw}) {
    const shape s{
        t,          t == test::latency ? small : large, o.window, o.window_memory, o.leader_kind,
        o.peer_kind};
    const auto found = measure(source, pair, s, {mode::telpher}, o.how);
    rows.push_back({std::string("matrix_") + name(t), "", "", s.bytes, found[0]});
  }
  return rows;
}

// Sends what the sending rank measured to rank 0.
void hand_over(std::vector<row>& rows, int from, int rank) {
  struct record {
    unsigned long long bytes;
    double us, us_min, gbps, rate;
    int right, checked;
    char path[32];
  };
  for (row& r : rows) {
    record one{};
    figure& f = r.found;
    if (rank == from) {
      one = {r.bytes, f.us, f.us_min, f.gbps, f.rate, f.right, f.checked, ""};
      std::snprintf(one.path, sizeof one.path, "%s", f.path.c_str());
    }
    MPI_Bcast(&one, sizeof one, MPI_BYTE, from, MPI_COMM_WORLD);
    r.bytes = one.bytes;
    f.us = one.us;
    f.us_min = one.us_min;
    f.gbps = one.gbps;
    f.rate = one.rate;
    f.right = one.right;
    f.checked = one.checked;
    f.path = one.path;
  }
}

pairing pair_of(int from, int to, int rank) {
  pairing p;
  p.leads = rank == from;
  p.active = p.leads || rank == to;
  p.pairs = 1;
  MPI_Comm_split(MPI_COMM_WORLD, p.active ? 0 : MPI_UNDEFINED, rank == from ? 0 : 1, &p.comm);
  p.rank = p.leads ? 0 : 1;
  p.peer = 1 - p.rank;
  return p;
}

double shown(const row& r) {
  return r.test == "matrix_bw" ? r.found.gbps : r.found.us;
}

void print_table(const char* title, const std::vector<row>& rows, const char* test, int size) {
  std::printf("# %s, from the rank of the row to that of the column\n%-6s", title, "");
  for (int to = 0; to < size; ++to) std::printf(" %9d", to);
  for (int from = 0; from < size; ++from) {
    std::printf("\n%-6d", from);
    for (int to = 0; to < size; ++to) {
      const row* found = nullptr;
      for (const row& r : rows)
        if (r.from == from && r.to == to && r.test == test) found = &r;
      if (!found)
        std::printf(" %9s", "-");
      else
        std::printf(" %9.2f", shown(*found));
    }
  }
  std::printf("\n");
}

}  // namespace

std::vector<row> run_matrix(const options& o, memory_source& source, progress& along) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) give_up("a matrix needs two ranks or more");
  along.expect_parts(static_cast<std::size_t>(size) * static_cast<std::size_t>(size - 1));
  std::vector<row> all;
  for (int from = 0; from < size; ++from)
    for (int to = 0; to < size; ++to) {
      if (from == to) continue;
      pairing pair = pair_of(from, to, rank);
      std::vector<row> rows(2);
      rows[0].test = "matrix_latency";
      rows[1].test = "matrix_bw";
      if (pair.active) rows = measure_way(o, source, pair);
      part(MPI_COMM_WORLD, pair);
      hand_over(rows, from, rank);
      for (row& r : rows) {
        r.kinds = {static_cast<char>(o.leader_kind), ':', static_cast<char>(o.peer_kind)};
        r.mode = "telpher";
        r.from = from;
        r.to = to;
        all.push_back(r);
      }
      along.end_part();
    }
  if (rank == 0) {
    print_table("latency in us", all, "matrix_latency", size);
    print_table("bandwidth in GB/s", all, "matrix_bw", size);
  }
  return all;
}

}  // namespace telpher::bench
