// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/ways.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <functional>
#include <mutex>
#include <new>

#include "base/lasting.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/algorithms/catalogue.hpp"
#include "coll/exchange/call_problem.hpp"
#include "coll/exchange/exchange.hpp"
#include "coll/exchange/selection.hpp"
#include "host_mpi/job.hpp"
#include "path/compression.hpp"
#include "ticket/progress.hpp"

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
lasting<std::vector<std::unique_ptr<site>>> sites;

site& site_of(MPI_Comm comm) {
  std::lock_guard lock(guard);
  for (const auto& one : *sites)
    if (one->comm == comm && !one->channel) return *one;
  return *sites->emplace_back(std::make_unique<site>(comm));
}

std::int64_t settings_mark(const codec::choices& compression) {
  const std::string text =
      config().coll_algorithm + '\n' + std::to_string(codec::fingerprint(compression)) + '\n' +
      std::to_string(config().compression_threshold) + ' ' +
      std::to_string(config().compression_link) + ' ' + std::to_string(config().compression_codec) +
      ' ' + std::to_string(config().compression_force) + ' ' + std::to_string(config().coll_block);
  return static_cast<std::int64_t>(std::hash<std::string>()(text) >> 2);
}

/// The least of each value over all ranks. Polled: where a node is lost the wait has a bound
/// (TELPHER_WAIT_TIMEOUT), which a call that blocks in the host MPI has not.
template <std::size_t N>
bool least(MPI_Comm comm, std::array<std::int64_t, N>& values) {
  std::array<std::int64_t, N> all{};
  MPI_Request r = MPI_REQUEST_NULL;
  if (pmpi::Iallreduce(values.data(), all.data(), static_cast<int>(N), MPI_INT64_T, MPI_MIN, comm,
                       &r) != MPI_SUCCESS)
    return false;
  auto& e = ticket::progress();
  auto held = e.lock();
  int complete = 0, code = MPI_SUCCESS;
  e.wait_until(held, "the vote of a collective between nodes", [&] {
    code = pmpi::Test(&r, &complete, MPI_STATUS_IGNORE);
    return complete || code != MPI_SUCCESS;
  });
  if (code != MPI_SUCCESS) return false;
  values = all;
  return true;
}

/// A call that is decided on.
struct voted {
  const char* name;
  const exchange::arguments& a;
  std::uint64_t bytes;
  bool adapts;  // each rank fits its own buffers to the schedule
};

/// In host memory every kind of memory and type can take part. Of a v-form each rank knows only its
/// own part.
bool adapts(operation what, std::uint64_t bytes) {
  return what != operation::allgatherv && what != operation::alltoallv && fits_the_host(bytes);
}

/// The same at all ranks, who name the same one.
bool reduces_otherwise(const exchange::arguments& a) {
  return is_reduction(a.what) && (!a.reduce.known || a.gaps);
}

void explain(const voted& c, site& s, const char* why) {
  if (!config().explain || c.a.rank != 0) return;
  char line[240];
  std::snprintf(line, sizeof line, "%s on %d ranks of several nodes, up to %llu bytes: %s", c.name,
                c.a.ranks, static_cast<unsigned long long>(exchange::size_class(c.bytes)), why);
  if (std::find(s.explained.begin(), s.explained.end(), line) != s.explained.end()) return;
  s.explained.emplace_back(line);
  std::fprintf(stderr, "[telpher %d] %s\n", ticket::job().rank, line);
}

/// What all say together.
room::vote all_of(MPI_Comm comm) {
  return [comm](bool mine) {
    std::array<std::int64_t, 1> good{mine};
    return least(comm, good) && good[0] == 1;
  };
}

/// Makes the room with the first vote in which all are able; false at all ranks alike.
bool has_room(site& s) {
  if (!s.met) s.among = shape_of(s.comm);
  s.met = true;
  if (s.room || s.among.nodes.empty()) return s.room != nullptr;
  s.room = room::make(s.comm, s.among.own_node(), all_of(s.comm));
  return s.room != nullptr;
}

