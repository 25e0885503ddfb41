// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/calls.hpp"

#include <array>
#include <cmath>
#include <new>

#include "base/log.hpp"
#include "codec/accounting.hpp"
#include "coll/between/kernel_runner.hpp"
#include "coll/between/votes.hpp"
#include "coll/exchange/packed_copies.hpp"
#include "host_mpi/error.hpp"
#include "path/path.hpp"

namespace telpher::coll::between {
namespace {

/// Tells all ranks the bound of the error of compressed sums. A sum adds one part from each node
/// and is compressed itself once more: so many errors as there are nodes.
status count_errors(const site& s, std::optional<int> own) noexcept {
  constexpr int none = -(1 << 20);
  std::array<std::int64_t, 1> bound{-own.value_or(none)};
  if (!least(s.room->wire, bound)) return status::host_mpi_error;
  if (const auto worst = static_cast<int>(-bound[0]); worst > none)
    codec::count_error(codec::method::zfp,
                       static_cast<double>(s.among.nodes.size()) * std::ldexp(1.0, worst));
  return status::ok;
}

void run_to_end(running& one, const char* name) noexcept {
  auto& e = ticket::progress();
  auto held = e.lock();
  e.enlist(one);
  e.wait_until(held, name, [&] { return one.done(); });
}

/// `mine`: a rank that has failed before still takes part, so that no other waits for it.
status run(site& s, call&& c, bool sums, status mine) noexcept {
  const char* const name = c.name;
  if (c.plan->in_kernel) {
    kernel_runner one(*s.room, std::move(c), mine);
    run_to_end(one, name);
    return one.outcome();
  }
  const bool rounds = static_cast<bool>(c.how);
  runner one(*s.room, std::move(c), mine);
  run_to_end(one, name);
  if (!rounds || !sums || s.room->abandoned()) return one.outcome();
  const status counted = count_errors(s, one.error_exponent());
  return failed(one.outcome()) ? one.outcome() : counted;
}

/// True if the buffers can be used as they are. Without a vote a kernel also needs buffers without
/// gaps on the room's device.
bool fits(const agreed& way, const exchange::arguments& a) noexcept {
  return can_take_part(a) && (way.voted || !way.in_kernel ||
                              (!a.gapped && lies_on(way.at->room->where, a, way.all.grain)));
}

/// Makes `a` the same call on packed copies where the schedule runs, in a call without arrays of
/// counts. Else it gets no buffers. The memory is not the reserve's: no other rank has begun.
status adapt(exchange::packed_copies& adapted, exchange::arguments& a, const agreed& way) noexcept {
  const host_mpi::without_reserve strictly;
  const memory::place there = way.in_kernel ? way.at->room->where : memory::place{};
  const status s = adapted.make_all(a, there, way.bytes, a.in_place);
  if (failed(s)) {
    a.input = a.output = nullptr;
    a.input_place = a.output_place = {};
  }
  a.bytes = exchange::block_bytes(a, way.bytes);
  a.grain = way.all.grain;
  return s;
}

/// not_supported, at all ranks alike: no schedule fits.
status run_agreed(const char* name, agreed& way, exchange::arguments& a) noexcept {
  site& s = *way.at;
  if (s.room->abandoned()) return status::peer_lost;
  exchange::packed_copies adapted;
  if (!s.room->equipped()) way.in_kernel = false;
  const bool differs = !fits(way, a);
  status mine = differs ? adapt(adapted, a, way) : status::ok;
  planned p =
      plan_of(a, s, way.all, {.rounds = static_cast<bool>(way.how), .kernel = way.in_kernel});
  if (p.to_vote && !all_say(s.comm, p.here)) {
    s.plans.forget();
    return status::out_of_memory;
  }
  if (!p.made) return status::not_supported;
  const std::uint64_t volume = p.bytes;
  if (differs && !failed(mine)) mine = adapted.load();
  call c = call_of(name, a, s, std::move(p), way.all, way.how);
  c.packed = way.packed;
  c.begun = way.voted;
  const status came = run(s, std::move(c), is_reduction(a.what), mine);
  if (failed(came)) return came;
  if (differs) TELPHER_TRY(adapted.store());
  path::count(path::kind::coll_levels, volume);
  return status::ok;
}

}  // namespace

bool run_blocking(const char* name, MPI_Comm comm, exchange::arguments&& a, std::uint64_t bytes,
                  int* code, stopwatch* staged) noexcept {
  auto way = agree(name, comm, a, bytes);
  const std::uint64_t began_ns = now_ns();  // either way without the vote, as later calls are
  if (way && way->staged) {
    *staged = stopwatch(way->tried->best(trials::way::staged), began_ns);
    return false;
  }
  const status came = way ? run_agreed(name, *way, a) : way.error();
  if (came == status::not_supported) return false;
  if (way && way->tried && !failed(came))
    stopwatch(way->tried->best(trials::way::schedule), began_ns).stop();
  *code = failed(came) ? host_mpi::fail(comm, name, came, "a collective between nodes failed")
                       : MPI_SUCCESS;
  return true;
}

namespace {

started add_crossing(ticket::held_lock& held, const char* name, site& s, exchange::arguments&& a,
                     host_form&& host, bool at_once) noexcept {
  try {
    auto made = std::make_shared<crossing>(name, s, std::move(a), std::move(host));
    s.crossings.add(held, made, at_once);
    return std::shared_ptr<deferred_call>(std::move(made));
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

}  // namespace

// If operations are the program's, the host MPI must have the call before this returns.
started start(const char* name, site& s, exchange::arguments&& a, host_form&& host) noexcept {
  auto held = ticket::progress().lock();
  const bool at_once = !a.possible;
  return add_crossing(held, name, s, std::move(a), std::move(host), at_once);
}

namespace {

class rounds final : public persistent_rounds {
 public:
  explicit rounds(const exchange::arguments& a) : arguments_(a) {}
  ~rounds() override {
    if (channel_) channel_->in_use = false;
  }
  void use(site& channel) noexcept { channel_ = &channel; }

  started start(ticket::held_lock& held, const char* call, host_form&& host) noexcept override {
    return add_crossing(held, call, *channel_, arguments_.looked_up_again(), std::move(host),
                        false);
  }
  std::unique_ptr<exchange::matching> match(const char*) noexcept override { return nullptr; }

 private:
  site* channel_ = nullptr;
  exchange::arguments arguments_;
};

}  // namespace

std::unique_ptr<persistent_rounds> make_rounds(const char* name, MPI_Comm comm,
                                               exchange::arguments&& a,
                                               std::uint64_t bytes) noexcept {
  std::unique_ptr<rounds> made;
  if (!has_memory_for([&] { made = std::make_unique<rounds>(a); })) a.no_memory = true;
  const auto way = agree_on_request(name, comm, a, bytes);
  site* const channel = way ? take_channel(*way->at) : nullptr;
  if (!channel) return nullptr;
  equip(*channel->room, *way, a.where);
  made->use(*channel);
  return made;
}

}  // namespace telpher::coll::between
