// SPDX-License-Identifier: BSD-3-Clause
// telpher-bench: point-to-point figures in the shapes of the OSU micro-benchmarks, next to the same
// exchange staged by hand. docs/bench.md describes the output. Exit code 1: bytes arrived wrong.
#include <mpi.h>

#include <algorithm>

#include "cuda_memory.hpp"
#include "host.hpp"
#include "options.hpp"
#include "report.hpp"

using namespace telpher::bench;

namespace {

test test_of(const std::string& command) {
  for (const test t : {test::latency, test::bw, test::bibw})
    if (command == name(t)) return t;
  return test::mbw_mr;
}

std::vector<std::size_t> sizes(const options& o) {
  if (!o.sizes.empty()) return o.sizes;
  std::vector<std::size_t> out;
  for (std::size_t s = o.smallest; s <= o.largest; s = s ? s * 2 : 1) out.push_back(s);
  return out;
}

// Collective; ranks that take no part get no rows.
std::vector<row> run_pairs(const options& o, memory_source& source) {
  const test t = test_of(o.command);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int pairs = t != test::mbw_mr ? 1 : o.pairs ? o.pairs : std::max(1, size / 2);
  pairing pair = pair_up(MPI_COMM_WORLD, pairs);
  std::vector<mode> modes;
  if (o.telpher) modes.push_back(mode::telpher);
  if (o.staged) modes.push_back(mode::staged);
  const std::string kinds = {static_cast<char>(o.leader_kind), ':', static_cast<char>(o.peer_kind)};
  if (pair.rank == 0) print_head(t, o.csv, modes, o.limit, kinds);
  std::vector<row> all;
  const auto all_sizes = pair.active ? sizes(o) : std::vector<std::size_t>{};
  for (const std::size_t bytes : all_sizes) {
    const shape s{t, bytes, o.window, o.window_memory, o.leader_kind, o.peer_kind};
    const double limit = o.limit ? copy_limit(source, pair, s, o.how.min_time) : 0;
    const auto found = measure(source, pair, s, modes, o.how);
    std::vector<row> rows;
    for (std::size_t m = 0; m < modes.size(); ++m)
      rows.push_back({o.command, kinds, name(modes[m]), bytes, found[m], limit});
    if (pair.rank == 0) print_rows(t, o.csv, rows, o.limit);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  part(MPI_COMM_WORLD, pair);
  return all;
}

// Says what is missing before anything is allocated.
void check_devices(const options& o, memory_source& source) {
  if (o.leader_kind == kind::host && o.peer_kind == kind::host) return;
  if (o.allocation == "telpher" && !telpher_present())
    give_up(
        "buffers that are not host memory need Telpher: start with "
        "LD_PRELOAD=.../libtelpher-<abi>.so, or take -b H:H");
  if (source.device_count() == 0)
    give_up("no device was found; TELPHER_BACKEND=emu takes emulated ones, -b H:H host memory");
}

bool all_right(const std::vector<row>& rows) {
  for (const row& r : rows)
    if (!r.found.right) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  // As programs for GPUs do: a GPU-aware MPI may look in MPI_Init for the device that was chosen.
  if (const int device = early_cuda_device(argc, argv); device >= 0) use_cuda_device(device);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  options o = parse_options(argc, argv, rank == 0);
  const auto source = open_memory_source(o.allocation);
  const bool host = o.command == "host";
  if (!host) check_devices(o, *source);
  if (!o.devices.empty())
    source->choose_device(o.devices[static_cast<std::size_t>(rank) % o.devices.size()]);
  const facts about = collect_facts(MPI_COMM_WORLD, *source);
  if (host && o.json.empty()) o.json.push_back('-');  // stdout
  const auto rows = host ? measure_host(*source, o.how) : run_pairs(o, *source);
  if (rank == 0 && !o.json.empty()) write_json(o.json, about, rows);
  MPI_Finalize();
  return all_right(rows) ? 0 : 1;
}