std::optional<agreed> refuse(const voted& c, site& s, const char* why) {
  explain(c, s, why);
  return std::nullopt;
}

std::optional<agreed> vote(const voted& c, site& s, site::record& known) {
  const codec::choices compression = path::choices_of(s.comm);
  const std::int64_t mark = settings_mark(compression);
  known.coded = compression.any();
  terms own = terms_of(c.a, s.room ? s.room->where : memory::place{});
  if (c.adapts) {
    own.on_device = own.on_device && own.able;
    own.able = true;
    own.grain = known_terms(c.a, c.bytes).grain;
  }
  const terms::words w = own.as_words();
  std::array<std::int64_t, std::tuple_size_v<terms::words> + 2> words{mark, -mark};
  std::copy(w.begin(), w.end(), words.begin() + 2);
  if (!least(s.comm, words)) return std::nullopt;
  if (words[0] != -words[1]) {
    s.refused = true;
    TELPHER_WARN(
        "ranks have different settings of collectives or compression: between nodes they are "
        "staged");
    return std::nullopt;
  }
  terms::words all_words;
  std::copy(words.begin() + 2, words.end(), all_words.begin());
  const terms all = terms::of(all_words);
  known.devices = known.devices || all.any_device;
  if (!all.any_device) return std::nullopt;
  if (!all.able) return refuse(c, s, "staged: some rank has gaps in its memory, or another type");
  const std::uint64_t bytes =
      c.bytes ? c.bytes : all.longest * static_cast<std::uint64_t>(c.a.ranks);
  if (!worthwhile(c.a.what, bytes)) return refuse(c, s, "staged: small at all ranks");
  if (!has_room(s)) {
    s.refused = true;
    return refuse(c, s, "staged: no room can be made between its nodes");
  }
  const coding how = all.on_device ? coding(compression, all.kind, c.a.what, bytes) : coding();
  if (!config().explain) return agreed{&s, all, how, bytes};
  char text[160];
  std::snprintf(text, sizeof text, "two_level over %zu nodes, %d leaders a node%s",
                s.among.nodes.size(), s.among.lanes,
                all.on_device ? "" : ", in host memory: some rank has no other");
  explain(c, s, text);
  return agreed{&s, all, how, bytes};
}

/// All ranks have agreed to run there: on the devices, if that is for them.
void equip(room& r, MPI_Comm comm, const agreed& way, const memory::place& device) {
  if (way.all.on_device && (way.how || !fits_the_host(way.bytes)))
    static_cast<void>(r.equip(comm, device, all_of(comm)));
}

void give_up(const char* name, MPI_Comm comm) {
  TELPHER_ERROR("%s: no memory for a vote in which the other ranks take part", name);
  pmpi::Abort(comm, 1);
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
         host_mpi::is_ours(ticket::job(), comm) && !exchange::communicator::ready(comm);
}

std::optional<agreed> agree(const char* name, MPI_Comm comm, const exchange::arguments& a,
                            std::uint64_t bytes) noexcept {
  try {
    site& s = site_of(comm);
    if (s.refused) return std::nullopt;
    const voted c{name, a, bytes, adapts(a.what, bytes)};
    if (reduces_otherwise(a)) return refuse(c, s, "staged: not a reduction of Telpher's");
    const auto size_class = static_cast<std::uint32_t>(std::bit_width(bytes));
    site::record& known = s.of_calls[static_cast<std::uint32_t>(a.what) << 8 | size_class];
    if (!std::has_single_bit(++known.calls)) {
      if (!known.devices) return std::nullopt;
      if (c.adapts && s.room && !(known.coded && bytes >= config().compression_threshold))
        return agreed{&s, known_terms(a, bytes), {}, bytes};
    }
    auto way = vote(c, s, known);
    if (way) equip(*s.room, comm, *way, a.where);
    return way;
  } catch (const std::bad_alloc&) {
    give_up(name, comm);
    return std::nullopt;
  }
}

