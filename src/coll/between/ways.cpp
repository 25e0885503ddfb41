// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/ways.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <functional>
#include <mutex>
#include <new>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/algorithms/catalogue.hpp"
#include "coll/exchange/call_problem.hpp"
#include "coll/exchange/exchange.hpp"
#include "coll/exchange/selection.hpp"
#include "host_mpi/job.hpp"
#include "path/compression.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::coll::between {
namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

struct row {
  operation what;
  std::uint64_t least_bytes;
  const char* measured;  // the file that has it
};
constexpr row rows[] = {
#define TELPHER_BETWEEN(operation_, least_bytes, measured) \
  {operation::operation_, least_bytes, measured},
#include "coll/between/ways.def"
#undef TELPHER_BETWEEN
};
static_assert(std::all_of(std::begin(rows), std::end(rows),
                          [](const row& r) { return r.least_bytes == never || *r.measured; }),
              "a size that was not measured");

bool is_asked_for(operation what) {
  const auto forced = exchange::forced_algorithm(what);
  const algorithm* a = find_algorithm(what, forced);
  return forced == "two_level" || (a && (a->restrictions & restriction::between_nodes) != 0);
}

/// Where the setting names an algorithm of one node, the table still decides between nodes.
std::uint64_t least_bytes(const row& r) {
  if (!exchange::enabled() || exchange::forced_algorithm(r.what) == "staged") return never;
  return is_asked_for(r.what) ? 1 : r.least_bytes;
}

std::mutex guard;
/// In the order in which they were made, so that all ranks give them back in the same order.
std::vector<std::unique_ptr<site>>& sites() {
  static auto* one = new std::vector<std::unique_ptr<site>>;
  return *one;
}

site& site_of(MPI_Comm comm) {
  std::lock_guard lock(guard);
  for (const auto& one : sites())
    if (one->comm == comm) return *one;
  return *sites().emplace_back(std::make_unique<site>(comm));
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

/// A call that is voted on.
struct voted {
  const char* name;
  const exchange::arguments& a;
  std::uint64_t bytes;
};

void explain(const voted& c, site& s, const char* why) {
  if (!config().explain || c.a.rank != 0) return;
  char line[240];
  std::snprintf(line, sizeof line, "%s on %d ranks of several nodes, up to %llu bytes: %s", c.name,
                c.a.ranks, static_cast<unsigned long long>(exchange::size_class(c.bytes)), why);
  if (std::find(s.explained.begin(), s.explained.end(), line) != s.explained.end()) return;
  s.explained.emplace_back(line);
  std::fprintf(stderr, "[telpher %d] %s\n", ticket::job().rank, line);
}

/// Makes the room with the first vote in which all are able; false at all ranks alike.
bool has_room(const voted& c, site& s) {
  if (!s.met) s.among = shape_of(s.comm);
  s.met = true;
  if (s.room || s.among.nodes.empty()) return s.room != nullptr;
  const auto all = [&](bool mine) {
    std::array<std::int64_t, 1> good{mine};
    return least(s.comm, good) && good[0] == 1;
  };
  s.room = room::make(s.comm, s.among.own_node(), c.a.where, all);
  return s.room != nullptr;
}

std::optional<agreed> refuse(const voted& c, site& s, const char* why) {
  explain(c, s, why);
  return std::nullopt;
}

std::optional<agreed> vote(const voted& c, site& s, site::record& known) {
  const codec::choices compression = path::choices_of(s.comm);
  const std::int64_t mark = settings_mark(compression);
  const terms own = terms_of(c.a, s.room ? s.room->where : memory::place{});
  const terms::words w = own.as_words();
  std::array<std::int64_t, 8> words{mark, -mark, c.a.where.on_device() ? -1 : 0};
  std::copy(w.begin(), w.end(), words.begin() + 3);
  if (!least(s.comm, words)) return std::nullopt;
  known.devices = known.devices || words[2] != 0;
  if (words[0] != -words[1]) {
    s.refused = true;
    TELPHER_WARN(
        "ranks have different settings of collectives or compression: between nodes they are "
        "staged");
    return std::nullopt;
  }
  terms::words all_words;
  std::copy(words.begin() + 3, words.end(), all_words.begin());
  const terms all = terms::of(all_words);
  if (!all.able)
    return refuse(c, s, "staged: some rank has other memory than its device's, or gaps in it");
  const std::uint64_t bytes =
      c.bytes ? c.bytes : all.longest * static_cast<std::uint64_t>(c.a.ranks);
  if (!worthwhile(c.a.what, bytes)) return refuse(c, s, "staged: small at all ranks");
  if (!has_room(c, s)) {
    s.refused = true;
    return refuse(c, s, "staged: no room can be made between its nodes");
  }
  char how[120];
  std::snprintf(how, sizeof how, "two_level over %zu nodes, %d leaders a node",
                s.among.nodes.size(), s.among.lanes);
  explain(c, s, how);
  return agreed{&s, all, coding(compression, all.kind, c.a.what, bytes)};
}

}  // namespace

bool asked_for(operation what) noexcept {
  return exchange::enabled() && is_asked_for(what);
}

bool worthwhile(operation what, std::uint64_t bytes) noexcept {
  static const auto limits = [] {
    std::array<std::uint64_t, std::size(rows)> all{};
    std::transform(std::begin(rows), std::end(rows), all.begin(), least_bytes);
    return all;
  }();
  for (std::size_t i = 0; i < std::size(rows); ++i)
    if (rows[i].what == what) return limits[i] != never && bytes >= limits[i];
  return false;
}

bool spans_nodes(MPI_Comm comm) noexcept {
  int inter = 0;
  return comm != MPI_COMM_NULL && pmpi::Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
         host_mpi::is_ours(ticket::job(), comm) && !exchange::communicator::of(comm);
}

std::optional<agreed> agree(const char* name, MPI_Comm comm, const exchange::arguments& a,
                            std::uint64_t bytes) noexcept {
  try {
    site& s = site_of(comm);
    if (s.refused) return std::nullopt;
    const auto size_class = static_cast<std::uint32_t>(std::bit_width(bytes));
    site::record& known = s.of_calls[static_cast<std::uint32_t>(a.what) << 8 | size_class];
    if (!std::has_single_bit(++known.calls) && !known.devices) return std::nullopt;
    return vote({name, a, bytes}, s, known);
  } catch (const std::bad_alloc&) {
    TELPHER_ERROR("%s: no memory for a vote in which the other ranks take part", name);
    pmpi::Abort(comm, 1);
    return std::nullopt;
  }
}

// --- what is kept ---

site* made_site(MPI_Comm comm) noexcept {
  std::lock_guard lock(guard);
  for (const auto& one : sites())
    if (one->comm == comm) return !one->refused && one->room ? one.get() : nullptr;
  return nullptr;
}

void site::settle(const char* what, bool all) noexcept {
  auto& e = ticket::progress();
  auto held = e.lock();
  e.wait_until(held, what, [&] { return all ? crossings.settled() : crossings.empty(); });
}

site::~site() {
  settle("MPI_Comm_free", true);
}

void forget(MPI_Comm comm) noexcept {
  std::unique_ptr<site> gone;  // after the lock: other ranks are waited for
  std::lock_guard lock(guard);
  const auto found = std::find_if(sites().begin(), sites().end(),
                                  [&](const auto& one) { return one->comm == comm; });
  if (found == sites().end()) return;
  gone = std::move(*found);
  sites().erase(found);
}

void shut_down() noexcept {
  std::lock_guard lock(guard);
  for (auto& one : sites()) one.reset();
  sites().clear();
}

}  // namespace telpher::coll::between
