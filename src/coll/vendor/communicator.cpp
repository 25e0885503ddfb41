// SPDX-License-Identifier: BSD-3-Clause
#include "coll/vendor/communicator.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>
#include <system_error>
#include <thread>

#include "base/blocked_signals.hpp"
#include "base/log.hpp"
#include "base/stall_clock.hpp"
#include "base/thread_use.hpp"
#include "memory/held_streams.hpp"

namespace telpher::coll::vendor {
namespace {

using kernel::reduce_op;
using kernel::value_type;

// The numbers are those of NCCL's binary interface.
constexpr int bytes_type = 1;
constexpr int not_entered =
    -1;  // not a code of the library's: the device could not be made current

struct numbered_type {
  value_type type;
  int number;
};
constexpr numbered_type types[] = {{value_type::i8, 0},  {value_type::u8, 1},  {value_type::i32, 2},
                                   {value_type::u32, 3}, {value_type::i64, 4}, {value_type::u64, 5},
                                   {value_type::f16, 6}, {value_type::f32, 7}, {value_type::f64, 8},
                                   {value_type::bf16, 9}};
constexpr reduce_op operations[] = {reduce_op::sum, reduce_op::prod, reduce_op::max,
                                    reduce_op::min};

/// -1: the library has none.
int type_of(value_type t) {
  const auto* const found = std::ranges::find(types, t, &numbered_type::type);
  return found == std::end(types) ? -1 : found->number;
}

int number_of(reduce_op op) {
  const auto* const found = std::ranges::find(operations, op);
  return found == std::end(operations) ? -1 : static_cast<int>(found - operations);
}

// Under MPI_THREAD_MULTIPLE only one communicator of a process has the library, because two could
// block each other; NCCL's documentation warns of it. A call that waits for the device (cudaFree,
// in any thread) keeps all threads from launching until the kernels there have ended. Such a kernel
// may wait for a peer's kernel, whose launch waits behind a kernel of the second communicator,
// which waits for a kernel that this process cannot launch.
std::atomic<const communicator*> only_user{nullptr};

bool may_use(const communicator* c) noexcept {
  const communicator* none = nullptr;
  return !several_threads.load(std::memory_order_relaxed) ||
         only_user.compare_exchange_strong(none, c) || none == c;
}

template <class F>
status on(const memory::place& where, F&& f) noexcept {
  const auto work = [](void* argument) { (*static_cast<std::remove_reference_t<F>*>(argument))(); };
  return where.owner->call_with(where.device, work, &f);
}

void leave(const communicator* c) noexcept {
  only_user.compare_exchange_strong(c, nullptr);
}

}  // namespace

bool supports(operation what, bool in_place, const reduction& r) noexcept {
  const bool reduces = r.known && type_of(r.type) >= 0 && number_of(r.op) >= 0;
  switch (what) {
    case operation::allreduce:
    case operation::reduce:
      return reduces;
    case operation::reduce_scatter_block:
      return reduces && !in_place;
    case operation::bcast:
    case operation::allgather:
      return true;
    case operation::alltoall:
      return !in_place;
    default:
      return false;
  }
}

// --- joining ---

/// Shared by the thread that joins and the communicator. Either the result comes first or the
/// communicator's end. Who comes second sees it by `now`, and frees the handle.
struct communicator::meeting {
  enum class phase : int { waiting, over, abandoned };
  std::atomic<phase> now{phase::waiting};
  const library* lib;
  memory::place where;
  unique_id id;
  int ranks, rank;
  int code = not_entered;
  handle made = nullptr;

