// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <algorithm>
#include <cstdio>

#include "collective_run.hpp"
#include "pairs.hpp"

namespace telpher::bench {

namespace {

test test_of(const std::string& command) {
  for (const test t : tests)
    if (command == name(t)) return t;
  return test::latency;
}

std::vector<mode> modes_of(const options& o) {
  if (o.enqueue && !o.by_hand) return {mode::enqueued};
  if (o.enqueue) return {mode::enqueued, mode::by_hand};
  std::vector<mode> modes;
  if (o.telpher) modes.push_back(mode::telpher);
  if (o.staged) modes.push_back(mode::staged);
  return modes;
}

}  // namespace

std::string kinds_of(const options& o) {
  return {static_cast<char>(o.leader_kind), ':', static_cast<char>(o.peer_kind)};
}

void set_options(columns& c, const options& o) {
  c.full = o.full;
  c.csv = o.csv;
  c.percentiles = o.how.percentiles;
}

std::vector<std::size_t> sizes(const options& o) {
  if (!o.sizes.empty()) return o.sizes;
  std::vector<std::size_t> out;
  const std::size_t largest = o.largest ? o.largest : o.which ? 1u << 20 : 4u << 20;
  for (std::size_t s = o.smallest; s <= largest; s = s ? s * 2 : 1) out.push_back(s);
  return out;
}

// --- pairs ---

std::vector<row> run_pairs(const options& o, memory_source& source, progress& along) {
  const test t = test_of(o.command);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int pairs = !takes_pairs(t) ? 1 : o.pairs ? o.pairs : std::max(1, size / 2);
  pairing pair = pair_up(MPI_COMM_WORLD, pairs);
  const std::vector<mode> modes = modes_of(o);
  columns shown = columns_of(t, kinds_of(o), modes);
  shown.limit = o.limit;
  set_options(shown, o);
  if (pair.rank == 0) print_head(shown);
  std::vector<row> all;
  const auto all_sizes = pair.active ? sizes(o) : std::vector<std::size_t>{};
  along.expect_parts(all_sizes.size());
  for (const std::size_t bytes : all_sizes) {
    const shape s{t,           bytes,        o.window, o.window_memory, o.leader_kind,
                  o.peer_kind, o.persistent, o.type,   o.stream_work};
    const double limit = o.limit ? copy_limit(source, pair, s, o.how.min_time) : 0;
    const auto found = measure(source, pair, s, modes, o.how);
    std::vector<row> rows;
    for (std::size_t m = 0; m < modes.size(); ++m)
      rows.push_back({o.command, shown.kinds, name(modes[m]), bytes, found[m], limit});
    if (pair.rank == 0) print_rows(shown, rows);
    all.insert(all.end(), rows.begin(), rows.end());
    along.end_part();
  }
  part(MPI_COMM_WORLD, pair);
  return all;
}

// --- collectives ---

namespace {

// The sizes that are possible for the collective: whole elements in each block.
std::vector<std::size_t> collective_sizes(const options& o, int ranks) {
  if (o.which->send == collective::blocks::none && o.which->receive == collective::blocks::none)
    return {0};
  const bool shared = o.which->comes_from == collective::origin::reduced_for_me;
  const std::size_t unit =
      (o.which->reduces() ? o.reduced.bytes : 1) * (shared ? static_cast<std::size_t>(ranks) : 1);
  std::vector<std::size_t> out;
  for (const std::size_t s : sizes(o))
    if (s / unit * unit > 0) out.push_back(s / unit * unit);
  return out;
}

std::unique_ptr<nccl> open_other(const options& o, memory_source& source, int rank) {
  const bool on_device = o.leader_kind == kind::device && o.peer_kind == kind::device;
  if (!o.others || o.enqueue || !on_device || o.form_of_call != form::blocking) return nullptr;
  std::string why;
  auto other = open_nccl(MPI_COMM_WORLD, source.backend(), source.device(), why);
  if (!other && rank == 0 && source.backend() == "cuda")
    std::fprintf(stderr, "telpher: no column for NCCL: %s\n", why.c_str());
  if (other && !other->supports(*o.which)) other.reset();
  return other;
}

columns columns_of(const options& o, const std::vector<mode>& modes) {
  columns c;
  c.test = o.command;
  c.kinds = kinds_of(o);
  c.modes = modes;
  c.bus = o.which->counts != collective::traffic::none;
  c.overlap = o.form_of_call == form::nonblocking;
  set_options(c, o);
  return c;
}

}  // namespace

std::vector<row> run_collective(const options& o, memory_source& source, progress& along) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (o.root >= size) give_up("--root is not a rank of this job");
  const auto other = open_other(o, source, rank);
  std::vector<mode> modes = modes_of(o);
  if (other) modes.push_back(mode::nccl);
  if (o.others && o.which->among_neighbours() && o.form_of_call == form::blocking && !o.enqueue)
    modes.push_back(mode::messages);
  if (modes.empty()) give_up("NCCL is asked for and cannot be used here");
  const columns shown = columns_of(o, modes);
  collective_shape s{o.which, o.form_of_call, o.reduced, o.op};
  s.root = o.root;
  s.test_calls = o.test_calls;
  s.stream_work = o.stream_work;
  s.own_kind = rank % 2 == 0 ? o.leader_kind : o.peer_kind;
  s.around = grid(size, o.dimensions, o.radius);
  if (o.which->among_neighbours())
    s.comm = s.around.communicator(MPI_COMM_WORLD);
  else
    MPI_Comm_dup(MPI_COMM_WORLD, &s.comm);
  if (rank == 0) print_head(shown);
  std::vector<row> all;
  const auto all_sizes = collective_sizes(o, size);
  along.expect_parts(all_sizes.size());
  for (const std::size_t bytes : all_sizes) {
    s.bytes = bytes;
    const auto found = measure(source, s, modes, other.get(), o.how);
    std::vector<row> rows;
    for (std::size_t m = 0; m < modes.size(); ++m)
      rows.push_back({o.command, shown.kinds, name(modes[m]), bytes, found[m]});
    if (rank == 0) print_rows(shown, rows);
    all.insert(all.end(), rows.begin(), rows.end());
    along.end_part();
  }
  MPI_Comm_free(&s.comm);
  return all;
}

}  // namespace telpher::bench
