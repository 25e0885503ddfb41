// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/call.hpp"

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

namespace telpher::coll::exchange {

bool enabled() noexcept {
  return config().coll != "staged";
}

bool is_to_be_staged(operation what) noexcept {
  return !enabled() || forced_algorithm(what) == "staged";
}

bool run_blocking(const char* name, communicator& c, arguments&& a, int* code) noexcept {
  if (!a.possible && c.protocol.leave_next_to_host()) return false;
  const std::uint64_t number = c.protocol.next_call();
  auto& progress = ticket::progress();
  progress.tidy_when_due();
  call one(name, c, std::move(a), call::form::blocking);
  one.set_number(number);
  call::outcome came{};
  progress.wait_unlocked(
      name, [&] { return (came = one.advance()) != call::outcome::pending; },
      [&](double seconds) {
        char awaited[96];
        one.describe(awaited, sizeof awaited);
        TELPHER_WARN("%s, call %llu on its communicator: has waited %.0f s until %s", name,
                     static_cast<unsigned long long>(one.number()), seconds, awaited);
      });
  static_cast<void>(ticket::visit());  // messages have moved meanwhile
  if (came == call::outcome::staged) return false;
  const status s = one.result();
  *code = s == status::ok ? MPI_SUCCESS
                          : host_mpi::fail(c.comm, name, s, "a collective among devices failed");
  return true;
}

// --- from step to step ---

call::outcome call::advance() noexcept {
  for (;;) switch ((this->*step_)()) {
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

call::then call::go(step_function next, const char* awaited) noexcept {
  step_ = next;
  awaited_ = awaited;
  return then::next;
}

call::then call::vote(bool good, step_function if_all, step_function if_not) noexcept {
  c_.protocol.vote(good);
  if_all_ = if_all;
  if_not_ = if_not;
  return go(&call::await_votes, "has voted");
}

call::then call::await_votes() noexcept {
  const agreement::answer all = c_.protocol.result();
  if (all == agreement::answer::pending) return then::later;
  step_ = all == agreement::answer::yes ? if_all_ : if_not_;
  return then::next;
}

call::then call::stage() noexcept {
  c_.protocol.finish();
  return then::staged;
}

call::then call::end(status s) noexcept {
  result_ = s;
  if (s == status::ok) {
    path::count(kind_of(chosen_.by), volume());
  } else {
    c_.protocol.fail_call();
    execution_->context().abandon_workspaces();
    if (packed_) packed_->abandon();
  }
  return then::done;
}

bool call::withdraw() noexcept {
  if (!proposed_) return true;
  return !decided_ && c_.protocol.withdraw();
}

// --- what ends a non-blocking call ---

// Frees what the call holds now: the program may keep its request for long.
void call::release() noexcept {
  packed_.reset();
  execution_.reset();
  chosen_ = {};
  keeps_mappings_ = {};
}

void call::end_on_devices() noexcept {
  release();
  host_ = nullptr;
  deferred_call::end(result_);
}

void call::start_staged() noexcept {
  release();
  start_on_host(host_, c_.comm, false);
}

// --- the proposal ---

call::then call::begin() noexcept {
  c_.protocol.begin(number_);
  return go(&call::propose, awaited_);
}

call::then call::propose() noexcept {
  if (!c_.protocol.may_propose()) return then::later;
  if (!eligible()) return leave_to_host();
  return packed_ ? go(&call::await_packing, awaited_) : describe_and_propose();
}

call::then call::leave_to_host() noexcept {
  if (form_ == form::blocking) c_.protocol.propose(proposal::host);
  return then::staged;
}

call::then call::describe_and_propose() noexcept {
  agreement& protocol = c_.protocol;
  description& own = protocol.own_description();
  describe_call(arguments_, own);
  own.library_failed = c_.library_failed;
  own.lost_mappings = lost_mappings();
  proposed_ = true;
  if (form_ == form::blocking)
    protocol.propose(proposal::device);
  else
    protocol.propose_revocably();
  return go(&call::await_proposals, "has come to this call");
}

namespace {

// Compiling may fail, so it comes before the proposal.
bool prepared(const arguments& a) noexcept {
  return a.where.owner->prepare(a.where.device,
                                kernel::exchange_with(a.reduce.op, a.reduce.type)) == status::ok;
}

// Where ranks take turns on a device each step waits some 100 us for its turn. Below so many bytes
// a rank staging is faster. Measured with 2 and 4 ranks on an H200.
constexpr std::uint64_t least_in_turns = 262144;

/// Bytes of the longest vector that this rank knows of.
std::uint64_t longest(const arguments& a) noexcept {
  const auto sum = [](const std::vector<std::uint64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  };
  const bool block = is_made_of_blocks(a.what) && !is_v_form(a.what);
  const std::uint64_t known = block ? a.bytes * static_cast<std::uint64_t>(a.ranks) : a.bytes;
  return std::max({known, sum(a.own_counts), sum(a.output_counts)});
}

bool worth_turns(const arguments& a) noexcept {
  return config().coll_transport == "stepped" ||
         longest(a) >= least_in_turns * static_cast<std::uint64_t>(a.ranks);
}

}  // namespace

// A rank that moves nothing takes part with the device of its earlier calls.
bool call::eligible() noexcept {
  arguments& a = arguments_;
  if (host_mpi::memory_is_short()) return false;
  try {
    reserve_problem(a, problem_);
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (!a.possible || c_.state == communicator::phase::unusable || !has_sound_buffers(a))
    return false;
  const bool ready = c_.state == communicator::phase::ready;
  if (!a.where.on_device()) {
    if (!ready || a.input || a.output) return false;
    a.where = c_.where;
  }
  if (ready && !(a.where == c_.where)) return false;
  if (ready && c_.takes_turns && !worth_turns(a)) return false;
  if (a.reduce.known && !prepared(a)) return false;
  auto free = launch_context::take(a.where);
  if (!free) return false;
  execution_.emplace(std::move(*free));
  if (!pack()) return false;
  const handles wanted = facts_.any_buffers ? handles::none
                         : facts_.replayed  ? handles::all
                                            : handles::where_of_use;
  return propose_number() && describe_buffers(a, wanted, c_.protocol.own_description());
}

/// Describes the least number that the call may have here, and the workspace.
bool call::propose_number() noexcept {
  const std::uint64_t least = call_number::least();
  workspace& own = execution_->context().space(c_.kind);
  if (own && own.era != call_number::era(least)) {
    if (own.clear_inbox() != status::ok) return false;
    own.era = call_number::era(least);
  }
  description& d = c_.protocol.own_description();
  d.number = least;
  d.workspace_base = own ? own.id().base : 0;
  d.workspace_generation = own ? own.id().generation : 0;
  return true;
}

/// Whether a mapping of the communicator's was closed since the last call, because it was not used
/// for long or there were too many. Until this call has ended none is closed.
bool call::lost_mappings() noexcept {
  keeps_mappings_ = memory::allocations::instance().pause_trimming();
  return c_.known.lost_some();
}

// --- the proposals of all ranks ---

call::then call::await_proposals() noexcept {
  const agreement::answer all =
      form_ == form::blocking ? c_.protocol.proposals() : c_.protocol.decision();
  if (all == agreement::answer::pending) return then::later;
  if (all == agreement::answer::no) return stage();
  decided_ = true;
  forget_lost_mappings();
  if (!agree_on_number() || !same_call()) return stage();
  const bool ready = c_.state == communicator::phase::ready && find_workspaces();
  return ready ? describe_to_choose() : make_workspace();
}

/// If some rank has lost a mapping, all forget all of them, and map anew what this call names.
void call::forget_lost_mappings() noexcept {
  bool some = false;
  for (int r = 0; r < c_.ranks; ++r) some = some || c_.protocol.description_of(r).lost_mappings;
  if (some) c_.known.forget_all();
}

/// False if ranks propose numbers of different eras: inboxes may hold words that look like this
/// call's. They are cleared before the next one.
bool call::agree_on_number() noexcept {
  std::uint64_t least = ~std::uint64_t{0};
  for (int r = 0; r < c_.ranks; ++r) {
    const std::uint64_t proposed = c_.protocol.description_of(r).number;
    signal_number_ = std::max(signal_number_, proposed);
    least = std::min(least, proposed);
  }
  call_number::note(signal_number_);
  return call_number::era(least) == call_number::era(signal_number_);
}

bool call::same_call() const noexcept {
  const description& first = c_.protocol.description_of(0);
  for (int r = 1; r < c_.ranks; ++r)
    if (c_.protocol.description_of(r).signature != first.signature) return false;
  return true;
}

// --- the stall report ---

void call::describe(char* text, std::size_t size) const noexcept {
  int peer = -1;
  if (step_ == &call::poll_unpacking)
    peer = c_.rank;
  else if (step_ == &call::poll_execution)
    peer = execution_->by_steps() ? execution_->awaited() : c_.rank;
  else if (step_ == &call::poll_library)
    peer = c_.rank;
  else if (proposed_)
    peer = c_.protocol.missing();
  if (peer < 0)
    std::snprintf(text, size, "%s", proposed_ ? "all ranks have answered" : awaited_);
  else
    std::snprintf(text, size, "rank %d %s", c_.world[static_cast<std::size_t>(peer)], awaited_);
}

}  // namespace telpher::coll::exchange
