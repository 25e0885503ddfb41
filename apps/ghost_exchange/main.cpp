// SPDX-License-Identifier: BSD-3-Clause
// ghost_exchange: a blur on a two-dimensional grid whose ranks exchange halos, in the versions that
// a host program passes through on its way to GPUs. docs/use/applications.md says what each
// teaches.
#include <cstdio>
#include <stdexcept>
#include <string>

#include "ghost_exchange/ghost_exchange.hpp"

namespace {

using namespace apps::ghost_exchange;
using apps::options;

constexpr const char usage[] =
    R"(ghost_exchange: a 2-D blur with halo exchange on device memory, in several versions

  -x N, -y N          the grid of ranks (as square as it goes)
  -i N, -j N          cells of each rank, across and down (1024)
  -h N                width of the halo (1)
  -c                  exchange the halo's corners as well
  -I N                steps (100)
  --version LIST      versions in turn, or all (all)
  --exchange WAY      telpher: device buffers to MPI; staged: copied through pinned memory by hand
  --no-check          do not compare with a serial run of the whole domain
  --json FILE         results, one row a version

versions, each with one more change:
  host                arrays and loops of the CPU
  managed             kernels on the device, arrays and buffers in managed memory
  device-buffers      the buffers that MPI sees are device memory
  allocated-once      the buffers are made once, not in each exchange
  flat                one flat array in device memory instead of rows in managed memory
  overlap             the inner cells are computed during the exchange
)";

constexpr auto host = TELPHER_MEMORY_HOST;
constexpr auto managed = TELPHER_MEMORY_MANAGED;
constexpr auto device = TELPHER_MEMORY_DEVICE;
constexpr version versions[] = {
    {"host", "CPU only", host, host, false, false, false},
    {"managed", "all in managed memory", managed, managed, false, false, false},
    {"device-buffers", "buffers in device memory", managed, device, false, false, false},
    {"allocated-once", "buffers made once", managed, device, false, true, false},
    {"flat", "flat arrays, all in device memory", device, device, true, true, false},
    {"overlap", "inner cells during the exchange", device, device, true, true, true},
};

std::vector<const version*> chosen_versions(const std::string& list) {
  std::vector<const version*> chosen;
  std::string rest = list + ",";
  for (std::size_t comma; (comma = rest.find(',')) != std::string::npos; rest.erase(0, comma + 1)) {
    const std::string name = rest.substr(0, comma);
    const std::size_t before = chosen.size();
    for (const version& v : versions)
      if (name == v.name || name == "all") chosen.push_back(&v);
    if (chosen.size() == before) throw std::runtime_error("there is no version '" + name + "'");
  }
  return chosen;
}

problem read_problem(options& o) {
  int dims[2] = {static_cast<int>(o.number("-y", 0, 0, 1 << 20)),
                 static_cast<int>(o.number("-x", 0, 0, 1 << 20))};
  const int ranks = apps::world_size();
  const int given = std::max(dims[0], 1) * std::max(dims[1], 1);
  if (ranks % given != 0 || (dims[0] > 0 && dims[1] > 0 && given != ranks))
    throw std::runtime_error("-x and -y do not make " + std::to_string(ranks) + " ranks");
  MPI_Dims_create(ranks, 2, dims);
  problem p{.px = dims[1],
            .py = dims[0],
            .ni = static_cast<int>(o.number("-i", 1024, 1, 60000)),
            .nj = static_cast<int>(o.number("-j", 1024, 1, 60000)),
            .halo = static_cast<int>(o.number("-h", 1, 1, 1000)),
            .corners = o.flag("-c"),
            .steps = static_cast<int>(o.number("-I", 100, 0, 1000000)),
            .staged = o.choice("--exchange", {"telpher", "staged"}) == "staged"};
  if (p.halo > std::min(p.ni, p.nj))
    throw std::runtime_error("the halo is wider than a rank's rectangle");
  return p;
}

int body(options& o) {
  const problem p = read_problem(o);
  const auto chosen = chosen_versions(o.word("--version", "all"));
  const bool check = !o.flag("--no-check");
  const std::string json = o.word("--json", "");
  o.finish();
  if (check && static_cast<double>(p.ni) * p.nj * apps::world_size() > 5e7)
    throw std::runtime_error("the domain is too large for a serial run on every rank: --no-check");

  std::unique_ptr<apps::gpu> gpu;
  for (const version* v : chosen)
    if (v->field != host && !gpu) gpu = std::make_unique<apps::gpu>();
  const char* backend = gpu ? gpu->backend() : "none";
  const char* way = p.staged ? "staged" : "telpher";
  const bool first_rank = apps::world_rank() == 0;
  if (first_rank)
    std::printf(
        "# ghost_exchange: %d x %d ranks of %d x %d cells, halo %d%s, %d steps, %s, %s\n"
        "# seconds on the slowest rank\n%-15s %12s %12s %12s %12s  %s\n",
        p.px, p.py, p.ni, p.nj, p.halo, p.corners ? " with corners" : "", p.steps, backend, way,
        "version", "advancement", "boundary", "ghost update", "total", "check");

  std::vector<apps::row> rows;
  int wrong = 0;
  for (const version* v : chosen) {
    const outcome result = run(*v, p, gpu.get());
    const timing& t = result.time;
    const int bad = check ? count_differences(p, result.field) : 0;
    const char* verdict = !check ? "-" : apps::total(bad) == 0 ? "right" : "WRONG";
    if (first_rank)
      std::printf("%-15s %12.6f %12.6f %12.6f %12.6f  %s\n", v->name, t.advancement, t.boundary,
                  t.ghost_update, t.total, verdict);
    std::fflush(stdout);
    rows.push_back(apps::row()
                       .add("app", "ghost_exchange")
                       .add("version", v->name)
                       .add("backend", backend)
                       .add("exchange", way)
                       .add("ranks", apps::world_size())
                       .add("i", p.ni)
                       .add("j", p.nj)
                       .add("halo", p.halo)
                       .add("corners", p.corners ? 1 : 0)
                       .add("steps", p.steps)
                       .add("advancement", t.advancement)
                       .add("boundary", t.boundary)
                       .add("ghost_update", t.ghost_update)
                       .add("seconds", t.total)
                       .add("check", verdict));
    wrong += bad;
  }
  apps::write_rows(json, rows);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_program(argc, argv, usage, body);
}
