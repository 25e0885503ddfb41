// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/repeated.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/lasting.hpp"
#include "base/log.hpp"
#include "base/stall_clock.hpp"
#include "host_mpi/lifetime.hpp"
#include "memory/held_streams.hpp"
#include "mpi/entry.hpp"

namespace telpher::mpi {

using coll::operation;
using coll::exchange::arguments;

namespace {

using state = repeated::state;
using way = repeated_turn::way;

constexpr std::uint64_t ahead = 16;
// Limits for a communicator: a kind uses up to about twice its bytes of the device's memory. Large
// ones have a bound in bytes, which leaves room for small ones.
constexpr std::size_t most_kinds = 16;
constexpr std::uint64_t small = std::uint64_t{1} << 20;
constexpr std::uint64_t most_large = std::uint64_t{128} << 20;
constexpr std::uint64_t largest = std::uint64_t{64} << 20;

struct of_communicator {
  MPI_Comm comm;
  host_mpi::lifetime life;
  int size = 0, rank = 0;
  bool serves = false;
  std::vector<std::shared_ptr<repeated>> kinds;
  std::uint64_t large = 0;  // bytes of the kinds that are not small
};

std::mutex guard;
lasting<std::vector<of_communicator>> table;

/// Under the guard; null if there is no memory.
of_communicator* known_communicator(MPI_Comm comm) noexcept {
  for (of_communicator& c : *table)
    if (c.comm == comm && !c.life.over()) return &c;
  try {
    std::erase_if(*table, [](const of_communicator& c) { return c.life.over(); });
    of_communicator fresh{comm, host_mpi::lifetime(comm)};
    fresh.serves = coll::exchange::communicator::may_serve(comm, fresh.size, fresh.rank);
    table->push_back(std::move(fresh));
    return &table->back();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::shared_ptr<repeated> known_kind(MPI_Comm comm, const repeated_kind& kind) noexcept {
  std::lock_guard lock(guard);
  of_communicator* const c = known_communicator(comm);
  if (!c) return nullptr;
  for (const auto& one : c->kinds)
    if (one->kind == kind) return one;
  const std::uint64_t large = kind.bytes > small ? kind.bytes : 0;
  if (c->kinds.size() == most_kinds || large > most_large - c->large) return nullptr;
  try {
    c->kinds.push_back(std::make_shared<repeated>(kind));
    c->large += large;
    return c->kinds.back();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Pairs have gaps, as kernels take them: what is packed has none.
bool is_served(const repeated_kind& k) noexcept {
  using kernel::reduce_op;
  if (k.bytes == 0 || k.bytes > largest) return false;
  switch (k.what) {
    case operation::allreduce:
    case operation::reduce:
    case operation::reduce_scatter_block:
    case operation::scan:
      return k.reduce.known && k.reduce.op != reduce_op::maxloc && k.reduce.op != reduce_op::minloc;
    case operation::bcast:
    case operation::allgather:
    case operation::alltoall:
    case operation::gather:
    case operation::scatter:
      return true;
    default:
      return false;
  }
}

// MPI demands it of all ranks where all must have one buffer alike.
bool in_place_together(operation what) noexcept {
  return what != operation::scan && what != operation::reduce_scatter_block &&
         what != operation::reduce;
}

/// Until the agreement is over; false in the proxy's own thread, which must not wait for itself.
/// The agreement may wait for what only threads of the program do.
bool await_answer(const char* call, const repeated& r) noexcept {
  for (patient_wait wait; r.see() == state::asked;) {
    if (stream::in_proxy()) return false;
    memory::held_streams::instance().make_calls();
    if (wait.pause())
      TELPHER_WARN(
          "%s has waited for %.0f s: the first such call on its communicator has not been "
          "reached by the streams of all ranks",
          call, wait.seconds());
  }
  return true;
}

}  // namespace

repeated_kind::repeated_kind(const arguments& a, std::uint64_t longest) noexcept
    : what(a.what),
      bytes(longest),
      root(a.root),
      in_place(a.in_place && in_place_together(a.what)),
      reduce(a.reduce) {}

bool may_repeat(MPI_Comm comm, int& size, int& rank) noexcept {
  if (!config().stream_repeats || !coll::exchange::enabled() || !entry::active() ||
      comm == MPI_COMM_NULL)
    return false;
  std::lock_guard lock(guard);
  const of_communicator* const c = known_communicator(comm);
  if (!c || !c->serves) return false;
  size = c->size;
  rank = c->rank;
  return true;
}

repeated_turn next_turn(const repeated_call& c, const repeated_kind& kind,
                        device::adopted_stream& s) noexcept {
  if (!is_served(kind)) return {};
  const bool captured = s.is_captured();
  auto r = known_kind(c.comm, kind);
  if (!r) return {};
  if (r->see() == state::unasked) {
    if (captured) return {};
    r->in_place = c.a.in_place;
    r->become(state::asked);
    return {way::proxy_asks, std::move(r)};
  }
  if (++r->since_first < ahead && !captured) return {};
  if (!await_answer(c.name, *r)) {
    host_mpi::fail_with(c.comm, c.name, MPI_ERR_OTHER,
                        "it is called by an error handler in a thread of Telpher's, before the "
                        "ranks have agreed on the first such call");
    return {way::fails, nullptr};
  }
  if (r->see() != state::ready) return {};
  return {way::replay, std::move(r)};
}

// As a persistent collective is made.
void ask(repeated_call&& c, repeated& of) noexcept {
  entry::keep_order(c.comm);
  of.agreement = coll::exchange::match_any_buffers(c.name, c.comm, std::move(c.a));
}

namespace {

class asking final : public stream::operation {
 public:
  explicit asking(std::shared_ptr<repeated> of) noexcept : of_(std::move(of)) {}
  int begin() noexcept override { return MPI_SUCCESS; }
  bool poll(int& code) noexcept override {
    code = MPI_SUCCESS;
    auto held = ticket::progress().lock();
    if (of_->agreement && !of_->agreement->advance()) return false;
    if (of_->agreement) of_->replay = of_->agreement->take();
    of_->agreement.reset();
    of_->become(of_->replay ? state::ready : state::refused);
    TELPHER_INFO("enqueued calls of %s over %llu bytes go by %s from now on",
                 coll::to_string(of_->kind.what), static_cast<unsigned long long>(of_->kind.bytes),
                 of_->replay ? "kernels in their streams" : "the thread that serves streams");
    return true;
  }
  void abandon() noexcept override { give_up(*of_); }

 private:
  std::shared_ptr<repeated> of_;
};

}  // namespace

std::unique_ptr<stream::operation> make_asking(std::shared_ptr<repeated> of) {
  return std::make_unique<asking>(std::move(of));
}

void give_up(repeated& of) noexcept {
  of.become(state::refused);
}

void settle_repeated(MPI_Comm comm) noexcept {
  std::vector<std::shared_ptr<repeated>> kinds;
  {
    std::lock_guard lock(guard);
    for (const of_communicator& c : *table)
      if (c.comm == comm) kinds = c.kinds;
  }
  for (const auto& r : kinds) await_answer("MPI_Comm_free", *r);
}

// Replays end outside of the guard: they take the progress lock.
void forget_repeated(MPI_Comm freed) noexcept {
  of_communicator gone{};
  std::lock_guard lock(guard);
  for (of_communicator& c : *table)
    if (c.comm == freed) std::swap(gone, c);
  std::erase_if(*table, [](const of_communicator& c) { return c.comm == MPI_Comm{}; });
}

void forget_repeated() noexcept {
  std::vector<of_communicator> gone;
  std::lock_guard lock(guard);
  std::swap(gone, *table);
}

}  // namespace telpher::mpi
