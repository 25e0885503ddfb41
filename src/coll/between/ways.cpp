// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/ways.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/between/limits.hpp"
#include "coll/between/votes.hpp"
#include "coll/exchange/exchange.hpp"
#include "host_mpi/intracomm.hpp"
#include "path/compression.hpp"
#include "path/neighbours.hpp"

namespace telpher::coll::between {
namespace {

/// Whether both ways are tried, unless it is known already which is the faster.
bool is_tried(operation what, std::uint64_t bytes) noexcept {
  return bytes >= limits_of(what).tried_from;
}

std::uint32_t class_of(operation what, std::uint64_t bytes) noexcept {
  return static_cast<std::uint32_t>(what) << 8 | static_cast<std::uint32_t>(std::bit_width(bytes));
}

/// A call on which the ranks decide.
struct voted {
  const char* name;
  const exchange::arguments& a;
  std::uint64_t bytes;
  bool adapts;     // each rank fits its own buffers to the schedule
  bool blocks;     // so both ways may be tried
  bool in_kernel;  // it may be one kernel here
};

/// A reduction that has no schedule. All ranks name the same one.
bool reduces_otherwise(const exchange::arguments& a) {
  return is_reduction(a.what) && (!a.reduce.known || a.gaps);
}

void explain(const voted& c, site& s, const char* why) noexcept {
  if (config().explain && c.a.rank == 0) s.explained.print(c.name, c.a.ranks, c.bytes, why);
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
  trials::times best{};  // a rank's; or of all ranks the slowest
};

/// Whether the call can be one kernel here: not the first one on its communicator, when the nodes
/// are not known yet.
bool can_be_kernel(const exchange::arguments& a, std::uint64_t bytes, const site* s) noexcept {
  const memory::place& where = a.where;
  return s && !s->among.nodes.empty() && fits_a_kernel(bytes) && where.on_device() &&
         s->among.own_node().size() < kernel::exchange::most_ranks &&
         where.owner->kernels_may_wait(where.device) && path::may_wait_on(where);
}

ballot ballot_of(const voted& c, const site& s, const site::record& known) noexcept {
  ballot b;
  b.best = known.tried.best();
  b.ready = !c.a.no_memory;
  b.compression = path::choices_of(s.comm);
  b.of = terms_of(c.a, s.room ? s.room->where : memory::place{});
  b.of.parts = s.plans.own_parts(c.a);
  b.of.in_kernel = c.in_kernel && b.of.on_device;  // both buffers
  if (c.adapts) {
    b.of.on_device = b.of.on_device && b.of.able;
    b.of.able = true;
    b.of.grain = known_terms(c.a, c.bytes, false).grain;
  }
  return b;
}

/// Collective: the terms and the slowest times of all ranks. invalid_argument: compression differs.
status count(MPI_Comm comm, ballot& b) noexcept {
  const terms::words own = b.of.as_words();
  const auto mark = static_cast<std::int64_t>(codec::fingerprint(b.compression) >> 2);
  constexpr std::size_t first = 5;
  std::array<std::int64_t, first + std::tuple_size_v<terms::words>> words{b.ready, mark, -mark,
                                                                          -b.best[0], -b.best[1]};
  std::copy(own.begin(), own.end(), words.begin() + first);
  if (!least(comm, words)) return status::not_supported;
  if (words[0] != 1) return status::out_of_memory;
  if (words[1] != -words[2]) return status::invalid_argument;
  b.best = {-words[3], -words[4]};
  terms::words all;
  std::copy(words.begin() + first, words.end(), all.begin());
  b.of = terms::of(all);
  return status::ok;
}

/// Of a call that is tried: whether it is staged, for its time to be known or because it is faster.
bool stages(const voted& c, site& s, trials& tried, const trials::times& slowest) noexcept {
  if (tried.next(slowest) == trials::way::schedule) return false;
  explain(c, s, tried.chosen() ? "staged: it was faster" : "at first both ways in turn");
  return true;
}

/// What follows from the vote, at all ranks alike.
result<agreed> decide(const voted& c, site& s, site::record& known, const ballot& b) noexcept {
  const terms& all = b.of;
  known.in_kernels.reset();
  known.coded = b.compression.any();
  known.devices = known.devices || all.any_device;
  if (!all.any_device) return status::not_supported;
  if (!all.able) return refuse(c, s, "staged: some rank's buffers cannot take part");
  const std::uint64_t bytes =
      c.bytes ? c.bytes : all.longest * static_cast<std::uint64_t>(c.a.ranks);
  if (!worthwhile(c.a.what, bytes)) return refuse(c, s, "staged: small at all ranks");
  if (!has_room(s)) return refuse(c, s, "staged: no room can be made between its nodes");
  const coding how = all.on_device ? coding(b.compression, all.kind, c.a.what, bytes) : coding();
  trials* const tried = c.blocks && !how && is_tried(c.a.what, bytes) ? &known.tried : nullptr;
  if (tried && stages(c, s, *tried, b.best)) return agreed{.tried = tried, .staged = true};
  agreed way{.at = &s, .all = all, .how = how, .bytes = bytes, .tried = tried};
  way.in_kernel = all.in_kernel && !how;
  if (way.in_kernel) known.in_kernels = c.a.reduce;
  return way;
}

/// `s` and `known` are null where there was no memory for them.
result<agreed> vote(MPI_Comm comm, const voted& c, site* s, site::record* known) noexcept {
  ballot b;
  if (s && known) b = ballot_of(c, *s, *known);
  const status counted = count(comm, b);
  if (!failed(counted)) return decide(c, *s, *known, b);
  if (counted != status::invalid_argument) return counted;
  s->refused = true;
  TELPHER_WARN("ranks have different compression: collectives between nodes are staged");
  return status::not_supported;
}

/// How the call goes without a vote, if it does. The same at all ranks.
std::optional<agreed> known_way(const voted& c, site& s, const site::record& known) noexcept {
  const bool may_be_coded = known.coded && c.bytes >= config().compression_threshold;
  if (!same_at_all(c.a.what) || may_be_coded || !s.room || !s.room->made()) return std::nullopt;
  const bool is_tried_still = is_tried(c.a.what, c.bytes) && !known.tried.chosen();
  const bool in_kernel = !is_tried_still && known.in_kernels == c.a.reduce &&
                         fits_a_kernel(c.bytes) && s.room->equipped();
  if (!c.adapts && !in_kernel) return std::nullopt;
  return agreed{.at = &s,
                .all = known_terms(c.a, c.bytes, in_kernel),
                .bytes = c.bytes,
                .in_kernel = in_kernel,
                .voted = false};
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
  const limits& l = limits_of(what);
  return bytes >= std::min(l.tried_from, l.least_bytes);
}

bool goes_untried(operation what, std::uint64_t bytes, const site* s) noexcept {
  if (s && is_tried(what, bytes))
    if (const auto found = s->of_calls.find(class_of(what, bytes)); found != s->of_calls.end())
      if (const auto chosen = found->second.tried.chosen()) return *chosen == trials::way::schedule;
  return bytes >= limits_of(what).later_from;
}

bool adapts(operation what, std::uint64_t bytes) noexcept {
  return same_at_all(what) && fits_the_host(bytes) && !fits_a_kernel(bytes) &&
         !is_tried(what, bytes);
}

bool any_worthwhile() noexcept {
  for (std::size_t i = 0; i < operation_count; ++i)
    if (worthwhile(static_cast<operation>(i), any_size)) return true;
  return false;
}

bool spans_nodes(MPI_Comm comm) noexcept {
  return !exchange::communicator::surely_ready(comm) &&
         host_mpi::is_our_intracomm(ticket::job(), comm) && !exchange::communicator::ready(comm);
}

// Only the first call takes memory for the site and the record, and that one votes in any case.
result<agreed> agree(const char* name, MPI_Comm comm, exchange::arguments& a,
                     std::uint64_t bytes) noexcept {
  voted c{name, a, bytes, adapts(a.what, bytes), true, false};
  site* s = nullptr;
  site::record* known = nullptr;
  static_cast<void>(has_memory_for([&] {
    s = &site_of(comm);
    known = &s->of_calls[class_of(a.what, bytes)];
  }));
  if (s && s->refused) return status::not_supported;
  if (known && known->tried.chosen() == trials::way::staged) return status::not_supported;
  // Earlier non-blocking calls may still make the room, or plans that the ballot tells of.
  if (s) s->settle(name, false);
  if (reduces_otherwise(a))
    return s ? refuse(c, *s, "staged: not a reduction of Telpher's") : status::not_supported;
  if (known && !std::has_single_bit(++known->calls)) {
    if (!known->devices) return status::not_supported;
    if (auto way = known_way(c, *s, *known)) {
      if (a.no_memory) return --known->calls, status::out_of_memory;
      if (way->in_kernel && a.gapped && lies_on(s->room->where, a, way->all.grain))
        way->packed = pack(a);
      return std::move(*way);
    }
  }
  copies packed = c.adapts ? nullptr : pack(a);
  c.in_kernel = can_be_kernel(a, bytes, s);
  auto way = vote(comm, c, s, known);
  if (way.error() == status::out_of_memory) take_back(s, known);
  if (!way || way->staged) return way;
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
  auto way = vote(comm, {name, a, bytes, false, false, false}, s, &unknown);
  if (way.error() == status::out_of_memory) take_back(s, nullptr);
  if (way) way->how = {};
  return way;
}

void equip(room& r, const agreed& way, const memory::place& device) noexcept {
  if (way.all.on_device && (way.how || way.in_kernel || !fits_the_host(way.bytes)))
    r.equip_now(device);
}

}  // namespace telpher::coll::between
