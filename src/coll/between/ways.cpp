// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/ways.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <new>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/algorithms/catalogue.hpp"
#include "coll/between/votes.hpp"
#include "coll/exchange/call_problem.hpp"
#include "coll/exchange/exchange.hpp"
#include "coll/exchange/selection.hpp"
#include "host_mpi/intracomm.hpp"
#include "path/compression.hpp"

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

/// A setting that names an algorithm of one node changes nothing between nodes.
std::uint64_t least_bytes(const row& r) {
  if (!exchange::enabled() || exchange::forced_algorithm(r.what) == "staged") return never;
  return is_asked_for(r.what) ? 1 : r.least_bytes;
}

/// A call on which the ranks decide.
struct voted {
  const char* name;
  const exchange::arguments& a;
  std::uint64_t bytes;
  bool adapts;  // each rank fits its own buffers to the schedule
};

/// A reduction that has no schedule. All ranks name the same one.
bool reduces_otherwise(const exchange::arguments& a) {
  return is_reduction(a.what) && (!a.reduce.known || a.gaps);
}

/// For TELPHER_EXPLAIN; prints each line once.
void explain(const voted& c, site& s, const char* why) noexcept {
  if (!config().explain || c.a.rank != 0) return;
  char line[240];
  std::snprintf(line, sizeof line, "%s on %d ranks of several nodes, up to %llu bytes: %s", c.name,
                c.a.ranks, static_cast<unsigned long long>(exchange::size_class(c.bytes)), why);
  if (std::find(s.explained.begin(), s.explained.end(), line) != s.explained.end()) return;
  try {
    s.explained.emplace_back(line);
  } catch (const std::bad_alloc&) {  // said again next time
  }
  std::fprintf(stderr, "[telpher %d] %s\n", ticket::job().rank, line);
}

status refuse(const voted& c, site& s, const char* why) noexcept {
  explain(c, s, why);
  return status::not_supported;
}

/// What a rank puts into a vote. Compression must be equal at all ranks; an info key may set it.
struct ballot {
  bool ready = false;  // has the memory for the call
  codec::choices compression;
  terms of;
};

ballot ballot_of(const voted& c, const site& s) noexcept {
  ballot b;
  b.ready = !c.a.no_memory;
  b.compression = path::choices_of(s.comm);
  b.of = terms_of(c.a, s.room ? s.room->where : memory::place{});
  b.of.parts = s.plans.own_parts(c.a);
  if (c.adapts) {
    b.of.on_device = b.of.on_device && b.of.able;
    b.of.able = true;
    b.of.grain = known_terms(c.a, c.bytes).grain;
  }
  return b;
}

/// Collective: the terms of all ranks. invalid_argument: compression differs.
result<terms> count(MPI_Comm comm, const ballot& b) noexcept {
  const terms::words own = b.of.as_words();
  const auto mark = static_cast<std::int64_t>(codec::fingerprint(b.compression) >> 2);
  std::array<std::int64_t, std::tuple_size_v<terms::words> + 3> words{b.ready, mark, -mark};
  std::copy(own.begin(), own.end(), words.begin() + 3);
  if (!least(comm, words)) return status::not_supported;
  if (words[0] != 1) return status::out_of_memory;
  if (words[1] != -words[2]) return status::invalid_argument;
  terms::words all;
  std::copy(words.begin() + 3, words.end(), all.begin());
  return terms::of(all);
}

/// What follows from the vote, at all ranks alike.
result<agreed> decide(const voted& c, site& s, site::record& known, const ballot& own,
                      const terms& all) noexcept {
  known.coded = own.compression.any();
  known.devices = known.devices || all.any_device;
  if (!all.any_device) return status::not_supported;
  if (!all.able) return refuse(c, s, "staged: some rank's buffers cannot take part");
  const std::uint64_t bytes =
      c.bytes ? c.bytes : all.longest * static_cast<std::uint64_t>(c.a.ranks);
  if (!worthwhile(c.a.what, bytes)) return refuse(c, s, "staged: small at all ranks");
  if (!has_room(s)) return refuse(c, s, "staged: no room can be made between its nodes");
  const coding how = all.on_device ? coding(own.compression, all.kind, c.a.what, bytes) : coding();
  if (!config().explain) return agreed{&s, all, how, bytes};
  char text[160];
  std::snprintf(text, sizeof text, "two_level over %zu nodes, %d leaders a node%s",
                s.among.nodes.size(), s.among.rails,
                all.on_device ? "" : ", in host memory: some rank has no other");
  explain(c, s, text);
  return agreed{&s, all, how, bytes};
}

