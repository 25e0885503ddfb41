// SPDX-License-Identifier: BSD-3-Clause
// The replay of an enqueued collective that comes again: by a kernel in the program's stream, or,
// where that cannot be, by the proxy.
#include <atomic>

#include "memory/streams.hpp"
#include "mpi/entry.hpp"
#include "mpi/packing.hpp"
#include "mpi/repeated.hpp"

namespace telpher::mpi {

using coll::operation;
using coll::exchange::arguments;

namespace {

int raise(const repeated_call& c, status s) noexcept {
  return entry::fail(c.comm, c.name, s, "a collective in the program's stream");
}

/// Whether kernels of the replay can work on the call's buffers themselves.
bool fits(const repeated_call& c, const repeated& of) noexcept {
  return c.a.possible && !c.a.scattered && c.a.where == of.replay->where() &&
         c.a.in_place == of.in_place;
}

/// What a call reads and writes, as packed bytes.
struct packed_part {
  std::uint64_t bytes = 0;
  MPI_Count blocks = 1;  // of so many elements as the call names
};
packed_part read_by(const arguments& a, std::uint64_t longest) noexcept {
  const bool own_block = a.what == operation::allgather && !a.in_place;
  const bool blocks = a.what == operation::alltoall || a.what == operation::allgather ||
                      a.what == operation::reduce_scatter_block;
  if (a.what == operation::bcast && a.rank != a.root) return {};
  return {own_block ? longest / static_cast<std::uint64_t>(a.ranks) : longest,
          blocks && !own_block ? a.ranks : 1};
}
packed_part written_by(const arguments& a, std::uint64_t longest) noexcept {
  const bool own_block = a.what == operation::reduce_scatter_block;
  const bool blocks = a.what == operation::alltoall || a.what == operation::allgather;
  if (a.what == operation::bcast && a.rank == a.root) return {};
  return {own_block ? longest / static_cast<std::uint64_t>(a.ranks) : longest,
          blocks ? a.ranks : 1};
}

/// A replay in a stream of ours, by the proxy.
class aside final : public stream::operation {
 public:
  /// `turn`: starts that must be over before.
  aside(repeated_call&& c, std::shared_ptr<repeated> of, std::uint32_t turn) noexcept
      : call_(std::move(c)),
        of_(std::move(of)),
        turn_(turn),
        packs_(!fits(call_, *of_)),
        in_(read_by(call_.a, of_->kind.bytes)),
        out_(written_by(call_.a, of_->kind.bytes)) {}

  int begin() noexcept override {
    started_ = false;
    return MPI_SUCCESS;
  }
  bool poll(int& code) noexcept override {
    code = MPI_SUCCESS;
    if (!started_) {
      if (!of_->are_over(turn_)) return false;
      started_ = true;
      code = start();
      if (code != MPI_SUCCESS) abandon();
      return code != MPI_SUCCESS;
    }
    const status s = end_.query();
    if (s == status::would_block) return false;
    code = s == status::ok ? unpack() : raise(call_, s);
    return true;
  }
  void abandon() noexcept override { of_->lost.fetch_add(1, std::memory_order_release); }

 private:
  int start() noexcept {
    if (const status s = prepare(); s != status::ok) return raise(call_, s);
    if (const int code = pack(); code != MPI_SUCCESS) return code;
    const void* const from = packs_ ? from_.data() : call_.a.input;
    auto held = ticket::progress().lock();
    status s = of_->replay->start_on(from, result(), stream_.get(), false);
    if (s == status::ok) s = end_.record(stream_.get());
    return s == status::ok ? MPI_SUCCESS : raise(call_, s);
  }

  status prepare() noexcept {
    const memory::place& where = of_->replay->where();
    TELPHER_TRY(memory::own_stream::make(where).into(stream_));
    TELPHER_TRY(memory::pooled_event::acquire(where).into(end_));
    if (!packs_) return status::ok;
    TELPHER_TRY(take(from_, of_->in_place ? of_->kind.bytes : in_.bytes));
    return take(to_, of_->in_place ? 0 : out_.bytes);
  }
  status take(memory::buffer& into, std::uint64_t bytes) const noexcept {
    if (bytes == 0 || into) return status::ok;
    TELPHER_TRY(memory::buffer::device(of_->replay->where(), bytes).into(into));
    return status::ok;
  }

  /// Where the replay writes.
  void* result() const noexcept {
    return !packs_ ? call_.a.output : of_->in_place ? from_.data() : to_.data();
  }
  int pack() const noexcept {
    const auto& e = call_.a.in_place ? call_.a.received : call_.a.sent;
    return move(packing::direction::pack, call_.a.input, e, in_, from_.data());
  }
  int unpack() const noexcept {
    return move(packing::direction::unpack, call_.a.output, call_.a.received, out_, result());
  }
  int move(packing::direction to, const void* typed, const coll::exchange::elements& e,
           const packed_part& part, const void* packed) const noexcept {
    if (!packs_ || part.bytes == 0) return MPI_SUCCESS;
    MPI_Count at = 0;
    int code = MPI_SUCCESS;
    const packing p{to,
                    call_.name,
                    typed,
                    MPI_Count{e.count} * part.blocks,
                    e.of,
                    packed,
                    static_cast<MPI_Count>(part.bytes),
                    call_.comm};
    return packed_on_device(p, at, &code) ? code : MPI_ERR_INTERN;
  }

  repeated_call call_;
  std::shared_ptr<repeated> of_;
  std::uint32_t turn_;
  bool packs_;
  packed_part in_, out_;
  bool started_ = false;
  memory::own_stream stream_;
  memory::pooled_event end_;
  memory::buffer from_, to_;
};

}  // namespace

// Replays of a kind follow one another. A graph's are the program's to order.
bool start_replay(const repeated_call& c, repeated& of, device::adopted_stream& s,
                  int& code) noexcept {
  const memory::place& where = of.replay->where();
  const bool captured = s.is_captured();
  const bool same_stream = of.last_stream == c.native && !s.owner()->one_for_each_thread(c.native);
  const bool follows = captured || same_stream || of.are_over(of.turns);
  const bool on_device = s.get() && s.owner() == where.owner && s.device() == where.device;
  of.last_stream = c.native;
  if (!follows || !on_device || !fits(c, of)) return false;
  auto held = ticket::progress().lock();
  const status done = of.replay->start_on(c.a.input, c.a.output, *s.get(), captured);
  if (done == status::ok && !captured) ++of.turns;
  code = done == status::ok ? MPI_SUCCESS : raise(c, done);
  return true;
}

std::unique_ptr<stream::operation> make_aside(repeated_call&& c, std::shared_ptr<repeated> of,
                                              device::adopted_stream& s) {
  const bool captured = s.is_captured();
  const std::uint32_t turn = captured ? of->turns : of->turns++;
  return std::make_unique<aside>(std::move(c), std::move(of), turn);
}

}  // namespace telpher::mpi
