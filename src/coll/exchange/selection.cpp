// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/selection.hpp"

#include <algorithm>
#include <string_view>

#include "base/lasting.hpp"
#include "base/settings.hpp"
#include "coll/exchange/program.hpp"
#include "coll/operation_list.hpp"
#include "kernel/kernel.hpp"

namespace telpher::coll::exchange {
namespace {

constexpr std::uint64_t unlimited = tuning::any_size;
using tuning::calls;

// A tuned row without an algorithm: up to that size the built-in rows decide.
struct row {
  operation what;
  std::uint64_t most_bytes;
  int most_ranks;
  const char* algorithm;
  transport by;
  calls of = calls::any;
};
constexpr row rows[] = {
#define TELPHER_CHOICE(operation_, most_bytes, ranks, algorithm, by) \
  {operation::operation_, most_bytes, ranks, #algorithm, transport::by},
#define TELPHER_REPLAY_CHOICE(operation_, most_bytes, ranks, algorithm, by) \
  {operation::operation_, most_bytes, ranks, #algorithm, transport::by, calls::replayed},
#define TELPHER_ENQUEUED_CHOICE(operation_, most_bytes, ranks, algorithm, by) \
  {operation::operation_, most_bytes, ranks, #algorithm, transport::by, calls::enqueued},
#define TELPHER_VENDOR_CHOICE(operation_, most_bytes, ranks) \
  {operation::operation_, most_bytes, ranks, "", transport::vendor},
#include "coll/exchange/selection.def"
#undef TELPHER_VENDOR_CHOICE
#undef TELPHER_ENQUEUED_CHOICE
#undef TELPHER_REPLAY_CHOICE
#undef TELPHER_CHOICE
};

lasting<std::vector<row>> tuned_rows;

bool from_string(const std::string& text, transport& by) {
  for (const transport t : {transport::packed, transport::lines, transport::exchange,
                            transport::stepped, transport::vendor})
    if (path::to_string(kind_of(t)) == "coll_" + text) return by = t, true;
  return false;
}

bool take_row(const tuning::choice& c, row& out) {
  out = {operation::allreduce, c.most_bytes, c.most_ranks, nullptr, transport::exchange, c.of};
  if (!coll::from_string(c.operation.c_str(), out.what)) return false;
  if (c.algorithm == "builtin") return true;
  if (!from_string(c.transport, out.by)) return false;
  if (out.by == transport::vendor) return out.algorithm = "", c.algorithm == "library";
  const algorithm* a = find_algorithm(out.what, c.algorithm);
  if (!a || a->restrictions & restriction::between_nodes) return false;
  return out.algorithm = a->name, true;
}

/// Only replays use lines, because their kernels never pause. A value must not be longer than a
/// word of a line.
bool may_use_lines(operation what, const facts& f) {
  return f.lines && f.replayed && (!is_reduction(what) || f.unit <= sizeof(std::uint64_t));
}

transport transport_for(transport wanted, const algorithm& a, const facts& f) {
  const auto forced = config().coll_transport;
  if (!f.may_wait || forced == "stepped") return transport::stepped;
  if (forced == "packed") wanted = transport::packed;
  if (forced == "lines") wanted = transport::lines;
  if (forced == "exchange") wanted = transport::exchange;
  if (is_packed(wanted) && !(a.restrictions & restriction::packed)) return transport::exchange;
  if (wanted == transport::lines && !may_use_lines(a.what, f)) return transport::packed;
  return wanted;
}

bool wants_mapped(const facts& f, operation what, std::uint64_t bytes, transport by) {
  const auto forced = config().test_coll_buffers;
  if (!f.exportable || is_packed(by) || f.any_buffers || forced == "workspace") return false;
  return forced == "mapped" || f.replayed || maps_small(what) ||
         bytes >= config().coll_mapped_threshold;
}

/// Elements of scratch space that the schedules of all ranks really touch.
std::uint64_t scratch_touched(const algorithm& a, const problem& p) {
  std::uint64_t most = 0;
  const auto look = [&](const span& s) {
    if (s.where == space::scratch) most = std::max(most, s.offset + s.count);
  };
  for (int r = 0; r < p.ranks; ++r)
    for (const step& s : a.make(p, r).steps) {
      look(s.to);
      for (const span& from : s.sources) look(from);
    }
  return most;
}

// For calls on any buffers: above it the copies into and out of scratch space cost more than the
// thread that serves streams does.
constexpr std::uint64_t most_copied = std::uint64_t{8} << 20;

bool may_copy(const choice& c, const problem& p, const facts& f) {
  return !f.any_buffers || is_packed(c.by) ||
         (c.by == transport::exchange && volume(p, f.unit) <= most_copied);
}

// Algorithms ask for the scratch space of their worst case. If that is too much, what the schedules
// really touch counts. A replay has a room of its own, of two such spaces if they are packed; other
// calls share the workspace.
bool fits(const choice& c, const algorithm& a, const problem& p, const facts& f) {
  constexpr std::uint64_t most_of_replay = std::uint64_t{72} << 20;
  if (is_packed(c.by))
    return packed_bytes(format_of(c.by), c.plan->scratch, f.unit) <=
           (f.replayed ? std::max(most_of_replay, config().coll_inbox) : config().coll_inbox);
  return c.plan->scratch * f.unit <= config().coll_scratch ||
         scratch_touched(a, p) * f.unit <= config().coll_scratch;
}

// One block for each `share` of the bytes, up to what the links need: measured on two and four H200
// and H100, where more blocks that read over more than one link are slower. 2 KB of packed words
// are one load for each work item. Below 8 KB a second block costs a launched call more than it
// gains.
int blocks_for(const problem& p, std::uint64_t bytes, transport by, bool replayed) {
  if (config().coll_blocks > 0) return static_cast<int>(config().coll_blocks);
  const bool packed = is_packed(by), more_blocks = replayed && (packed || p.ranks <= 2);
  const std::uint64_t most = is_reduction(p.what) && !more_blocks ? 32 : 64;
  const bool whole = is_reduction(p.what) && p.what != operation::reduce_scatter_block;
  if (packed && whole) bytes *= static_cast<std::uint64_t>(p.ranks - 1);
  if (packed && !replayed && bytes <= 8192) return 1;
  const std::uint64_t share = packed ? 2048 : 32768;
  const std::uint64_t wanted = std::max<std::uint64_t>(1, (bytes + share - 1) / share);
  return static_cast<int>(std::min(wanted, most));
}

// One thread for each packed word (or eighth of a line) of the block's slice, and at least a
// wavefront for each copy of a row, because these wait for each other: to and from each peer, and
// the own one.
int threads_for(const problem& p, std::uint64_t bytes, const choice& c) {
  constexpr std::uint64_t most = kernel::exchange_place::most_items, wavefront = 64;
  if (!is_packed(c.by)) return most;
  const std::uint64_t share = c.by == transport::lines ? kernel::packed_line::payload / 8 : 4;
  const std::uint64_t words = bytes / share / static_cast<std::uint64_t>(c.blocks);
  const auto copies = static_cast<std::uint64_t>(2 * p.ranks - 1);
  return static_cast<int>(std::min(std::max(copies, words / wavefront + 1) * wavefront, most));
}

bool accept_as(choice& c, const algorithm& a, problem& p, const facts& f, int me) {
  p.mapped = c.mapped;
  if (!may_copy(c, p, f)) return false;
  if (a.restrictions & restriction::between_nodes || !allows(a, p)) return false;
  problem cut = p;
  if (c.by == transport::lines) cut.granule = line_granule(f.unit);
  c.plan = std::make_shared<const schedule>(a.make(cut, me));
  if (!fits(c, a, cut, f)) return false;
  if (f.replayed) c.scratch = scratch_touched(a, cut);
  c.blocks = blocks_for(p, volume(p, f.unit), c.by, f.replayed);
  if (f.replayed) c.threads = threads_for(p, volume(p, f.unit), c);
  c.what = &a;
  return true;
}

/// Tries one algorithm: by the transport that is wanted; then by `exchange`, if packed memory is
/// too small; then on the program's buffers, if the workspace is too small.
bool accept(choice& c, const algorithm& a, transport wanted, problem& p, const facts& f, int me) {
  const std::uint64_t bytes = volume(p, f.unit);
  c.by = transport_for(wanted, a, f);
  c.mapped = wants_mapped(f, p.what, bytes, c.by);
  if (accept_as(c, a, p, f, me)) return true;
  if (is_packed(c.by)) {
    c.by = transport::exchange;
    c.mapped = wants_mapped(f, p.what, bytes, c.by);
    if (accept_as(c, a, p, f, me)) return true;
  }
  if (c.mapped || !f.exportable || f.any_buffers || config().test_coll_buffers == "workspace")
    return false;
  c.mapped = true;
  return accept_as(c, a, p, f, me);
}

// No schedule and no buffers of ours.
choice by_library() {
  return {.by = transport::vendor, .blocks = 0};
}

}  // namespace

std::string_view forced_algorithm(operation what) noexcept {
  return listed(config().coll_algorithm, what);
}

std::string_view unknown_algorithm(std::string_view list) noexcept {
  return first_wrong(list, [](operation what, std::string_view name) {
    const bool of_nodes = name == "staged" || name == "two_level";  // coll/between/limits.cpp
    return of_nodes || find_algorithm(what, name);
  });
}

path::kind kind_of(transport t) noexcept {
  using path::kind;
  constexpr kind kinds[] = {kind::coll_packed, kind::coll_lines, kind::coll_exchange,
                            kind::coll_stepped, kind::coll_vendor};  // in the order of transports
  return kinds[static_cast<std::size_t>(t)];
}

bool maps_small(operation what) noexcept {
  return what == operation::bcast || what == operation::gather || what == operation::scatter;
}

std::uint64_t volume(const problem& p, std::uint64_t unit) noexcept {
  if (!is_made_of_blocks(p.what)) return p.count * unit;
  return largest_block(p) * static_cast<std::uint64_t>(p.ranks) * unit;
}

bool take_tuned(const std::vector<tuning::choice>& rows, std::string& why) {
  std::vector<row> taken(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!take_row(rows[i], taken[i])) {
      why = "there is no " + rows[i].algorithm + ' ' + rows[i].transport + " for " +
            rows[i].operation;
      return false;
    }
  *tuned_rows = std::move(taken);
  return true;
}

namespace {

/// Whether a row of the table that names such calls can serve this one.
bool accept_row(choice& c, const row& r, problem& p, const facts& f, int me) {
  if (r.by == transport::stepped && (!f.exportable || f.replayed))
    return false;  // copy engines need mapped buffers
  if (r.by == transport::lines && !may_use_lines(r.what, f)) return false;
  if (r.by == transport::vendor) {
    if (!f.library || config().coll_transport != "auto") return false;
    c = by_library();
    return true;
  }
  const algorithm* a = find_algorithm(r.what, r.algorithm);
  return a && accept(c, *a, r.by, p, f, me);
}

template <class Rows>
bool accept_first(choice& c, const Rows& table, origin::table of, problem& p, const facts& f,
                  int me) {
  const std::uint64_t bytes = volume(p, f.unit);
  for (const row& r : table) {
    if (r.what != p.what || bytes > r.most_bytes || p.ranks > r.most_ranks) continue;
    if (r.of == calls::replayed && !f.replayed) continue;
    if (r.of == calls::enqueued && !f.any_buffers) continue;
    if (!r.algorithm) return false;
    if (!accept_row(c, r, p, f, me)) continue;
    c.from = {of, r.most_bytes, r.most_ranks, r.of};
    return true;
  }
  return false;
}

}  // namespace

choice choose(problem& p, const facts& f, int me) {
  const auto forced = config().coll_transport;
  choice c;
  if (f.library && forced == "vendor") {
    c = by_library();
    c.from.of = origin::table::setting;
    return c;
  }
  if (const auto name = forced_algorithm(p.what); !name.empty()) {
    const algorithm* a = find_algorithm(p.what, name);
    if (a && accept(c, *a,
                    a->restrictions & restriction::packed ? transport::packed : transport::exchange,
                    p, f, me)) {
      c.from.of = origin::table::setting;
      return c;
    }
  }
  if (tuning::in_force() && accept_first(c, *tuned_rows, origin::table::tuned, p, f, me)) return c;
  if (accept_first(c, rows, origin::table::built_in, p, f, me)) return c;
  const algorithm* plain = p.gaps ? find_algorithm(p.what, "one_shot") : nullptr;
  if (plain && accept(c, *plain, transport::exchange, p, f, me)) return c;
  return {};
}

const choice* chooser::find(problem& p, const facts& f) const noexcept {
  for (const answer& a : answers_)
    if (a.known && a.asked == p && a.given == f) {
      p.mapped = a.mapped;
      return &a.made;
    }
  return nullptr;
}

status chooser::choose(problem& p, const facts& f, int me, const memory::place& where,
                       choice& made) {
  answer& a = answers_[next_++ % answers_.size()];
  a.known = false;
  a.asked = p;
  a.given = f;
  a.made = exchange::choose(p, f, me);
  a.mapped = p.mapped;
  if (a.made.plan) {
    const std::size_t most = most_words(*a.made.plan);
    a.made.program = std::make_shared<program_memory>();
    a.made.program->words.reserve(most);
    if (most > kernel::exchange::code_capacity) {
      TELPHER_TRY(memory::buffer::for_kernels(most * sizeof(std::uint64_t), where.owner)
                      .into(a.made.program->pinned));
    }
  }
  a.known = true;
  made = a.made;
  return status::ok;
}

void chooser::forget() noexcept {
  for (answer& a : answers_) a.known = false;
}

}  // namespace telpher::coll::exchange
