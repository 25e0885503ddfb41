// SPDX-License-Identifier: BSD-3-Clause
// A call from the words of agreement to the end of its kernel. Whatever is decided here is decided
// from what all ranks know, so that all decide the same; what a rank alone knows (it cannot map a
// buffer) is put to the vote first.
#include "coll/exchange/exchange.hpp"

#include <algorithm>
#include <cstdio>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/exchange/call_problem.hpp"
#include "coll/exchange/selection.hpp"
#include "host_mpi/error.hpp"
#include "path/pull.hpp"

namespace telpher::coll::exchange {

struct attempt::plan {
  problem what;
  facts known;
  choice chosen;
};

bool enabled() noexcept {
  return config().coll != "staged";
}

bool attempt::run(arguments& a, int* code) noexcept {
  agreement& talk = c_.talk;
  talk.begin();
  wait_for([&] { return talk.may_say(); },
           [&](double s) { report("its last words are read", -1, s); });
  if (!eligible(a)) {
    talk.say(word::host);
    return false;
  }
  describe(a);
  talk.say(word::device);
  plan p;
  plan_ = &p;
  const bool together = hear_all() && same_call() && prepare_workspace(a) && choose_and_map(a);
  talk.finish();
  if (!together) return false;
  const status s = execute(a);
  *code = s == status::ok ? MPI_SUCCESS
                          : host_mpi::fail(c_.comm, call_, s, "a collective among devices failed");
  return true;
}

// --- words ---

// A rank that moves nothing takes part with the device that it took part with before.
bool attempt::eligible(arguments& a) noexcept {
  if (!a.possible || c_.state == communicator::phase::unusable || !has_buffers(a)) return false;
  const bool ready = c_.state == communicator::phase::ready;
  if (!a.where.on_device()) {
    if (!ready || a.input || a.output) return false;
    a.where = c_.where;
  }
  if (ready && !(a.where == c_.where)) return false;
  auto free = lane::take(a.where);
  if (!free) return false;
  lane_ = std::move(*free);
  return describe_buffers(a, c_.talk.own_description());
}

void attempt::describe(const arguments& a) noexcept {
  describe_call(a, c_.talk.own_description());
}

bool attempt::hear_all() noexcept {
  wait_for([&] { return c_.talk.words() != agreement::answer::pending; },
           [&](double s) { report("has come to this call", c_.talk.missing(), s); });
  return c_.talk.words() == agreement::answer::yes;
}

bool attempt::vote(bool yes) noexcept {
  c_.talk.vote(yes);
  wait_for([&] { return c_.talk.result() != agreement::answer::pending; },
           [&](double s) { report("has voted", c_.talk.missing(), s); });
  return c_.talk.result() == agreement::answer::yes;
}

bool attempt::same_call() const noexcept {
  const description& first = c_.talk.description_of(0);
  for (int r = 1; r < c_.ranks; ++r)
    if (c_.talk.description_of(r).signature != first.signature) return false;
  return true;
}

// --- workspaces ---

bool attempt::prepare_workspace(const arguments& a) noexcept {
  if (c_.state == communicator::phase::ready) return true;
  c_.where = a.where;
  auto made = workspace::take(a.where);
  if (made) {
    c_.own = std::move(*made);
    c_.talk.own().workspace = c_.own.exported();
  }
  const bool good = vote(c_.own && c_.own.exported().exportable) && vote(open_workspaces());
  c_.state = good ? communicator::phase::ready : communicator::phase::unusable;
  if (good) return true;
  TELPHER_INFO("%s: a rank's device memory cannot be mapped by its peers: staged from now on",
               call_);
  for (auto& m : c_.mapped) m = {};
  c_.own = {};
  return false;
}

bool attempt::open_workspaces() noexcept {
  for (int r = 0; r < c_.ranks; ++r) {
    const auto i = static_cast<std::size_t>(r);
    const path::exported_memory& m = c_.talk.line(r).workspace;
    for (int q = 0; q < r; ++q)
      c_.shared_device = c_.shared_device || c_.talk.line(q).workspace.uuid == m.uuid;
    std::byte* base = c_.own.base();
    if (r != c_.rank) {
      if (!path::importer_for(m, c_.where)) return false;
      auto opened = memory::ipc_cache::instance().acquire(
          {c_.world[i], static_cast<std::uintptr_t>(m.base), m.generation, c_.where},
          m.allocation_bytes, m.handle);
      if (!opened) return false;
      c_.mapped[i] = std::move(*opened);
      base = c_.mapped[i].base() + (m.address - m.base);
    }
    workspace::place_in(c_.base[i], base);
    c_.kernel_flags[i] = workspace::flags_in(base);
  }
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
bool attempt::map_one(int rank, const path::exported_memory& m, bool& fresh) noexcept {
  for (auto& k : c_.known) {
    if (k.rank != rank || k.memory.base != m.base || k.memory.generation != m.generation) continue;
    k.last_call = c_.talk.call();
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
    auto opened = memory::ipc_cache::instance().acquire(
        {c_.world[static_cast<std::size_t>(rank)], static_cast<std::uintptr_t>(m.base),
         m.generation, c_.where},
        m.allocation_bytes, m.handle);
    if (!opened) return false;
    k.mapping = std::move(*opened);
  }
  c_.known.push_back(std::move(k));
  return true;
}

/// All ranks hear of the same allocations, so `fresh` and the votes are the same everywhere.
bool attempt::map_buffers() noexcept {
  bool fresh = false, good = true;
  for (int r = 0; r < c_.ranks; ++r) {
    const description& d = c_.talk.description_of(r);
    if (d.has_input) good = map_one(r, d.input, fresh) && good;
    if (d.has_output) good = map_one(r, d.output, fresh) && good;
  }
  if (!fresh) return true;
  const std::uint64_t call = c_.talk.call();
  if (!vote(good)) {
    // Nobody keeps what this call has named: some rank has not got all of it.
    std::erase_if(c_.known, [&](const auto& k) { return k.last_call == call; });
    return false;
  }
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
  return true;
}

bool attempt::choose_and_map(const arguments& a) noexcept {
  plan& p = *plan_;
  if (!describe_problem(a, c_.talk, p.what, p.known.unit)) return false;
  p.known.shared_device = c_.shared_device;
  p.known.exportable = all_exportable();
  p.chosen = choose(p.what, p.known, c_.rank);
  if (p.chosen && p.chosen.mapped && !map_buffers()) {
    p.known.exportable = false;
    p.chosen = choose(p.what, p.known, c_.rank);
  }
  if (!p.chosen) return false;
  if (p.chosen.by == transport::packed && c_.packed_epoch == ~std::uint32_t{0}) {
    c_.packed_epoch = 0;  // what lies in the inbox must not look new: this call is staged
    if (c_.own.clear_inbox() != status::ok) TELPHER_ERROR("an inbox could not be cleared");
    return false;
  }
  place_spaces(a, p.chosen.mapped);
  return true;
}

bool attempt::all_exportable() const noexcept {
  for (int r = 0; r < c_.ranks; ++r) {
    const description& d = c_.talk.description_of(r);
    if ((d.has_input && !d.input.exportable) || (d.has_output && !d.output.exportable))
      return false;
  }
  return true;
}

void attempt::place_spaces(const arguments& a, bool mapped) noexcept {
  map_ = c_.base;
  for (int r = 0; r < c_.ranks && mapped; ++r) {
    const description& d = c_.talk.description_of(r);
    spaces& s = map_[static_cast<std::size_t>(r)];
    if (d.has_input) s.input = address_of(r, d.input);
    if (d.has_output) s.output = address_of(r, d.output);
  }
  spaces& own = map_[static_cast<std::size_t>(c_.rank)];
  own.input = reinterpret_cast<std::uintptr_t>(a.input);
  own.output = reinterpret_cast<std::uintptr_t>(a.output);
}

// --- running ---

status attempt::execute(const arguments& a) noexcept {
  const choice& chosen = plan_->chosen;
  explain();
  ++c_.epoch;
  const compilation what{chosen.plan, map_, plan_->known.unit, chosen.by == transport::packed};
  const status s =
      chosen.by == transport::stepped ? execute_stepped(a, what) : execute_kernel(a, what);
  if (s == status::ok)
    path::count(kind_of(chosen.by), volume(plan_->what, plan_->known.unit));
  else
    c_.talk.fail_call();
  return s;
}

bool attempt::somebody_failed() const noexcept {
  for (int r = 0; r < c_.ranks; ++r)
    if (r != c_.rank && c_.talk.failed_in_call(r)) return true;
  return false;
}

status attempt::execute_kernel(const arguments& a, const compilation& what) noexcept {
  if (what.packed) ++c_.packed_epoch;
  auto words = compile(what);
  TELPHER_TRY(words);
  kernel::exchange k;
  k.epoch = c_.epoch;
  k.packed_epoch = c_.packed_epoch;
  k.me = static_cast<std::uint32_t>(c_.rank);
  std::copy(c_.kernel_flags.begin(), c_.kernel_flags.end(), k.flags);
  const kernel::id body =
      a.reduce.known ? kernel::exchange_with(a.reduce.op, a.reduce.type) : kernel::id::exchange;
  exchange::run launched;
  TELPHER_TRY(launched.start(lane_, body, k, *words, plan_->chosen.blocks));
  bool given_up = false;
  std::uint32_t polls = 0;
  wait_for(
      [&] {
        if (!given_up && ++polls % 1024 == 0 && somebody_failed()) {
          launched.stop();
          given_up = true;
        }
        return launched.done();
      },
      [&](double s) { report("its kernel has ended", c_.rank, s); });
  return given_up ? status::peer_lost : status::ok;
}

status attempt::execute_stepped(const arguments& a, const compilation& what) noexcept {
  stepped::terms t{
      a.where, c_.step_flags_of, c_.epoch,
      a.reduce.known ? kernel::exchange_with(a.reduce.op, a.reduce.type) : kernel::id::exchange};
  stepped steps(what, t, lane_);
  status s = status::would_block;
  std::uint32_t polls = 0;
  wait_for(
      [&] {
        s = steps.advance();
        if (s == status::would_block && ++polls % 1024 == 0 && somebody_failed())
          s = status::peer_lost;
        return s != status::would_block;
      },
      [&](double seconds) { report("has signalled", steps.awaited(), seconds); });
  return s;
}

// --- what is said ---

void attempt::report(const char* what, int peer, double seconds) const noexcept {
  if (peer < 0)
    TELPHER_WARN("%s, call %llu on its communicator: has waited %.0f s until %s", call_,
                 static_cast<unsigned long long>(c_.talk.call()), seconds, what);
  else
    TELPHER_WARN("%s, call %llu on its communicator: has waited %.0f s until rank %d %s", call_,
                 static_cast<unsigned long long>(c_.talk.call()), seconds,
                 c_.world[static_cast<std::size_t>(peer)], what);
}

void attempt::explain() const noexcept {
  if (!config().explain || c_.rank != 0) return;
  const choice& chosen = plan_->chosen;
  char line[200];
  std::snprintf(line, sizeof line, "%s on %d ranks, up to %llu bytes: %s by %s%s, %d blocks", call_,
                c_.ranks,
                static_cast<unsigned long long>(size_class(volume(plan_->what, plan_->known.unit))),
                chosen.what->name, path::to_string(kind_of(chosen.by)),
                chosen.by == transport::packed ? ""
                : chosen.mapped                ? ", buffers mapped"
                                               : ", through the workspace",
                chosen.blocks);
  if (std::find(c_.explained.begin(), c_.explained.end(), line) != c_.explained.end()) return;
  c_.explained.emplace_back(line);
  std::fprintf(stderr, "[telpher %d] %s\n", c_.world[0], line);
}

}  // namespace telpher::coll::exchange
