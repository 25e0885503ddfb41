// SPDX-License-Identifier: BSD-3-Clause
// cg: conjugate gradients with a multigrid preconditioner as HPCG has them, on device memory.
// docs/use/applications.md says what is the same and what is not.
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "cg/checks.hpp"

namespace {

using namespace apps::cg;
using apps::options;

constexpr const char usage[] =
    R"(cg: conjugate gradients with multigrid, HPCG's operator and phases, on device memory

  --nx, --ny, --nz N   rows of each rank (104)
  --levels N           grids of the preconditioner (4, or as many as the sizes can be halved)
  --iterations N       of a set (50); --sets N: sets that are timed (1)
  --exchange WAY       telpher: device pointers to MPI; staged: copies through pinned memory by hand;
                       matched: requests matched once, in the order of the device's queue
  --reference auto|always|never   compare with serial runs of the whole grid (auto: up to 200000 rows)
  --no-check           no checks at all
  --json FILE          results, one row a phase
)";

constexpr double rows_of_reference = 200000;

struct settings {
  geometry g;
  int levels, iterations, sets;
  exchange_way way;
  bool check, reference;
  std::string json;
};

settings read_settings(options& o) {
  const auto edge = [&](const char* name) {
    return static_cast<int>(o.number(name, 104, 2, 1024));
  };
  settings s{};
  s.g.n = {edge("--nx"), edge("--ny"), edge("--nz")};
  int dims[3] = {0, 0, 0};
  MPI_Dims_create(apps::world_size(), 3, dims);
  s.g.p = {dims[2], dims[1], dims[0]};
  const int rank = apps::world_rank();
  s.g.place = {rank % dims[2], rank / dims[2] % dims[1], rank / dims[2] / dims[1]};
  int most = 1;
  for (geometry g = s.g; most < 4 && g.can_be_coarser(); g = g.coarser()) ++most;
  s.levels = static_cast<int>(o.number("--levels", most, 1, most));
  s.iterations = static_cast<int>(o.number("--iterations", 50, 1, 100000));
  s.sets = static_cast<int>(o.number("--sets", 1, 1, 100000));
  const std::string way = o.choice("--exchange", {"telpher", "staged", "matched"});
  s.way = way == "staged"    ? exchange_way::staged
          : way == "matched" ? exchange_way::matched
                             : exchange_way::telpher;
  s.check = !o.flag("--no-check");
  const std::string reference = o.choice("--reference", {"auto", "always", "never"});
  const double rows = static_cast<double>(s.g.rows()) * apps::world_size();
  s.reference = reference == "always" || (reference == "auto" && rows <= rows_of_reference);
  s.json = o.word("--json", "");
  o.finish();
  return s;
}

const char* name_of(exchange_way way) {
  constexpr const char* names[] = {"telpher", "staged", "matched"};
  return names[static_cast<int>(way)];
}

/// Floating-point operations as HPCG counts them, in units of 1e9.
struct operations {
  double ddot, waxpby, spmv, mg;
  double total() const { return ddot + waxpby + spmv + mg; }
};

operations count_operations(const settings& s, const solver& cg) {
  const double sets = s.sets, iterations = sets * s.iterations;
  const double rows = static_cast<double>(s.g.rows()) * apps::world_size();
  operations o{};
  o.ddot = (3 * iterations + sets) * 2 * rows;
  o.waxpby = (3 * iterations + sets) * 2 * rows;
  o.spmv = (iterations + sets) * 2 * static_cast<double>(cg.nonzeros(0));
  for (int l = 0; l < s.levels; ++l) {
    const double sweeps = l + 1 < s.levels ? 4 + 4 + 2 : 4;  // before, after, residual; or only one
    o.mg += iterations * sweeps * static_cast<double>(cg.nonzeros(l));
  }
  return {o.ddot / 1e9, o.waxpby / 1e9, o.spmv / 1e9, o.mg / 1e9};
}

void print_results(const settings& s, const operations& ops, const timing& t, const char* backend,
                   const outcome& o) {
  const char* way = name_of(s.way);
  const bool first_rank = apps::world_rank() == 0;
  std::vector<apps::row> rows;
  const auto line = [&](const char* phase, double mine, double billions) {
    const double seconds = apps::largest(mine);
    if (first_rank && billions > 0)
      std::printf("%-10s %12.6f s %12.3f GFLOP/s\n", phase, seconds, billions / seconds);
    else if (first_rank)
      std::printf("%-10s %12.6f s\n", phase, seconds);
    rows.push_back(apps::row()
                       .add("app", "cg")
                       .add("phase", phase)
                       .add("backend", backend)
                       .add("exchange", way)
                       .add("ranks", apps::world_size())
                       .add("nx", s.g.n[0])
                       .add("ny", s.g.n[1])
                       .add("nz", s.g.n[2])
                       .add("iterations", s.sets * s.iterations)
                       .add("seconds", seconds)
                       .add("gflops", billions / seconds)
                       .add("residual", o.residuals.back()));
  };
  const bool has_phases = s.way != exchange_way::matched;  // the CPU knows of no phases in a queue
  if (has_phases) {
    line("DDOT", t.ddot, ops.ddot);
    line("WAXPBY", t.waxpby, ops.waxpby);
    line("SpMV", t.spmv, ops.spmv);
    line("MG", t.mg, ops.mg);
  }
  line("total", t.total, ops.total());
  if (has_phases) {
    line("(halos)", t.exchange, 0);
    line("(sums)", t.allreduce, 0);
  }
  apps::write_rows(s.json, rows);
}

int body(options& o) {
  const settings s = read_settings(o);
  const apps::gpu gpu;
  solver cg(gpu, s.g, s.levels, s.way);
  if (apps::world_rank() == 0)
    std::printf(
        "# cg: %d x %d x %d ranks of %d x %d x %d rows, %d levels, %d x %d iterations, %s, %s\n",
        s.g.p[0], s.g.p[1], s.g.p[2], s.g.n[0], s.g.n[1], s.g.n[2], s.levels, s.sets, s.iterations,
        gpu.backend(), name_of(s.way));
  const auto b = right_side(cg, s.g);
  {
    auto x = zeros(cg);  // caches and pools fill before the clocks run
    (void)cg.solve(b, x, {std::min(s.iterations, 2), 0, true});
  }
  auto x = zeros(cg);
  outcome result;
  cg.time() = {};
  MPI_Barrier(MPI_COMM_WORLD);
  for (int set = 0; set < s.sets; ++set) {
    x = zeros(cg);
    result = cg.solve(b, x, {s.iterations, 0, true});
  }
  const timing t = cg.time();
  print_results(s, count_operations(s, cg), t, gpu.backend(), result);
  return s.check ? check_all(cg, s.g, b, x, result, s.iterations, s.reference) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_program(argc, argv, usage, body);
}
