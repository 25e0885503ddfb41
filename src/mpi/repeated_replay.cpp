// SPDX-License-Identifier: BSD-3-Clause
// The replay of an enqueued collective that comes again: by a kernel in the program's stream, or,
// where that cannot be, by the proxy.
#include <atomic>
#include <new>

#include "coll/exchange/call_problem.hpp"
#include "memory/streams.hpp"
#include "mpi/entry.hpp"
#include "mpi/repeated.hpp"
#include "mpi/stream_room.hpp"

namespace telpher::mpi {

namespace {

using starter = coll::exchange::kernel_replay::starter;

int raise(const repeated_call& c, status s) noexcept {
  return entry::fail(c.comm, c.name, s, "a collective in the program's stream");
}

/// Whether kernels of the replay can work on the call's buffers themselves.
bool fits(const repeated_call& c, const repeated& of) noexcept {
  return c.a.possible && !c.a.scattered && c.a.where == of.replay->where() &&
         c.a.in_place == of.in_place && coll::exchange::has_sound_buffers(c.a);
}

/// A replay in a stream of ours, by the proxy.
class aside final : public stream::operation {
 public:
  /// `turn`: starts that must be over before.
  aside(repeated_call&& c, std::shared_ptr<repeated> of, std::uint32_t turn,
        bool for_graph) noexcept
      : call_(std::move(c)),
        of_(std::move(of)),
        turn_(turn),
        for_graph_(for_graph),
        packs_(!fits(call_, *of_)) {}

  int begin() noexcept override {
    started_ = false;
    return MPI_SUCCESS;
  }
  bool poll(int& code) noexcept override {
    code = MPI_SUCCESS;
    if (!started_) {
      if (!of_->are_over(turn_)) return false;
      started_ = true;
      const status s = start();
      if (s == status::ok) return false;
      abandon();
      code = raise(call_, s);
      return true;
    }
    status s = end_.query();
    if (s == status::would_block) return false;
    if (s == status::ok && packs_) s = packed_.store();
    if (s != status::ok) code = raise(call_, s);
    return true;
  }
  void abandon() noexcept override {
    if (!for_graph_) of_->lost.fetch_add(1, std::memory_order_release);
  }

 private:
  status start() noexcept {
    if (!prepared_) TELPHER_TRY(prepare());
    prepared_ = true;
    if (packs_) TELPHER_TRY(packed_.load());
    auto held = ticket::progress().lock();
    TELPHER_TRY(of_->replay->start_on(call_.a.input, call_.a.output, stream_.get(),
                                      for_graph_ ? starter::host_for_graph : starter::stream));
    return end_.record(stream_.get());
  }

  /// Once: in a graph it starts again and again.
  status prepare() noexcept {
    const memory::place& where = of_->replay->where();
    TELPHER_TRY(memory::own_stream::make(where).into(stream_));
    TELPHER_TRY(memory::pooled_event::acquire(where).into(end_));
    if (!packs_) return status::ok;
    return packed_.make_all(call_.a, where, of_->kind.bytes, of_->in_place);
  }

  repeated_call call_;
  std::shared_ptr<repeated> of_;
  std::uint32_t turn_;
  bool for_graph_;
  bool packs_;
  bool prepared_ = false;
  bool started_ = false;
  memory::own_stream stream_;
  memory::pooled_event end_;
  coll::exchange::packed_copies packed_;
};

/// With kernels that pack and unpack round it.
status start_packed(repeated_call& c, repeated& of, device::stream s, starter by) noexcept {
  std::erase_if(of.packed, [](const auto& one) { return one->is_over(); });
  const auto own = memory::stream(c.a.where, memory::stream_role::kernel);
  TELPHER_TRY(own);
  try {
    of.packed.push_back(std::make_unique<coll::exchange::packed_copies>());
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  const auto start = [&](coll::exchange::packed_copies& packed) noexcept {
    TELPHER_TRY(packed.make(c.a, *own, of.packed_memory));
    of.packed_memory = packed.memory();
    TELPHER_TRY(packed.pack(s));
    TELPHER_TRY(of.replay->start_on(c.a.input, c.a.output, s, by));
    TELPHER_TRY(packed.unpack(s));
    return by == starter::graph ? status::ok : packed.mark_end(s);
  };
  const status done = start(*of.packed.back());
  if (failed(done)) of.packed.pop_back();  // else nobody would see its end
  return done;
}

}  // namespace

// Replays of a kind follow one another. A graph's are the program's to order.
bool start_replay(repeated_call& c, repeated& of, device::adopted_stream& s, int& code) noexcept {
  const memory::place& where = of.replay->where();
  const bool captured = s.is_captured();
  const starter by = captured ? starter::graph : starter::stream;
  const bool on_device = s.get() && s.owner() == where.owner && s.device() == where.device;
  const bool same_stream =
      on_device && of.last_stream == c.native && !s.owner()->one_for_each_thread(c.native);
  const bool follows = captured || same_stream || of.are_over(of.turns);
  if (!captured) of.last_stream = on_device ? std::optional(c.native) : std::nullopt;
  if (!same_stream) of.packed_memory.reset();
  if (!follows || !on_device || !fits(c, of)) return false;
  auto held = ticket::progress().lock();
  if (!captured) await_room(held, c.name);
  const status done = c.a.gapped ? start_packed(c, of, *s.get(), by)
                                 : of.replay->start_on(c.a.input, c.a.output, *s.get(), by);
  if (done == status::ok && !captured) ++of.turns;
  code = done == status::ok ? MPI_SUCCESS : raise(c, done);
  return true;
}

std::unique_ptr<stream::operation> make_aside(repeated_call&& c, std::shared_ptr<repeated> of,
                                              device::adopted_stream& s) {
  const bool captured = s.is_captured();
  const std::uint32_t turn = captured ? of->turns : of->turns++;
  return std::make_unique<aside>(std::move(c), std::move(of), turn, captured);
}

}  // namespace telpher::mpi
