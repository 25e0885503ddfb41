// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/attempt.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <numeric>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/exchange/call_problem.hpp"
#include "coll/exchange/exchange.hpp"
#include "host_mpi/error.hpp"
#include "host_mpi/reserve.hpp"
#include "path/pull.hpp"

namespace telpher::coll::exchange {

bool enabled() noexcept {
  return config().coll != "staged";
}

bool call_blocking(const char* call, communicator& c, arguments& a, int* code) noexcept {
  attempt one(call, c, a, form::blocking);
  c.talk.begin();
  attempt::outcome came{};
  wait_for([&] { return (came = one.advance()) != attempt::outcome::pending; },
           [&](double seconds) {
             char awaited[96];
             one.describe(awaited, sizeof awaited);
             TELPHER_WARN("%s, call %llu on its communicator: has waited %.0f s until %s", call,
                          static_cast<unsigned long long>(c.talk.call()), seconds, awaited);
           });
  static_cast<void>(ticket::visit());  // messages have moved meanwhile
  if (came == attempt::outcome::staged) return false;
  const status s = one.result();
  *code = s == status::ok ? MPI_SUCCESS
                          : host_mpi::fail(c.comm, call, s, "a collective among devices failed");
  return true;
}

attempt::attempt(const char* call, communicator& c, arguments& a, form f) noexcept
    : call_(call), c_(c), a_(a), form_(f) {}

// --- from step to step ---

attempt::outcome attempt::advance() noexcept {
  for (;;) switch ((this->*stage_)()) {
      case then::next:
        break;
      case then::later:
        return outcome::pending;
      case then::staged:
        return outcome::staged;
      case then::done:
        return outcome::done;
    }
}

attempt::then attempt::go(stage next, const char* awaited) noexcept {
  stage_ = next;
  awaited_ = awaited;
  return then::next;
}

attempt::then attempt::leave() noexcept {
  c_.talk.finish();
  return then::staged;
}

attempt::then attempt::end(status s) noexcept {
  result_ = s;
  if (s == status::ok) {
    path::count(kind_of(chosen_.by), volume(what_, known_.unit));
  } else {
    c_.talk.fail_call();
    lane_.abandon_spaces();
  }
  return then::done;
}

bool attempt::withdraw() noexcept {
  if (!offered_) return true;
  return !heard_ && c_.talk.withdraw();
}

// --- words ---

attempt::then attempt::say() noexcept {
  agreement& talk = c_.talk;
  if (!talk.may_say()) return then::later;
  if (!eligible()) {
    if (form_ == form::blocking) talk.say(word::host);
    return then::staged;
  }
  describe_call(a_, talk.own_description());
  talk.own_description().library_failed = c_.library_failed;
  talk.own_description().forgot = mappings_gone();
  offered_ = true;
  if (form_ == form::blocking)
    talk.say(word::device);
  else
    talk.offer();
  return go(&attempt::hear, "has come to this call");
}

namespace {

// Before the rank says that it takes part: compiling may fail.
bool prepared(const arguments& a) noexcept {
  return a.where.owner->prepare(a.where.device,
                                kernel::exchange_with(a.reduce.op, a.reduce.type)) == status::ok;
}

// Where ranks take turns on a device, each step waits for its turn, some 100 us: below this for
// each rank staging is faster. Measured with 2 and 4 ranks on an H200.
constexpr std::uint64_t least_in_turns = 262144;

/// Bytes of the longest vector that this rank knows of.
std::uint64_t longest(const arguments& a) noexcept {
  const auto sum = [](const std::vector<std::uint64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  };
  const bool one_vector = is_reduction(a.what) && a.what != operation::reduce_scatter_block;
  const bool whole = one_vector || a.what == operation::bcast || is_v_form(a.what);
  const std::uint64_t known = whole ? a.bytes : a.bytes * static_cast<std::uint64_t>(a.ranks);
  return std::max({known, sum(a.own_counts), sum(a.output_counts)});
}

bool worth_turns(const arguments& a) noexcept {
  return config().coll_transport == "stepped" ||
         longest(a) >= least_in_turns * static_cast<std::uint64_t>(a.ranks);
}

}  // namespace

// A rank that moves nothing takes part with the device that it took part with before.
bool attempt::eligible() noexcept {
  if (host_mpi::memory_is_short()) return false;
  try {
    reserve_problem(a_, what_);
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (!a_.possible || c_.state == communicator::phase::unusable || !has_buffers(a_)) return false;
  const bool ready = c_.state == communicator::phase::ready;
  if (!a_.where.on_device()) {
    if (!ready || a_.input || a_.output) return false;
    a_.where = c_.where;
  }
  if (ready && !(a_.where == c_.where)) return false;
  if (ready && c_.takes_turns && !worth_turns(a_)) return false;
  if (a_.reduce.known && !prepared(a_)) return false;
  auto free = lane::take(a_.where);
  if (!free) return false;
  lane_ = std::move(*free);
  return offer_number() && describe_buffers(a_, c_.talk.own_description());
}

/// Says which numbers the call may have, and where it works at this rank.
bool attempt::offer_number() noexcept {
  const std::uint64_t least = call_number::least();
  workspace& own = lane_.space(c_.kind);
  if (own && own.era != call_number::era(least)) {
    if (own.clear_inbox() != status::ok) return false;
    own.era = call_number::era(least);
  }
  description& d = c_.talk.own_description();
  d.number = least;
  d.workspace_base = own ? own.id().base : 0;
  d.workspace_generation = own ? own.id().generation : 0;
  return true;
}

attempt::then attempt::hear() noexcept {
  const agreement::answer all = form_ == form::blocking ? c_.talk.words() : c_.talk.decision();
  if (all == agreement::answer::pending) return then::later;
  if (all == agreement::answer::no) return leave();
  heard_ = true;
  forget_mappings();
  if (!take_number() || !same_call()) return leave();
  const bool ready = c_.state == communicator::phase::ready && find_workspaces();
  return ready ? choose_path() : make_workspace();
}

/// False when inboxes may hold words of the call's number: they are cleared before the next call.
bool attempt::take_number() noexcept {
  std::uint64_t least = ~std::uint64_t{0};
  for (int r = 0; r < c_.ranks; ++r) {
    const std::uint64_t said = c_.talk.description_of(r).number;
    number_ = std::max(number_, said);
    least = std::min(least, said);
  }
  call_number::note(number_);
  return call_number::era(least) == call_number::era(number_);
}

bool attempt::same_call() const noexcept {
  const description& first = c_.talk.description_of(0);
  for (int r = 1; r < c_.ranks; ++r)
    if (c_.talk.description_of(r).signature != first.signature) return false;
  return true;
}

// --- the program's buffers ---

std::uint64_t attempt::address_of(int rank, const path::exported_memory& m) const noexcept {
  if (rank == c_.rank) return m.address;
  for (const auto& k : c_.known)
    if (k.rank == rank && k.memory.base == m.base && k.memory.generation == m.generation)
      return reinterpret_cast<std::uintptr_t>(k.mapping.base()) + (m.address - m.base);
  return 0;
}

/// Finds an allocation among the known ones, or maps it; false where that fails.
bool attempt::map_one(int rank, const path::exported_memory& m, bool& fresh) {
  for (auto& k : c_.known) {
    if (k.rank != rank || k.memory.base != m.base || k.memory.generation != m.generation) continue;
    k.last_call = c_.talk.call();
    if (k.mapping) k.mapping.touch();
    return true;
  }
  fresh = true;
  std::erase_if(c_.known, [&](const auto& k) {  // freed since: their addresses are another's now
    return k.rank == rank && k.memory.base < m.base + m.allocation_bytes &&
           m.base < k.memory.base + k.memory.allocation_bytes;
  });
  communicator::known_allocation k{rank, m, {}, c_.talk.call()};
  if (rank != c_.rank) {
    if (!path::importer_for(m, c_.where)) return false;
    auto opened = path::open_exported(c_.world[static_cast<std::size_t>(rank)], m, c_.where);
    if (!opened) return false;
    k.mapping = std::move(*opened);
    k.mapping.rest();
  }
  c_.known.push_back(std::move(k));
  return true;
}

// All ranks hear of the same allocations, so `fresh` is the same everywhere.
bool attempt::map_buffers(bool& fresh) noexcept {
  bool good = true;
  for (int r = 0; r < c_.ranks; ++r) {
    const description& d = c_.talk.description_of(r);
    try {
      if (d.has_input) good = map_one(r, d.input, fresh) && good;
      if (d.has_output) good = map_one(r, d.output, fresh) && good;
    } catch (const std::bad_alloc&) {
      good = false;
    }
  }
  return good;
}

/// Whether what this rank has mapped for the communicator was closed since it last looked: it was
/// not used for long, or there was too much of it. Nothing more is until the call has ended.
bool attempt::mappings_gone() noexcept {
  keeps_mappings_ = memory::allocations::instance().pause_trimming();
  const std::uint64_t seen = memory::allocations::instance().revoked();
  if (c_.seen_revoked == seen) return c_.forgot;
  c_.seen_revoked = seen;
  for (const auto& k : c_.known) c_.forgot = c_.forgot || (k.mapping && !k.mapping.base());
  return c_.forgot;
}

/// A rank that has closed one of them has said so: all forget them all, and map anew what is named.
void attempt::forget_mappings() noexcept {
  bool some = false;
  for (int r = 0; r < c_.ranks; ++r) some = some || c_.talk.description_of(r).forgot;
  if (some) c_.known.clear();
  if (some) c_.forgot = false;
}

void attempt::drop_old() noexcept {
  const std::uint64_t call = c_.talk.call();
  constexpr std::uint64_t kept_calls = 1024;
  const auto most = static_cast<std::size_t>(8 * c_.ranks);
  std::erase_if(c_.known, [&](const auto& k) { return k.last_call + kept_calls < call; });
  while (c_.known.size() > most) {
    const auto oldest = std::min_element(c_.known.begin(), c_.known.end(), [](auto& x, auto& y) {
      return x.last_call < y.last_call;
    });
    if (oldest->last_call == call) break;
    c_.known.erase(oldest);
  }
}

attempt::then attempt::choose_path() noexcept {
  if (!describe_problem(a_, c_.talk, what_, known_.unit)) return leave();
  known_.may_wait = c_.may_wait;
  known_.exportable = c_.kind == workspace_kind::device && all_exportable();
  known_.library = may_use_library();
  known_.places = 0;
  for (int r = 0; r < c_.ranks && is_v_form(a_.what); ++r)
    known_.places = (known_.places ^ c_.talk.description_of(r).places) * 1099511628211u;
  return take_path();
}

// All ranks know alike which problems all have chosen for. The choice for another one takes memory,
// which a single rank may not have: it says so before anybody begins.
attempt::then attempt::take_path() noexcept {
  if (const choice* made = c_.choices.find(what_, known_)) {
    chosen_ = *made;
    return follow_choice();
  }
  bool good = false;
  try {
    good = c_.choices.choose(what_, known_, c_.rank, c_.where, chosen_) == status::ok;
  } catch (const std::bad_alloc&) {
  }
  c_.talk.vote(good);
  return go(&attempt::hear_chosen, "has voted");
}

attempt::then attempt::hear_chosen() noexcept {
  const agreement::answer all = c_.talk.result();
  if (all == agreement::answer::pending) return then::later;
  if (all == agreement::answer::yes) return follow_choice();
  c_.choices.forget();
  return leave();
}

attempt::then attempt::follow_choice() noexcept {
  if (chosen_.by == transport::vendor && !c_.library.ready()) return open_library();
  if (!chosen_ || !chosen_.mapped) return commit();
  bool fresh = false;
  const bool good = map_buffers(fresh);
  if (!fresh) return commit();
  c_.talk.vote(good);
  return go(&attempt::hear_mapped, "has voted");
}

attempt::then attempt::hear_mapped() noexcept {
  const agreement::answer all = c_.talk.result();
  if (all == agreement::answer::pending) return then::later;
  if (all == agreement::answer::yes) {
    drop_old();
    return commit();
  }
  // Nobody keeps what this call has named: some rank has not got all of it.
  const std::uint64_t call = c_.talk.call();
  std::erase_if(c_.known, [&](const auto& k) { return k.last_call == call; });
  known_.exportable = false;
  return take_path();
}

bool attempt::all_exportable() const noexcept {
  for (int r = 0; r < c_.ranks; ++r) {
    const description& d = c_.talk.description_of(r);
    if ((d.has_input && !d.input.exportable) || (d.has_output && !d.output.exportable))
      return false;
  }
  return true;
}

void attempt::place_spaces() noexcept {
  for (int r = 0; r < c_.ranks && chosen_.mapped; ++r) {
    const description& d = c_.talk.description_of(r);
    spaces& s = map_[static_cast<std::size_t>(r)];
    if (d.has_input) s.input = address_of(r, d.input);
    if (d.has_output) s.output = address_of(r, d.output);
  }
  spaces& own = map_[static_cast<std::size_t>(c_.rank)];
  own.input = reinterpret_cast<std::uintptr_t>(a_.input);
  own.output = reinterpret_cast<std::uintptr_t>(a_.output);
}

// --- running ---

attempt::then attempt::commit() noexcept {
  if (!chosen_) return leave();
  c_.talk.finish();
  committed_ = true;
  explain();
  if (chosen_.by == transport::vendor) {
    const status s = start_library();
    return s == status::ok ? go(&attempt::watch_library, "has ended the library's call") : end(s);
  }
  place_spaces();
  compiled_.emplace(compilation{*chosen_.plan, map_, known_.unit, chosen_.by == transport::packed});
  if (chosen_.by == transport::stepped) {
    terms_ = {a_.where, c_.step_flags_of, number_,
              a_.reduce.known ? kernel::exchange_with(a_.reduce.op, a_.reduce.type)
                              : kernel::id::exchange,
              &chosen_.program->words};
    steps_.emplace(*compiled_, terms_, lane_);
    return go(&attempt::watch_steps, "has signalled");
  }
  const status s = launch_kernel();
  return s == status::ok ? go(&attempt::watch_kernel, "has ended its kernel") : end(s);
}

status attempt::launch_kernel() noexcept {
  std::vector<std::uint64_t>& words = chosen_.program->words;
  TELPHER_TRY(compile(*compiled_, words));
  kernel::exchange& k = lane_.parameters();
  k.epoch = number_;
  k.packed_epoch = call_number::packed(number_);
  k.me = static_cast<std::uint32_t>(c_.rank);
  std::copy(kernel_flags_.begin(), kernel_flags_.end(), k.flags);
  const kernel::id body =
      a_.reduce.known ? kernel::exchange_with(a_.reduce.op, a_.reduce.type) : kernel::id::exchange;
  const bool small = volume(what_, known_.unit) <= config().coll_linger_limit;
  const staying way = !small              ? staying::no
                      : compiled_->packed ? staying::packed
                                          : staying::with_flags;
  return run_.start(lane_, body, words, chosen_.blocks, way, chosen_.program->pinned.data());
}

attempt::then attempt::watch_kernel() noexcept {
  if (!given_up_ && somebody_failed()) {
    run_.stop();
    given_up_ = true;
  }
  const status s = run_.poll();
  if (s == status::would_block) return then::later;
  return end(given_up_ ? status::peer_lost : s);
}

attempt::then attempt::watch_steps() noexcept {
  const status s = steps_->advance();
  if (s != status::would_block) return end(s);
  return somebody_failed() ? end(status::peer_lost) : then::later;
}

/// Looks now and then.
bool attempt::somebody_failed() noexcept {
  if (++polls_ % 1024 != 0) return false;
  for (int r = 0; r < c_.ranks; ++r)
    if (r != c_.rank && c_.talk.failed_in_call(r)) return true;
  return false;
}

// --- what is said ---

void attempt::describe(char* text, std::size_t size) const noexcept {
  int peer = -1;
  if (stage_ == &attempt::watch_steps)
    peer = steps_->awaited();
  else if (stage_ == &attempt::watch_kernel || stage_ == &attempt::watch_library)
    peer = c_.rank;
  else if (offered_)
    peer = c_.talk.missing();
  if (peer < 0)
    std::snprintf(text, size, "%s", offered_ ? "all ranks have spoken" : awaited_);
  else
    std::snprintf(text, size, "rank %d %s", c_.world[static_cast<std::size_t>(peer)], awaited_);
}

namespace {

void say_row(const origin& from, char* text, std::size_t size) noexcept {
  if (from.of == origin::table::none) return;
  const char* table = from.of == origin::table::tuned ? "tuned" : "built-in";
  if (from.most_bytes == tuning::any_size)
    std::snprintf(text, size, " (%s row: any size, to %d ranks)", table, from.most_ranks);
  else
    std::snprintf(text, size, " (%s row: to %llu bytes, to %d ranks)", table,
                  static_cast<unsigned long long>(from.most_bytes), from.most_ranks);
}

}  // namespace

void attempt::explain() const noexcept {
  if (!config().explain || c_.rank != 0) return;
  char line[300];
  const int said =
      std::snprintf(line, sizeof line, "%s on %d ranks, up to %llu bytes: ", call_, c_.ranks,
                    static_cast<unsigned long long>(size_class(volume(what_, known_.unit))));
  auto at = static_cast<std::size_t>(said);
  if (chosen_.by == transport::vendor)
    at += static_cast<std::size_t>(
        std::snprintf(line + at, sizeof line - at, "%.80s by coll_vendor", c_.library.name()));
  else
    at += static_cast<std::size_t>(std::snprintf(line + at, sizeof line - at,
                                                 "%s by %s%s, %d blocks", chosen_.what->name,
                                                 path::to_string(kind_of(chosen_.by)),
                                                 chosen_.by == transport::packed ? ""
                                                 : chosen_.mapped ? ", buffers mapped"
                                                                  : ", through the workspace",
                                                 chosen_.blocks));
  say_row(chosen_.from, line + at, sizeof line - at);
  if (std::find(c_.explained.begin(), c_.explained.end(), line) != c_.explained.end()) return;
  try {
    c_.explained.emplace_back(line);
  } catch (const std::bad_alloc&) {  // said again next time
  }
  std::fprintf(stderr, "[telpher %d] %s\n", c_.world[0], line);
}

}  // namespace telpher::coll::exchange