std::optional<agreed> agree_on_request(const char* name, MPI_Comm comm,
                                       const exchange::arguments& a, std::uint64_t bytes) noexcept {
  try {
    site& s = site_of(comm);
    site::record unknown;
    if (s.refused) return std::nullopt;
    auto way = vote({name, a, bytes, false}, s, unknown);
    if (way) way->how = {};
    return way;
  } catch (const std::bad_alloc&) {
    give_up(name, comm);
    return std::nullopt;
  }
}

namespace {

constexpr std::size_t most_channels = 8;  // of a communicator

/// The communicator's channels, in the order in which all ranks have made them.
std::vector<site*> channels_of(MPI_Comm comm) {
  std::lock_guard lock(guard);
  std::vector<site*> found;
  for (const auto& one : *sites)
    if (one->comm == comm && one->channel) found.push_back(one.get());
  return found;
}

/// Collective: which of them no rank uses.
bool find_unused(MPI_Comm comm, const std::vector<site*>& channels,
                 std::array<std::int64_t, most_channels>& unused) {
  for (std::size_t i = 0; i < channels.size(); ++i) unused[i] = !channels[i]->in_use;
  return least(comm, unused);
}

/// Moves it to `gone`. Under `guard`.
void take(const site* which, std::vector<std::unique_ptr<site>>& gone) {
  const auto at = std::find_if(sites->begin(), sites->end(),
                               [&](const auto& one) { return one.get() == which; });
  gone.push_back(std::move(*at));
  sites->erase(at);
}

site* make_channel(const agreed& way) {
  const MPI_Comm comm = way.at->comm;
  auto made = std::make_unique<site>(comm, true);
  made->among = way.at->among;
  made->room = room::make(comm, made->among.own_node(), all_of(comm));
  if (!made->room) return nullptr;
  std::lock_guard lock(guard);
  return sites->emplace_back(std::move(made)).get();
}

}  // namespace

site* take_channel(const agreed& way, const memory::place& device) noexcept {
  const MPI_Comm comm = way.at->comm;
  try {
    const std::vector<site*> there = channels_of(comm);
    std::array<std::int64_t, most_channels> unused{};
    if (!find_unused(comm, there, unused)) return nullptr;
    const auto first = std::find(unused.begin(), unused.end(), 1);
    site* taken = nullptr;
    if (first != unused.end())
      taken = there[static_cast<std::size_t>(first - unused.begin())];
    else if (there.size() < most_channels)
      taken = make_channel(way);
    if (!taken) return nullptr;
    equip(*taken->room, comm, way, device);
    taken->in_use = true;
    return taken;
  } catch (const std::bad_alloc&) {
    give_up("a persistent collective", comm);
    return nullptr;
  }
}

// --- what is kept ---

site* made_site(MPI_Comm comm) noexcept {
  std::lock_guard lock(guard);
  for (const auto& one : *sites)
    if (one->comm == comm && !one->channel) return !one->refused && one->room ? one.get() : nullptr;
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

namespace {

// A persistent request may live longer than its communicator: its channel stays.
void forget_channels(MPI_Comm comm, std::vector<std::unique_ptr<site>>& gone) {
  const std::vector<site*> there = channels_of(comm);
  std::array<std::int64_t, most_channels> unused{};
  if (there.empty()) return;
  const bool agreed = find_unused(comm, there, unused);
  std::lock_guard lock(guard);
  for (std::size_t i = 0; i < there.size(); ++i) {
    there[i]->comm = MPI_COMM_NULL;
    if (agreed && unused[i]) take(there[i], gone);
  }
}

}  // namespace

void forget(MPI_Comm comm) noexcept {
  std::vector<std::unique_ptr<site>> gone;  // after the lock: other ranks are waited for
  forget_channels(comm, gone);
  {
    std::lock_guard lock(guard);
    for (const auto& one : *sites)
      if (one->comm == comm && !one->channel) {
        take(one.get(), gone);
        break;
      }
  }
  for (auto& one : gone) one.reset();
}

void shut_down() noexcept {
  std::lock_guard lock(guard);
  for (auto& one : *sites) one.reset();
  sites->clear();
}

}  // namespace telpher::coll::between