  void join() noexcept {
    code = lib->init_rank(&made, ranks, id, rank);
    for (long looks = 0; code == in_progress; ++looks) {
      pause(looks);
      if (const int asked = lib->async_error(made, &code); asked != success) code = asked;
    }
    if (!end() && code == success) lib->abort(made);
  }
  /// False if the communicator has gone.
  bool end() noexcept {
    phase before = phase::waiting;
    return now.compare_exchange_strong(before, phase::over);
  }
  static void run(void* self) { static_cast<meeting*>(self)->join(); }
};

std::uint64_t communicator::open(const memory::place& where) noexcept {
  where_ = where;
  if (!may_use(this)) return 0;
  library_ = library::for_backend(*where.owner);
  const bool good = library_ && !library_->spoiled();
  return good ? static_cast<std::uint64_t>(library_->version) : 0;
}

bool communicator::make_id(unique_id& id) noexcept {
  int code = success;
  const status s = on_device([&] { code = library_->get_unique_id(&id); });
  return s == status::ok && usable(code, "ncclGetUniqueId");
}

bool communicator::join(const unique_id& id, int ranks, int rank) noexcept {
  const blocked_signals blocked;
  bool started = false;
  try {
    auto m = std::make_shared<meeting>();
    m->lib = library_;
    m->where = where_;
    m->id = id;
    m->ranks = ranks;
    m->rank = rank;
    std::thread([m] {
      const memory::place& at = m->where;
      if (failed(at.owner->call_with(at.device, &meeting::run, m.get()))) m->end();
    }).detach();
    meeting_ = std::move(m);
    started = true;
  } catch (const std::bad_alloc&) {
  } catch (const std::system_error&) {
  }
  return started;
}

status communicator::joined() noexcept {
  if (meeting_->now.load() == meeting::phase::waiting) return status::would_block;
  const std::shared_ptr<meeting> m = std::move(meeting_);
  meeting_.reset();
  if (!usable(m->code, "ncclCommInitRank")) return status::device_error;
  handle_ = m->made;
  return status::ok;
}

void communicator::abort() noexcept {
  if (meeting_) {
    auto waiting = meeting::phase::waiting;
    const bool left = meeting_->now.compare_exchange_strong(waiting, meeting::phase::abandoned);
    if (!left && meeting_->code == success) handle_ = meeting_->made;
    meeting_.reset();
  }
  if (handle_ && event_ && event_.query() == status::would_block)
    static_cast<void>(on_device([&] { library_->abort(handle_); }));
  else if (handle_)
    memory::held_streams::instance().call_when_free([l = library_, made = handle_, at = where_] {
      static_cast<void>(on(at, [&] { l->abort(made); }));
    });
  handle_ = nullptr;
  leave(this);
}

// --- calls ---

status communicator::start(const call& c, device::stream s) noexcept {
  if (!event_) {
    TELPHER_TRY(memory::pooled_event::acquire(where_).into(event_));
  }
  int code = success;
  void* stream = where_.owner->native_stream(s);
  TELPHER_TRY(on_device([&] { code = settled(issue(c, stream)); }));
  TELPHER_TRY(check(code));
  return event_.record(s);
}

status communicator::poll() noexcept {
  const status s = event_.query();
  if (s != status::would_block || ++polls_ % 256 != 0 || !handle_) return s;
  int code = success;
  const int asked = library_->async_error(handle_, &code);
  if (asked != success) code = asked;
  return code == success || code == in_progress ? status::would_block : check(code);
}

int communicator::issue(const call& c, void* stream) const noexcept {
  const library& l = *library_;
  const int type = c.reduce.known ? type_of(c.reduce.type) : bytes_type;
  const int op = number_of(c.reduce.op);
  const std::size_t count = c.reduce.known ? c.bytes / kernel::value_bytes(c.reduce.type) : c.bytes;
  switch (c.what) {
    case operation::allreduce:
      return l.all_reduce(c.input, c.output, count, type, op, handle_, stream);
    case operation::reduce:
      return l.reduce(c.input, c.output, count, type, op, c.root, handle_, stream);
    case operation::reduce_scatter_block:
      return l.reduce_scatter(c.input, c.output, count, type, op, handle_, stream);
    case operation::bcast: {  // the root has an input only, the others an output
      void* both = c.output ? c.output : const_cast<void*>(c.input);
      return l.broadcast(both, both, count, type, c.root, handle_, stream);
    }
    case operation::allgather: {
      const auto own = static_cast<std::size_t>(c.rank) * c.bytes;
      const void* from = c.in_place ? static_cast<std::byte*>(c.output) + own : c.input;
      return l.all_gather(from, c.output, count, type, handle_, stream);
    }
    default:
      return exchange_blocks(c, stream);
  }
}

int communicator::exchange_blocks(const call& c, void* stream) const noexcept {
  const library& l = *library_;
  int code = l.group_start();
  for (int r = 0; r < c.ranks && code == success; ++r) {
    const auto at = static_cast<std::size_t>(r) * c.bytes;
    const auto* from = static_cast<const std::byte*>(c.input) + at;
    code = l.send(from, c.bytes, bytes_type, r, handle_, stream);
    if (code == success)
      code = l.receive(static_cast<std::byte*>(c.output) + at, c.bytes, bytes_type, r, handle_,
                       stream);
  }
  const int ended = l.group_end();
  return code == success ? ended : code;
}

/// A communicator may be set not to wait. Then a call is in its stream only when the library says
/// so.
int communicator::settled(int code) const noexcept {
  for (patient_wait wait; code == in_progress;) {
    if (const int asked = library_->async_error(handle_, &code); asked != success) return asked;
    if (wait.pause())
      TELPHER_WARN("%s has not begun a collective yet: it may wait for a rank that does not come",
                   name());
  }
  return code;
}

const char* communicator::text_of(int code) const noexcept {
  return code == not_entered ? "the device could not be made current"
                             : library_->error_string(code);
}

/// After a failure before the first call ranks go without the library.
bool communicator::usable(int code, const char* call) const noexcept {
  if (code == success) return true;
  TELPHER_WARN("%s: %s: %s: collectives go without it", name(), call, text_of(code));
  library_->spoil();
  return false;
}

status communicator::check(int code) const noexcept {
  if (code == success) return status::ok;
  TELPHER_ERROR("%s: a collective has failed: %s", name(), text_of(code));
  return status::device_error;
}

template <class F>
status communicator::on_device(F&& f) noexcept {
  return on(where_, f);
}

}  // namespace telpher::coll::vendor
