// SPDX-License-Identifier: BSD-3-Clause
// telpher-bench: messages and collectives in the shapes of the OSU micro-benchmarks, beside the
// same staged by hand. docs/measure/bench.md describes the output. Exit code 1: wrong bytes
// arrived.
#include <mpi.h>

#include "cuda_memory.hpp"
#include "host.hpp"
#include "run.hpp"
#include "stream.hpp"
#include "surface_run.hpp"

using namespace telpher::bench;

namespace {

// Reports what is missing before anything is allocated.
void check_devices(const options& o, memory_source& source) {
  if ((o.enqueue || o.stream_work > 0) && !stream::present(source))
    give_up(
        "--enqueue and --stream-work need Telpher and a device: start with "
        "LD_PRELOAD=.../libtelpher-<abi>.so");
  if (o.leader_kind == kind::host && o.peer_kind == kind::host) return;
  if (o.allocation == "telpher" && !telpher_present())
    give_up(
        "buffers that are not host memory need Telpher: start with "
        "LD_PRELOAD=.../libtelpher-<abi>.so, or take -b H:H");
  if (source.device_count() == 0)
    give_up("no device was found; TELPHER_BACKEND=emu takes emulated ones, -b H:H host memory");
}

std::vector<row> run_one(const options& o, memory_source& source, progress& along) {
  if (o.command == "host") return measure_host(source, o.how);
  if (o.command == "matrix") return run_matrix(o, source, along);
  if (o.surface) return run_surface(o, source, along);
  return o.which ? run_collective(o, source, along) : run_pairs(o, source, along);
}

std::vector<row> run(options& o, memory_source& source, bool talks) {
  std::vector<row> all;
  progress along(o.commands.size(), o.say_every, talks);
  for (const std::string& command : o.commands) {
    select(o, command);
    along.begin_test();
    const auto rows = run_one(o, source, along);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

bool all_right(const std::vector<row>& rows) {
  for (const row& r : rows)
    if (!r.found.right) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  // As GPU programs do: in MPI_Init a GPU-aware MPI may look for the device that was chosen.
  if (const int device = early_cuda_device(argc, argv); device >= 0) use_cuda_device(device);
  int level = MPI_THREAD_SINGLE;
  if (early_enqueue(argc, argv))
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  else
    MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  options o = parse_options(argc, argv, rank == 0);
  const auto source = open_memory_source(o.allocation);
  const bool host = o.commands.front() == "host";
  if (!host) check_devices(o, *source);
  if (!o.devices.empty())
    source->choose_device(o.devices[static_cast<std::size_t>(rank) % o.devices.size()]);
  const facts about = collect_facts(MPI_COMM_WORLD, *source);
  if (host && o.json.empty()) o.json.push_back('-');  // stdout
  const auto rows = run(o, *source, rank == 0);
  if (rank == 0 && !o.json.empty()) write_json(o.json, about, rows);
  MPI_Finalize();
  return all_right(rows) ? 0 : 1;
}
