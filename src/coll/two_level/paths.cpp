// SPDX-License-Identifier: BSD-3-Clause
#include "coll/two_level/paths.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/algorithms/catalogue.hpp"
#include "coll/exchange/call_problem.hpp"
#include "coll/exchange/exchange.hpp"
#include "coll/exchange/selection.hpp"
#include "host_mpi/job.hpp"
#include "path/compression.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::coll::two_level {
namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

enum class nodes { any, even, consecutive };
struct row {
  operation what;
  std::uint64_t least_bytes;
  nodes of;
};
constexpr row rows[] = {
#define TELPHER_TWO_LEVEL(operation_, least_bytes, of) \
  {operation::operation_, least_bytes, nodes::of},
#include "coll/two_level/selection.def"
#undef TELPHER_TWO_LEVEL
};

/// Where the setting names an algorithm of one node, the table still decides between nodes.
std::uint64_t least_bytes(const row& r) {
  const auto forced = exchange::forced_algorithm(r.what);
  if (!exchange::enabled() || forced == "staged") return never;
  const algorithm* a = find_algorithm(r.what, forced);
  const bool crosses = a && (a->restrictions & restriction::between_nodes) != 0;
  return crosses || forced == "two_level" ? 1 : r.least_bytes;
}

struct in_force {
  std::uint64_t calls = 0;
  bool two_level = false;
};

/// What is kept for a communicator.
struct record {
  bool refused = false;  // for good, at all ranks
  bool met = false;      // a team was made, or refused
  std::unique_ptr<team> made;
  std::map<std::uint32_t, in_force> paths;  // by operation and size class
  std::vector<std::string> explained;
};

std::mutex guard;
/// In the order in which they were made, so that all ranks give them back in the same order.
std::vector<std::pair<MPI_Comm, std::unique_ptr<record>>>& table() {
  static auto* one = new std::vector<std::pair<MPI_Comm, std::unique_ptr<record>>>;
  return *one;
}

record& record_of(MPI_Comm comm) {
  std::lock_guard lock(guard);
  for (auto& [known, r] : table())
    if (known == comm) return *r;
  return *table().emplace_back(comm, std::make_unique<record>()).second;
}

std::uint32_t key_of(const call_facts& c) {
  return static_cast<std::uint32_t>(c.what) << 8 |
         static_cast<std::uint32_t>(c.own_bytes ? 0 : std::bit_width(c.bytes));
}

std::int64_t settings_mark(const codec::choices& compression) {
  const std::string text =
      config().coll_algorithm + '\n' + std::to_string(codec::fingerprint(compression)) + '\n' +
      std::to_string(config().compression_threshold) + ' ' +
      std::to_string(config().compression_link) + ' ' + std::to_string(config().compression_codec) +
      ' ' + std::to_string(config().compression_force) + ' ' + std::to_string(config().coll_block);
  return static_cast<std::int64_t>(std::hash<std::string>()(text) >> 2);
}

/// The least of each value over all ranks.
template <std::size_t N>
bool least(MPI_Comm comm, std::array<std::int64_t, N>& values) {
  std::array<std::int64_t, N> all{};
  ticket::blocking_call blocked;
  if (pmpi::Allreduce(values.data(), all.data(), static_cast<int>(N), MPI_INT64_T, MPI_MIN, comm) !=
      MPI_SUCCESS)
    return false;
  values = all;
  return true;
}

const memory::place& device_of(const call_facts& c) {
  return c.input.on_device() ? c.input.where : c.output.where;
}

void explain(const call_facts& c, record& r, const char* why) {
  if (!config().explain) return;
  int rank = 0, ranks = 0;
  pmpi::Comm_rank(c.comm, &rank);
  pmpi::Comm_size(c.comm, &ranks);
  if (rank != 0) return;
  char line[240];
  std::snprintf(line, sizeof line, "%s on %d ranks of several nodes, up to %llu bytes: %s", c.name,
                ranks, static_cast<unsigned long long>(exchange::size_class(c.bytes)), why);
  if (std::find(r.explained.begin(), r.explained.end(), line) != r.explained.end()) return;
  r.explained.emplace_back(line);
  std::fprintf(stderr, "[telpher %d] %s\n", ticket::job().rank, line);
}

/// Makes the team and its buffers with the first vote that says device; false at all ranks alike.
bool ready(const call_facts& c, record& r) {
  if (!r.met) r.made = team::make(c.comm);
  r.met = true;
  if (!r.made) return false;
  if (r.made->prepared) return true;
  const auto all = [&](bool mine) {
    std::array<std::int64_t, 1> good{mine};
    return least(c.comm, good) && good[0] == 1;
  };
  r.made->prepared = all(r.made->prepare(device_of(c))) && r.made->prepare_room(device_of(c), all);
  return r.made->prepared;
}

