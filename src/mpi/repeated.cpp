// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/repeated.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/lasting.hpp"
#include "base/log.hpp"
#include "host_mpi/lifetime.hpp"
#include "memory/streams.hpp"
#include "mpi/entry.hpp"
#include "mpi/packing.hpp"
#include "stream/waiting.hpp"

namespace telpher::mpi {

using coll::operation;
using coll::exchange::arguments;

/// The calls of one kind on one communicator. The program's thread counts (one at a time makes the
/// collectives of a communicator); the proxy asks, writes `replay`, then `now` with release order.
class repeated {
 public:
  enum class state : std::uint8_t { unasked, asked, refused, ready };

  explicit repeated(const repeated_kind& k) noexcept : kind(k) {}

  const repeated_kind kind;
  std::atomic<state> now{state::unasked};
  std::uint64_t since_first = 0;  // calls
  std::unique_ptr<coll::replay> replay;

  state see() const noexcept { return now.load(std::memory_order_acquire); }
  void become(state s) noexcept { now.store(s, std::memory_order_release); }
};

namespace {

using state = repeated::state;
using way = repeated_turn::way;

constexpr std::uint64_t ahead = 16;
constexpr std::size_t most_kinds = 16;  // of a communicator: each has memory of the device

struct of_communicator {
  MPI_Comm comm;
  host_mpi::lifetime life;
  int size = 0, rank = 0;
  bool serves = false;
  std::vector<std::shared_ptr<repeated>> kinds;
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
  if (c->kinds.size() == most_kinds) return nullptr;
  try {
    c->kinds.push_back(std::make_shared<repeated>(kind));
    return c->kinds.back();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Pairs have gaps, as kernels take them: what is packed has none.
bool is_served(const repeated_kind& k) noexcept {
  using kernel::reduce_op;
  switch (k.what) {
    case operation::allreduce:
    case operation::reduce_scatter_block:
    case operation::scan:
      return k.bytes > 0 && k.reduce.known && k.reduce.op != reduce_op::maxloc &&
             k.reduce.op != reduce_op::minloc;
    case operation::bcast:
    case operation::allgather:
    case operation::alltoall:
      return k.bytes > 0;
    default:
      return false;
  }
}

bool is_captured(const device::adopted_stream& s) noexcept {
  return s.get() && s.owner()->is_captured(*s.get());
}

/// Until the agreement is over; false in the proxy's own thread, which must not wait for itself.
bool await_answer(const char* call, const repeated& r) noexcept {
  stream::warning_clock clock;
  for (int looks = 0; r.see() == state::asked; ++looks) {
    if (stream::in_proxy()) return false;
    pause(looks, stream::nap_ns);
    if (clock.rings())
      TELPHER_WARN(
          "%s has waited for %.0f s: the first such call on its communicator has not been "
          "reached by the streams of all ranks",
          call, clock.seconds());
  }
  return true;
}

}  // namespace

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

repeated_turn next_turn(const char* call, MPI_Comm comm, const repeated_kind& kind,
                        const device::adopted_stream& s) noexcept {
  if (!is_served(kind)) return {};
  const bool captured = is_captured(s);
  auto r = known_kind(comm, kind);
  if (!r) return {};
  if (r->see() == state::unasked) {
    if (captured) return {};
    r->become(state::asked);
    return {way::proxy_asks, std::move(r)};
  }
  if (++r->since_first < ahead && !captured) return {};
  if (!await_answer(call, *r)) {
    host_mpi::fail_with(comm, call, MPI_ERR_OTHER,
                        "it is called by an error handler in a thread of Telpher's, before the "
                        "ranks have agreed on the first such call");
    return {way::fails, nullptr};
  }
  if (r->see() != state::ready) return {};
  return {way::replay, std::move(r)};
}

namespace {

class asking final : public stream::operation {
 public:
  asking(const char* call, MPI_Comm comm, std::shared_ptr<repeated> of, arguments&& a) noexcept
      : call_(call), comm_(comm), of_(std::move(of)), a_(std::move(a)) {}
  int begin() noexcept override {
    matching_ = coll::exchange::match_any_buffers(call_, comm_, std::move(a_));
    return MPI_SUCCESS;
  }
  bool poll(int& code) noexcept override {
    code = MPI_SUCCESS;
    auto held = ticket::progress().lock();
    if (matching_ && !matching_->advance()) return false;
    if (matching_) of_->replay = matching_->take();
    of_->become(of_->replay ? state::ready : state::refused);
    TELPHER_INFO("enqueued calls of %s over %llu bytes go by %s from now on",
                 coll::to_string(of_->kind.what), static_cast<unsigned long long>(of_->kind.bytes),
                 of_->replay ? "kernels in their streams" : "the thread that serves streams");
    return true;
  }
  void abandon() noexcept override { give_up(*of_); }