/// `s` and `known` are null where there was no memory for them.
result<agreed> vote(MPI_Comm comm, const voted& c, site* s, site::record* known) noexcept {
  ballot own;
  if (s && known) own = ballot_of(c, *s);
  const result<terms> all = count(comm, own);
  if (all) return decide(c, *s, *known, own, *all);
  if (all.error() != status::invalid_argument) return all.error();
  s->refused = true;
  TELPHER_WARN("ranks have different compression: collectives between nodes are staged");
  return status::not_supported;
}

/// After a vote in which some rank had no memory: it counts for nothing.
void take_back(site* s, site::record* known) noexcept {
  if (s && !s->room)
    forget_site(*s);
  else if (known)
    --known->calls;
}

}  // namespace

bool worthwhile(operation what, std::uint64_t bytes) noexcept {
  static const auto limits = [] {
    std::array<std::uint64_t, operation_count> least;
    least.fill(never);
    for (const row& r : rows) least[static_cast<std::size_t>(r.what)] = least_bytes(r);
    return least;
  }();
  const std::uint64_t least = limits[static_cast<std::size_t>(what)];
  return least != never && bytes >= least;
}

bool adapts(operation what, std::uint64_t bytes) noexcept {
  return same_at_all(what) && fits_the_host(bytes);
}

bool any_worthwhile() noexcept {
  return std::any_of(std::begin(rows), std::end(rows),
                     [](const row& r) { return worthwhile(r.what, any_size); });
}

bool spans_nodes(MPI_Comm comm) noexcept {
  return !exchange::communicator::surely_ready(comm) &&
         host_mpi::is_our_intracomm(ticket::job(), comm) && !exchange::communicator::ready(comm);
}

// Only the first call takes memory for the site and the record, and that one votes in any case.
result<agreed> agree(const char* name, MPI_Comm comm, exchange::arguments& a,
                     std::uint64_t bytes) noexcept {
  const voted c{name, a, bytes, adapts(a.what, bytes)};
  site* s = nullptr;
  site::record* known = nullptr;
  const auto size_class = static_cast<std::uint32_t>(std::bit_width(bytes));
  static_cast<void>(has_memory_for([&] {
    s = &site_of(comm);
    known = &s->of_calls[static_cast<std::uint32_t>(a.what) << 8 | size_class];
  }));
  if (s && s->refused) return status::not_supported;
  // Earlier non-blocking calls may still make the room, or plans that the ballot tells of.
  if (s) s->settle(name, false);
  if (reduces_otherwise(a))
    return s ? refuse(c, *s, "staged: not a reduction of Telpher's") : status::not_supported;
  if (known && !std::has_single_bit(++known->calls)) {
    if (!known->devices) return status::not_supported;
    if (c.adapts && s->room && s->room->made() &&
        !(known->coded && bytes >= config().compression_threshold)) {
      if (a.no_memory) return --known->calls, status::out_of_memory;  // without a vote
      return agreed{s, known_terms(a, bytes), {}, bytes};
    }
  }
  copies packed = c.adapts ? nullptr : pack(a);
  auto way = vote(comm, c, s, known);
  if (way.error() == status::out_of_memory) take_back(s, known);
  if (!way) return way;
  way->packed = std::move(packed);
  equip(*way->at->room, *way, a.where);
  return way;
}

result<agreed> agree_on_request(const char* name, MPI_Comm comm, const exchange::arguments& a,
                                std::uint64_t bytes) noexcept {
  site* s = nullptr;
  static_cast<void>(has_memory_for([&] { s = &site_of(comm); }));
  if (s && s->refused) return status::not_supported;
  if (s) s->settle(name, false);
  site::record unknown;
  auto way = vote(comm, {name, a, bytes, false}, s, &unknown);
  if (way.error() == status::out_of_memory) take_back(s, nullptr);
  if (way) way->how = {};
  return way;
}

void equip(room& r, const agreed& way, const memory::place& device) noexcept {
  if (way.all.on_device && (way.how || !fits_the_host(way.bytes))) r.equip_now(device);
}

}  // namespace telpher::coll::between