bool suits(operation what, const shape& among) {
  for (const row& w : rows) {
    if (w.what != what || w.of == nodes::any) continue;
    if (!among.even || (w.of == nodes::consecutive && !among.consecutive)) return false;
  }
  return true;
}

bool vote(const call_facts& c, record& r) {
  const codec::choices compression = path::choices_of(c.comm);
  const std::int64_t mark = settings_mark(compression);
  const std::int64_t size = worthwhile(c.what, c.bytes) ? -1 : 0;
  std::array<std::int64_t, 4> words{on_one_device(c) && c.prepared, mark, -mark, size};
  if (!least(c.comm, words)) return false;
  if (words[1] != -words[2]) {
    TELPHER_WARN(
        "ranks have different settings of collectives or compression: between nodes they are "
        "staged");
    r.refused = true;
    return false;
  }
  if (words[3] == 0) {
    explain(c, r, "staged: small at all ranks");
    return false;
  }
  if (words[0] != 1) {
    explain(c, r, "staged: not all memory is device memory");
    return false;
  }
  if (!ready(c, r)) {
    explain(c, r, "staged: no two levels can be made here");
    r.refused = true;
    return false;
  }
  if (!suits(c.what, r.made->among)) {
    explain(c, r, "staged: its nodes have different numbers of ranks, or not consecutive ones");
    return false;
  }
  r.made->compression = compression;
  char how[120];
  std::snprintf(how, sizeof how, "two_level over %zu nodes, %d leaders a node",
                r.made->among.nodes.size(), r.made->among.lanes);
  explain(c, r, how);
  return true;
}

}  // namespace

bool spans_nodes(MPI_Comm comm) noexcept {
  int inter = 0;
  return comm != MPI_COMM_NULL && pmpi::Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
         host_mpi::is_ours(ticket::job(), comm) && !exchange::communicator::of(comm);
}

bool on_one_device(const call_facts& c) noexcept {
  const bool input = !c.input.at || c.input.where == device_of(c);
  const bool output = !c.output.at || c.output.where == device_of(c);
  return device_of(c).on_device() && input && output && c.contiguous;
}

bool can_reduce(const call_facts& c, const reduction& by) noexcept {
  const memory::place& where = device_of(c);
  return !where.on_device() ||
         where.owner->prepare(where.device, kernel::exchange_with(by.op, by.type)) == status::ok;
}

int same_everywhere(MPI_Comm comm, int number) noexcept {
  std::array<std::int64_t, 2> words{number, -number};
  return least(comm, words) && words[0] == -words[1] ? number : 0;
}

std::int64_t largest_everywhere(MPI_Comm comm, std::int64_t number) noexcept {
  std::array<std::int64_t, 1> words{-number};
  return least(comm, words) ? -words[0] : -1;
}

bool worthwhile(operation what, std::uint64_t bytes) noexcept {
  static const auto limits = [] {
    std::array<std::uint64_t, std::size(rows)> least{};
    for (std::size_t i = 0; i < std::size(rows); ++i) least[i] = least_bytes(rows[i]);
    return least;
  }();
  for (std::size_t i = 0; i < std::size(rows); ++i)
    if (rows[i].what == what) return bytes >= limits[i];
  return false;
}

team* team_for(const call_facts& c) noexcept {
  try {
    const bool may = worthwhile(c.what, c.own_bytes ? any_size : c.bytes);
    if (!may || !spans_nodes(c.comm)) return nullptr;
    record& r = record_of(c.comm);
    if (r.refused) return nullptr;
    in_force& path = r.paths[key_of(c)];
    if (std::has_single_bit(++path.calls)) path.two_level = vote(c, r);
    return path.two_level ? r.made.get() : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

team* made_team(MPI_Comm comm) noexcept {
  std::lock_guard lock(guard);
  for (auto& [known, r] : table())
    if (known == comm) return !r->refused && r->made && r->made->prepared ? r->made.get() : nullptr;
  return nullptr;
}

void forget(MPI_Comm comm) noexcept {
  std::unique_ptr<record> gone;  // after the lock: other ranks are waited for
  std::lock_guard lock(guard);
  const auto found = std::find_if(table().begin(), table().end(),
                                  [&](const auto& known) { return known.first == comm; });
  if (found == table().end()) return;
  gone = std::move(found->second);
  table().erase(found);
}

void shut_down() noexcept {
  std::lock_guard lock(guard);
  for (auto& known : table()) known.second.reset();
  table().clear();
}

}  // namespace telpher::coll::two_level