 private:
  const char* call_;
  MPI_Comm comm_;
  std::shared_ptr<repeated> of_;
  arguments a_;
  std::unique_ptr<coll::matching> matching_;
};

}  // namespace

std::unique_ptr<stream::operation> make_asking(const char* call, MPI_Comm comm,
                                               std::shared_ptr<repeated> of, arguments&& a) {
  return std::make_unique<asking>(call, comm, std::move(of), std::move(a));
}

void give_up(repeated& of) noexcept {
  of.become(state::refused);
}

void forget_repeated(MPI_Comm freed) noexcept {
  std::lock_guard lock(guard);
  std::erase_if(*table, [&](const of_communicator& c) { return c.comm == freed; });
}

void forget_repeated() noexcept {
  std::lock_guard lock(guard);
  table->clear();
}

// --- the replay ---

namespace {

int raise(const char* call, MPI_Comm comm, status s) noexcept {
  return entry::fail(comm, call, s, "a collective in the program's stream");
}

/// What the call reads and writes, as packed bytes.
struct packed_bytes {
  std::uint64_t in = 0, out = 0;
  MPI_Count in_blocks = 1, out_blocks = 1;
};
packed_bytes packed_bytes_of(const arguments& a, std::uint64_t longest) noexcept {
  const auto ranks = static_cast<std::uint64_t>(a.ranks);
  const bool gathers = a.what == operation::allgather,
             scatters = a.what == operation::reduce_scatter_block,
             both = a.what == operation::alltoall;
  packed_bytes p{gathers ? longest / ranks : longest, scatters ? longest / ranks : longest};
  if (scatters || both) p.in_blocks = a.ranks;
  if (gathers || both) p.out_blocks = a.ranks;
  if (a.what == operation::bcast) (a.rank == a.root ? p.out : p.in) = 0;
  if (a.in_place) p.in = p.out = longest;
  return p;
}

/// A replay on packed copies of the program's buffers, by the proxy.
class aside final : public stream::operation {
 public:
  aside(const char* call, MPI_Comm comm, std::shared_ptr<repeated> of, arguments&& a) noexcept
      : call_(call),
        comm_(comm),
        of_(std::move(of)),
        a_(std::move(a)),
        bytes_(packed_bytes_of(a_, of_->kind.bytes)) {}

  int begin() noexcept override {
    if (const status s = prepare(); s != status::ok) return raise(call_, comm_, s);
    if (const int code = fill(); code != MPI_SUCCESS) return code;
    auto held = ticket::progress().lock();
    void* const out = a_.in_place ? in_.data() : out_.data();
    status s = of_->replay->start_on(in_.data(), out, stream_.get(), false);
    if (s == status::ok) s = end_.record(stream_.get());
    return s == status::ok ? MPI_SUCCESS : raise(call_, comm_, s);
  }

  bool poll(int& code) noexcept override {
    const status s = end_.query();
    if (s == status::would_block) return false;
    code = s == status::ok ? empty() : raise(call_, comm_, s);
    return true;
  }

 private:
  status prepare() noexcept {
    const memory::place& where = of_->replay->where();
    auto made = memory::own_stream::make(where);
    TELPHER_TRY(made);
    stream_ = std::move(*made);
    auto end = memory::pooled_event::acquire(where);
    TELPHER_TRY(end);
    end_ = std::move(*end);
    for (auto [buffer, bytes] : {std::pair{&in_, bytes_.in}, std::pair{&out_, bytes_.out}}) {
      if (bytes == 0 || *buffer) continue;
      auto taken = memory::buffer::device(where, bytes);
      TELPHER_TRY(taken);
      *buffer = std::move(*taken);
    }
    return status::ok;
  }

  int fill() noexcept {
    if (bytes_.in == 0) return MPI_SUCCESS;
    const auto& e = a_.in_place ? a_.received : a_.sent;
    return pack({packing::direction::pack, call_, a_.input, count_of(e), e.of, in_.data(),
                 static_cast<MPI_Count>(bytes_.in), comm_});
  }

  int empty() noexcept {
    if (bytes_.out == 0) return MPI_SUCCESS;
    const void* const from = a_.in_place ? in_.data() : out_.data();
    const MPI_Count room = static_cast<MPI_Count>(bytes_.out);
    return pack({packing::direction::unpack, call_, a_.output, count_of(a_.received),
                 a_.received.of, from, room, comm_});
  }

  /// In place the one buffer holds the longest vector.
  MPI_Count count_of(const coll::exchange::elements& e) const noexcept {
    const bool out = &e == &a_.received;
    const MPI_Count blocks = a_.in_place ? std::max(bytes_.in_blocks, bytes_.out_blocks)
                             : out       ? bytes_.out_blocks
                                         : bytes_.in_blocks;
    return MPI_Count{e.count} * blocks;
  }

  static int pack(const packing& p) noexcept {
    MPI_Count at = 0;
    int code = MPI_SUCCESS;
    return packed_on_device(p, at, &code) ? code : MPI_ERR_INTERN;
  }

  const char* call_;
  MPI_Comm comm_;
  std::shared_ptr<repeated> of_;
  arguments a_;
  packed_bytes bytes_;
  memory::own_stream stream_;
  memory::pooled_event end_;
  memory::buffer in_, out_;
};

/// Whether a kernel in this stream can work on the buffers themselves.
bool fits(const arguments& a, const device::adopted_stream& s,
          const memory::place& where) noexcept {
  return s.get() && a.possible && !a.scattered && a.where == where && s.owner() == where.owner &&
         s.device() == where.device;
}

}  // namespace

bool start_replay(const char* call, MPI_Comm comm, repeated& of, const arguments& a,
                  const device::adopted_stream& s, int& code) noexcept {
  if (!fits(a, s, of.replay->where())) return false;
  auto held = ticket::progress().lock();
  const status done = of.replay->start_on(a.input, a.output, *s.get(), is_captured(s));
  code = done == status::ok ? MPI_SUCCESS : raise(call, comm, done);
  return true;
}

std::unique_ptr<stream::operation> make_aside(const char* call, MPI_Comm comm,
                                              std::shared_ptr<repeated> of, arguments&& a) {
  return std::make_unique<aside>(call, comm, std::move(of), std::move(a));
}

}  // namespace telpher::mpi
