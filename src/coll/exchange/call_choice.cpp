// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a call choose: they make the problem, choose algorithm and transport, and map
// the program's buffers where these need it.
#include <algorithm>
#include <cstdio>
#include <new>

#include "base/settings.hpp"
#include "base/word_hash.hpp"
#include "coll/exchange/call.hpp"
#include "coll/exchange/call_problem.hpp"
#include "coll/exchange/communicator.hpp"

namespace telpher::coll::exchange {

call::then call::describe_to_choose() noexcept {
  if (!describe_problem(arguments_, c_.protocol, problem_, facts_.unit)) return stage();
  facts_.may_wait = c_.may_wait;
  facts_.lines = facts_.replayed && c_.delivers_lines;
  facts_.exportable = c_.kind == workspace_kind::device && all_exportable();
  facts_.library = !facts_.replayed && may_use_library();
  word_hash places;
  for (int r = 0; r < c_.ranks && is_v_form(arguments_.what); ++r)
    places.add(c_.protocol.description_of(r).places);
  facts_.places = places.value();
  return choose();
}

bool call::all_exportable() const noexcept {
  for (int r = 0; r < c_.ranks; ++r) {
    const description& d = c_.protocol.description_of(r);
    if ((d.has_input && !d.input.exportable) || (d.has_output && !d.output.exportable))
      return false;
  }
  return true;
}

// All ranks remember the choices for the same problems. A new choice takes memory, which may be
// missing at one rank: so there is a vote before anybody begins.
call::then call::choose() noexcept {
  if (const choice* made = c_.choices.find(problem_, facts_)) {
    chosen_ = *made;
    return follow_choice();
  }
  bool good = false;
  try {
    good = c_.choices.choose(problem_, facts_, c_.rank, c_.where, chosen_) == status::ok;
  } catch (const std::bad_alloc&) {
  }
  return vote(good, &call::follow_choice, &call::forget_choice);
}

call::then call::forget_choice() noexcept {
  c_.choices.forget();
  return stage();
}

call::then call::follow_choice() noexcept {
  if (facts_.replayed) return make_room();
  if (chosen_.by == transport::vendor && !c_.library.ready()) return open_library();
  if (!chosen_ || !chosen_.mapped) return commit();
  bool fresh = false;
  const bool good = map_buffers(fresh);
  if (!fresh) return commit();
  return vote(good, &call::keep_mappings, &call::choose_without_mappings);
}

// All ranks hear of the same allocations, so `fresh` is the same at all.
bool call::map_buffers(bool& fresh) noexcept {
  bool good = true;
  for (int r = 0; r < c_.ranks; ++r) {
    const description& d = c_.protocol.description_of(r);
    const int process =
        r == c_.rank ? known_allocations::of_this_rank : c_.world[static_cast<std::size_t>(r)];
    const auto map = [&](const path::exported_memory& m) {
      return c_.known.map({r, process, m, number_}, c_.where, fresh);
    };
    try {
      if (d.has_input) good = map(d.input) && good;
      if (d.has_output) good = map(d.output) && good;
    } catch (const std::bad_alloc&) {
      good = false;
    }
  }
  return good;
}

call::then call::keep_mappings() noexcept {
  c_.known.drop_old(number_, c_.ranks);
  return commit();
}

/// Some rank could not map all of the call's allocations: nobody keeps them.
call::then call::choose_without_mappings() noexcept {
  c_.known.forget_named_in(number_);
  facts_.exportable = false;
  return choose();
}

// --- TELPHER_EXPLAIN ---

namespace {

void print_origin(const choice& c, char* text, std::size_t size) noexcept {
  const origin& from = c.from;
  if (from.of == origin::table::setting) {
    const bool library = c.by == transport::vendor;
    std::snprintf(text, size, " (by TELPHER_COLL_%s)", library ? "TRANSPORT" : "ALGORITHM");
    return;
  }
  if (from.of == origin::table::none) {
    std::snprintf(text, size, " (no row of the table serves it)");
    return;
  }
  const char* table = from.of == origin::table::tuned ? "tuned" : "built-in";
  const char* calls = from.calls == tuning::calls::enqueued   ? " enqueued"
                      : from.calls == tuning::calls::replayed ? " replay"
                                                              : "";
  if (from.most_bytes == tuning::any_size)
    std::snprintf(text, size, " (%s%s row: any size, to %d ranks)", table, calls, from.most_ranks);
  else
    std::snprintf(text, size, " (%s%s row: to %llu bytes, to %d ranks)", table, calls,
                  static_cast<unsigned long long>(from.most_bytes), from.most_ranks);
}

}  // namespace

void call::explain() const noexcept {
  if (!config().explain || c_.rank != 0) return;
  char way[120], row[120], text[320];
  if (chosen_.by == transport::vendor)
    std::snprintf(way, sizeof way, "%.80s by coll_vendor", c_.library.name());
  else
    std::snprintf(way, sizeof way, "%s by %s%s, %d blocks", chosen_.what->name,
                  path::to_string(kind_of(chosen_.by)),
                  is_packed(chosen_.by) ? ""
                  : chosen_.mapped      ? ", buffers mapped"
                                        : ", through the workspace",
                  chosen_.blocks);
  print_origin(chosen_, row, sizeof row);
  std::snprintf(text, sizeof text, "%s%s%s", way, packed_ ? ", gaps packed on the device" : "",
                row);
  c_.explained.print(name(), c_.ranks, volume(), text);
}

}  // namespace telpher::coll::exchange
