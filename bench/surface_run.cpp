// SPDX-License-Identifier: BSD-3-Clause
#include "surface_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "file_access.hpp"
#include "halo.hpp"
#include "one_sided.hpp"
#include "packing.hpp"
#include "pairs.hpp"

namespace telpher::bench {

namespace {

/// What is measured of a test. Functions are called at the ranks that take part.
struct measured {
  observers who;
  std::vector<mode> modes;
  std::vector<std::size_t> sizes;
  bool time = true;    // microseconds; otherwise megabytes per second
  double at_once = 1;  // how often the bytes of a row are moved in the time of the row
  std::function<std::unique_ptr<workload>(mode, std::size_t bytes)> make;
  std::function<double(mode)> parts = [](mode) { return 1.0; };  // of an iteration
  std::function<double(std::size_t bytes)> limit;  // seconds of a plain copy, if asked for
};

// What stands beside a test in place of NCCL.
mode other_mode(surface_test t) {
  if (is_one_sided(t)) return mode::messages;
  if (packs(t)) return mode::copy;
  return uses_files(t) ? mode::host : mode::packed;
}

// At all ranks, also those that take no part.
std::vector<mode> modes_of(const options& o) {
  const bool can_stage = *o.surface != surface_test::halo;
  const bool host_only = o.leader_kind == kind::host && o.peer_kind == kind::host;
  std::vector<mode> modes;
  if (o.telpher) modes.push_back(mode::telpher);
  if (o.others) modes.push_back(other_mode(*o.surface));
  if (o.staged && can_stage && !host_only) modes.push_back(mode::staged);
  if (modes.empty()) give_up("none of the modes is possible for this test");
  return modes;
}

std::vector<row> rows_of(const options& o, const measured& m, std::size_t bytes) {
  std::vector<contender> contenders;
  for (const mode how : m.modes) contenders.push_back({how, m.make(how, bytes)});
  const auto timings = take_turns(m.who, contenders, o.how);
  std::vector<row> rows;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    figure f = common_figure(timings[i], o.how, m.parts(m.modes[i]));
    f.rate = m.at_once / f.us * 1e6;
    f.gbps = f.rate * static_cast<double>(bytes) / 1e9;
    rows.push_back({o.command, kinds_of(o), name(m.modes[i]), bytes, f});
  }
  return rows;
}

std::vector<row> run_sizes(const options& o, const std::vector<mode>& modes, measured m,
                           progress& along) {
  m.modes = modes;
  columns shown;
  shown.test = o.command;
  shown.kinds = kinds_of(o);
  shown.modes = m.modes;
  shown.time = m.time;
  shown.limit = static_cast<bool>(m.limit);
  set_options(shown, o);
  if (m.who.rank == 0) print_head(shown);
  std::vector<row> all;
  along.expect_parts(m.sizes.size());
  for (const std::size_t bytes : m.sizes) {
    const double limit = m.limit ? m.limit(bytes) : 0;
    auto rows = rows_of(o, m, bytes);
    for (row& r : rows) r.limit = limit;
    if (m.who.rank == 0) print_rows(shown, rows);
    all.insert(all.end(), rows.begin(), rows.end());
    along.end_part();
  }
  return all;
}

// --- one-sided ---

std::vector<std::size_t> one_sided_sizes(const options& o) {
  if (*o.surface == surface_test::fop_latency || *o.surface == surface_test::cas_latency)
    return {sizeof(std::uint64_t)};
  const std::size_t unit = *o.surface == surface_test::acc_latency ? o.reduced.bytes : 1;
  std::vector<std::size_t> found;
  for (const std::size_t s : sizes(o))
    if (s / unit > 0) found.push_back(s / unit * unit);
  return found;
}

measured one_sided_of(const options& o, memory_source& source, const pairing& pair) {
  const bool many = *o.surface == surface_test::put_bw || *o.surface == surface_test::get_bw;
  measured m;
  m.who = {pair.comm, pair.rank, 1, pair.leads, -1};
  m.sizes = one_sided_sizes(o);
  m.time = !many;
  const shape message{
      many ? test::bw : test::latency, 0, o.window, o.window_memory, o.leader_kind, o.peer_kind};
  m.make = [=, &o, &source](mode how, std::size_t bytes) -> std::unique_ptr<workload> {
    shape sized = message;
    sized.bytes = bytes;
    if (how == mode::messages) return std::make_unique<exchange>(source, pair, sized, how);
    const one_sided_shape s{*o.surface,      bytes,         many ? o.window : 1,
                            o.window_memory, o.leader_kind, o.peer_kind,
                            o.making,        o.reduced,     o.op};
    return std::make_unique<one_sided>(source, pair, s, how);
  };
  // A message's iteration is a round trip.
  const double window = o.window;
  m.parts = [=](mode how) { return many ? window : how == mode::messages ? 2.0 : 1.0; };
  if (o.limit)
    m.limit = [=, &o, &source](std::size_t bytes) {
      shape sized = message;
      sized.bytes = bytes;
      return copy_limit(source, pair, sized, o.how.min_time);
    };
  return m;
}

// --- packing, halos ---

measured packing_of(const options& o, memory_source& source, const pairing& pair) {
  measured m;
  m.who = {pair.comm, pair.rank, 1, true, -1};
  m.sizes = sizes(o);
  m.time = false;
  m.make = [&o, &source](mode how, std::size_t bytes) {
    const packing_shape s{*o.surface, bytes, o.leader_kind, o.peer_kind, o.type};
    return std::make_unique<packing>(source, s, how);
  };
  return m;
}

measured halo_of(const options& o, memory_source& source, const pairing& pair) {
  measured m;
  m.who = {pair.comm, pair.rank, 2, true, -1};
  for (const std::size_t s : sizes(o)) m.sizes.push_back(face_bytes(s, o.halo_width));
  m.sizes.erase(std::unique(m.sizes.begin(), m.sizes.end()), m.sizes.end());
  m.at_once = 2.0 * o.faces;
  m.make = [&o, &source, pair](mode how, std::size_t bytes) {
    const halo_shape s{bytes, o.faces, o.halo_width, o.leader_kind, o.peer_kind};
    return std::make_unique<halo>(source, pair, s, how);
  };
  return m;
}

// --- files ---

// By default a file in the folder for temporary ones; rank 0 names it.
std::string file_name(const options& o) {
  char text[4096] = "";
  const std::string chosen = !o.file.empty() ? o.file
                                             : (std::filesystem::temp_directory_path() /
                                                ("telpher-bench-" + std::to_string(::getpid())))
                                                   .string();
  std::snprintf(text, sizeof text, "%s", chosen.c_str());
  MPI_Bcast(text, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

measured files_of(const options& o, memory_source& source, int rank, int ranks) {
  measured m;
  m.who = {MPI_COMM_WORLD, rank, ranks, true, -1};
  for (const std::size_t s : sizes(o))
    if (s > 0) m.sizes.push_back(s);
  m.time = false;
  m.at_once = ranks;
  const kind own = rank % 2 == 0 ? o.leader_kind : o.peer_kind;
  m.make = [&o, &source, own, name = file_name(o)](mode how, std::size_t bytes) {
    const file_shape s{*o.surface, bytes, own, name, MPI_COMM_WORLD};
    return std::make_unique<file_access>(source, s, how);
  };
  return m;
}

// The first rank, while the others sleep.
pairing first_rank(int rank) {
  pairing p;
  p.active = p.leads = rank == 0;
  MPI_Comm_split(MPI_COMM_WORLD, p.active ? 0 : MPI_UNDEFINED, rank, &p.comm);
  return p;
}

}  // namespace

std::vector<row> run_surface(const options& o, memory_source& source, progress& along) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<mode> modes = modes_of(o);
  if (uses_files(*o.surface)) return run_sizes(o, modes, files_of(o, source, rank, ranks), along);
  pairing pair = packs(*o.surface) ? first_rank(rank) : pair_up(MPI_COMM_WORLD, 1);
  std::vector<row> found;
  if (pair.active && is_one_sided(*o.surface) && !makes_windows(pair.comm)) {
    if (rank == 0)
      std::fprintf(stderr, "telpher: %s is left out: the host MPI makes no window of host memory\n",
                   o.command.c_str());
  } else if (pair.active) {
    found = run_sizes(o, modes,
                      packs(*o.surface)          ? packing_of(o, source, pair)
                      : is_one_sided(*o.surface) ? one_sided_of(o, source, pair)
                                                 : halo_of(o, source, pair),
                      along);
  }
  part(MPI_COMM_WORLD, pair);
  return found;
}

}  // namespace telpher::bench
