// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation. A direct window synchronises by its words (words.hpp), and also by the host
// MPI's call if it has host memory. All other windows synchronise by the host MPI's call, and by
// merges before it or after it (merging.hpp).
#include <algorithm>
#include <atomic>

#include "host_mpi/error.hpp"
#include "rma/rma.hpp"
#include "rma/window.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::rma {
namespace {

using way = window::way;

int call_host(const host_call& host) noexcept {
  const ticket::blocking_call guard;
  return host();
}

// The host MPI is kept moving, too. The rank that holds what we wait for may itself wait in the
// host MPI for our answer.
template <class Done>
void wait_until(const char* call, Done&& done) noexcept {
  if (done()) return;
  ticket::visit v;
  unsigned polls = 0;
  auto& progress = ticket::progress();
  progress.wait_until(v.held, call, [&] {
    if (++polls % 16 == 0) progress.listen();
    return done();
  });
}

int refuse(const window& w, const char* call, int error_class, const char* why) noexcept {
  return host_mpi::fail_with(host_mpi::error_owner::window(w.handle), call, error_class, why);
}

int wrong_epoch(const window& w, const char* call) noexcept {
  return refuse(w, call, MPI_ERR_RMA_SYNC, "no epoch is open that this call ends or is part of");
}

// The operations at a rank, or at everyone, that were issued before a call which completes them.
// Those that other threads issue meanwhile are not complete when the host MPI returns.
class completion {
 public:
  completion(window& w, int rank) noexcept : w_(w), rank_(rank) {
    const std::lock_guard lock(w.guard);
    last_ = w.issued;
  }

  /// The host MPI has completed them.
  int finish(const char* call) noexcept {
    status first = status::ok;
    while (const auto op = next()) {
      const status s = op->finish();
      if (!failed(first)) first = s;
    }
    return first == status::ok
               ? MPI_SUCCESS
               : host_mpi::fail(host_mpi::error_owner::window(w_.handle), call, first,
                                "results could not be copied to device memory");
  }

 private:
  // An operation stays in the list until it is finished, so that no other thread passes it by.
  std::shared_ptr<staged_operation> next() noexcept {
    const std::lock_guard lock(w_.guard);
    for (auto at = w_.pending.begin(); at != w_.pending.end() && (*at)->number <= last_;) {
      if (rank_ != everyone && (*at)->target != rank_)
        ++at;
      else if ((*at)->finished())
        at = w_.pending.erase(at);
      else
        return *at;
    }
    return nullptr;
  }

  window& w_;
  const int rank_;
  std::uint64_t last_ = 0;
};

/// Waits for this rank's puts and gets at a rank, or at everyone, that are under way, and for what
/// its kernels have put.
int end_copies(window& w, int rank, const char* call) noexcept {
  if (w.for_kernels && !w.for_kernels->quiet(call))
    return refuse(w, call, MPI_ERR_OTHER,
                  "what kernels have asked of ranks on other nodes has failed; the log of the rank "
                  "that failed says why");
  if (!w.copies || (rank != everyone && !w.valid(rank))) return MPI_SUCCESS;
  const status s = w.copies->finish(rank, call);
  return s == status::ok ? MPI_SUCCESS
                         : host_mpi::fail(host_mpi::error_owner::window(w.handle), call, s,
                                          "a put or get that was under way has failed");
}

int first_error(int first, int second) noexcept {
  return first != MPI_SUCCESS ? first : second;
}

bool group_ranks(const window& w, MPI_Group group, std::vector<int>& out) {
  MPI_Group all = MPI_GROUP_NULL;
  int n = 0;
  if (pmpi::Group_size(group, &n) != MPI_SUCCESS ||
      pmpi::Win_get_group(w.handle, &all) != MPI_SUCCESS)
    return false;
  std::vector<int> theirs(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) theirs[static_cast<std::size_t>(i)] = i;
  out.assign(theirs.size(), MPI_UNDEFINED);
  const int code = pmpi::Group_translate_ranks(group, n, theirs.data(), all, out.data());
  pmpi::Group_free(&all);
  return code == MPI_SUCCESS &&
         std::all_of(out.begin(), out.end(), [&](int r) { return w.valid(r); });
}

std::size_t index(int rank) noexcept {
  return static_cast<std::size_t>(rank);
}

bool all_completed(const window& w) noexcept {
  return std::all_of(w.posted.begin(), w.posted.end(), [&](int o) {
    return w.shared.completed(w.rank, o).load(std::memory_order_acquire) >= w.posts[index(o)];
  });
}

}  // namespace

void meet(window& w, const char* call) noexcept {
  const std::uint64_t all = ++w.fences * static_cast<std::uint64_t>(w.size());
  w.shared.arrived().fetch_add(1, std::memory_order_acq_rel);
  wait_until(call, [&] { return w.shared.arrived().load(std::memory_order_acquire) >= all; });
}

bool enter_epoch(window& w, int target, const char* call) noexcept {
  if (w.fenced || w.held[index(target)] != hold::none) return true;
  if (std::find(w.started.begin(), w.started.end(), target) == w.started.end()) return false;
  const auto& posted = w.shared.posted(target, w.rank);
  const std::uint64_t wanted = w.starts[index(target)];
  if (posted.load(std::memory_order_acquire) < wanted)
    wait_until(call, [&] { return posted.load(std::memory_order_acquire) >= wanted; });
  return true;
}

int fence(int assertion, MPI_Win win, const host_call& host) noexcept {
  constexpr const char* call = "MPI_Win_fence";
  window* const w = find(win);
  if (!w) return call_host(host);
  completion done(*w, everyone);
  if (const int code = before_fence(*w, call, assertion); code != MPI_SUCCESS) return code;
  const int copied = end_copies(*w, everyone, call);
  if (w->by == way::direct) {
    meet(*w, call);
    w->fenced = (assertion & MPI_MODE_NOSUCCEED) == 0;
  }
  if (w->by != way::direct || w->host_too)
    if (const int code = call_host(host); code != MPI_SUCCESS) return code;
  if (const int code = done.finish(call); code != MPI_SUCCESS) return code;
  return first_error(copied, after_fence(*w, call, assertion));
}

// --- post, start, complete, wait ---

int post(MPI_Group group, int assertion, MPI_Win win, const host_call& host) noexcept {
  constexpr const char* call = "MPI_Win_post";
  window* const w = find(win);
  if (!w) return call_host(host);
  if (const int code = before_post(*w, call, assertion); code != MPI_SUCCESS) return code;
  if (w->by != way::direct) return call_host(host);
  if (w->exposes) return wrong_epoch(*w, call);
  if (!group_ranks(*w, group, w->posted))
    return refuse(*w, call, MPI_ERR_GROUP, "the group has ranks that the window has not");
  for (const int o : w->posted) {
    ++w->posts[index(o)];
    w->shared.posted(w->rank, o).fetch_add(1, std::memory_order_release);
  }
  w->exposes = true;
  w->fenced = false;
  return w->host_too ? call_host(host) : MPI_SUCCESS;
}

int start(MPI_Group group, MPI_Win win, const host_call& host) noexcept {
  constexpr const char* call = "MPI_Win_start";
  window* const w = find(win);
  if (!w) return call_host(host);
  passed(*w);
  if (w->by != way::direct) return call_host(host);
  if (w->accesses) return wrong_epoch(*w, call);
  if (!group_ranks(*w, group, w->started))
    return refuse(*w, call, MPI_ERR_GROUP, "the group has ranks that the window has not");
  for (const int t : w->started) ++w->starts[index(t)];
  w->accesses = true;
  w->fenced = false;
  return w->host_too ? call_host(host) : MPI_SUCCESS;
}

int complete(MPI_Win win, const host_call& host) noexcept {
  constexpr const char* call = "MPI_Win_complete";
  window* const w = find(win);
  if (!w) return call_host(host);
  if (w->by == way::direct && !w->accesses) return wrong_epoch(*w, call);
  passed(*w);
  completion done(*w, everyone);
  const int copied = end_copies(*w, everyone, call);
  if (w->by != way::direct || w->host_too)
    if (const int code = call_host(host); code != MPI_SUCCESS) return code;
  const int code = first_error(copied, done.finish(call));
  if (w->by != way::direct) return code;
  for (const int t : w->started) {
    enter_epoch(*w, t, call);  // a rank that has not exposed its memory must not see the end
    w->shared.completed(t, w->rank).fetch_add(1, std::memory_order_release);
  }
  w->started.clear();
  w->accesses = false;
  return code;
}

int wait(MPI_Win win, const host_call& host) noexcept {
  constexpr const char* call = "MPI_Win_wait";
  window* const w = find(win);
  if (!w) return call_host(host);
  if (w->by == way::direct) {
    if (!w->exposes) return wrong_epoch(*w, call);
    wait_until(call, [&] { return all_completed(*w); });
    w->exposes = false;
    if (!w->host_too) return MPI_SUCCESS;
  }
  if (const int code = call_host(host); code != MPI_SUCCESS) return code;
  return after_wait(*w, call);
}

int test(MPI_Win win, int* flag, const host_call& host) noexcept {
  constexpr const char* call = "MPI_Win_test";
  window* const w = find(win);
  {
    // A program that only loops on MPI_Win_test must still move messages that an origin waits for.
    const ticket::visit v;
    auto& progress = ticket::progress();
    progress.poll();
    if (w && w->by == way::direct) progress.listen();  // else the host MPI's call does
  }
  if (!w) return host();
  if (w->by == way::direct) {
    if (!w->exposes) return wrong_epoch(*w, call);
    *flag = all_completed(*w);
    if (*flag && !w->host_too) w->exposes = false;
    if (!*flag || !w->host_too) return MPI_SUCCESS;
  }
  const int code = host();
  if (code != MPI_SUCCESS || !*flag) return code;
  w->exposes = false;
  return after_wait(*w, call);
}

// --- locks ---

namespace {

void let_go(window& w, int rank) noexcept {
  hold& h = w.held[index(rank)];
  if (h == hold::shared || h == hold::exclusive) w.shared.unlock(rank, h == hold::exclusive);
  h = hold::none;
}

void let_go_of_all(window& w) noexcept {
  for (int r = 0; r < w.size(); ++r) let_go(w, r);
}

/// Of a direct window: whether this rank has locked any memory.
bool has_locked(const window& w) noexcept {
  return w.host_locks > 0 ||
         std::any_of(w.held.begin(), w.held.end(), [](hold h) { return h != hold::none; });
}

}  // namespace

int lock(int type, int rank, int assertion, MPI_Win win, const host_call& host) noexcept {
  constexpr const char* call = "MPI_Win_lock";
  window* const w = find(win);
  if (!w) return call_host(host);
  if (w->direct_at(rank)) {
    hold& h = w->held[index(rank)];
    if (h != hold::none)
      return refuse(*w, call, MPI_ERR_RMA_SYNC, "this rank has locked that memory already");
    if (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED)
      return refuse(*w, call, MPI_ERR_LOCKTYPE, "neither MPI_LOCK_EXCLUSIVE nor MPI_LOCK_SHARED");
    const bool exclusively = type == MPI_LOCK_EXCLUSIVE;
    if (assertion & MPI_MODE_NOCHECK)
      h = hold::unchecked;
    else {
      wait_until(call, [&] { return w->shared.try_lock(rank, exclusively); });
      h = exclusively ? hold::exclusive : hold::shared;
    }
    w->fenced = false;
  }
  if (!w->host_at(rank)) return MPI_SUCCESS;
  if (const int code = call_host(host); code != MPI_SUCCESS) {
    if (w->direct_at(rank)) let_go(*w, rank);
    return code;
  }
  ++w->host_locks;
  passed(*w);
  return rank == w->rank ? take(*w, call) : MPI_SUCCESS;
}

int unlock(int rank, MPI_Win win, const host_call& host) noexcept {
  constexpr const char* call = "MPI_Win_unlock";
  window* const w = find(win);
  if (!w) return call_host(host);
  if (w->direct_at(rank) && w->held[index(rank)] == hold::none) return wrong_epoch(*w, call);
  const bool own = rank == w->rank;
  completion done(*w, rank);
  const int copied = end_copies(*w, rank, call);
  if (!own) passed(*w);
  int code = own ? show(*w, call) : MPI_SUCCESS;
  if (code == MPI_SUCCESS && w->host_at(rank)) {
    code = call_host(host);
    if (code == MPI_SUCCESS) --w->host_locks;
  }
  if (code == MPI_SUCCESS) code = done.finish(call);
  if (w->direct_at(rank)) let_go(*w, rank);
  if (code == MPI_SUCCESS && own) code = take(*w, call);
  return first_error(copied, code);
}

int lock_all(int assertion, MPI_Win win, const host_call& host) noexcept {
  constexpr const char* call = "MPI_Win_lock_all";
  window* const w = find(win);
  if (!w) return call_host(host);
  if (w->by == way::direct) {
    if (std::any_of(w->held.begin(), w->held.end(), [](hold h) { return h != hold::none; }))
      return refuse(*w, call, MPI_ERR_RMA_SYNC, "this rank has locked memory already");
    for (int r = 0; r < w->size(); ++r) {
      if (assertion & MPI_MODE_NOCHECK || !w->direct_at(r)) {
        w->held[index(r)] = hold::unchecked;
        continue;
      }
      wait_until(call, [&] { return w->shared.try_lock(r, false); });
      w->held[index(r)] = hold::shared;
    }
    w->fenced = false;
    if (!w->host_too) return MPI_SUCCESS;
  }
  if (const int code = call_host(host); code != MPI_SUCCESS) {
    if (w->by == way::direct) let_go_of_all(*w);
    return code;
  }
  ++w->host_locks;
  return show(*w, call);
}

int unlock_all(MPI_Win win, const host_call& host) noexcept {
  constexpr const char* call = "MPI_Win_unlock_all";
  window* const w = find(win);
  if (!w) return call_host(host);
  if (w->by == way::direct && w->held.front() == hold::none) return wrong_epoch(*w, call);
  completion done(*w, everyone);
  const int copied = end_copies(*w, everyone, call);
  int code = show(*w, call);
  if (code == MPI_SUCCESS && (w->by != way::direct || w->host_too)) {
    code = call_host(host);
    if (code == MPI_SUCCESS) --w->host_locks;
  }
  if (code == MPI_SUCCESS) code = done.finish(call);
  if (w->by == way::direct) let_go_of_all(*w);
  if (code == MPI_SUCCESS) code = take(*w, call);
  return first_error(copied, code);
}

// The host MPI refuses to flush all where no epoch of its own is open.
int flush(const char* call, int rank, MPI_Win win, const host_call& host) noexcept {
  window* const w = find(win);
  if (!w) return call_host(host);
  const bool all = rank == everyone;
  if (all ? w->by == way::direct && !has_locked(*w)
          : w->direct_at(rank) && w->held[index(rank)] == hold::none)
    return wrong_epoch(*w, call);
  passed(*w);
  completion done(*w, rank);
  const int copied = end_copies(*w, rank, call);
  if (all ? w->by != way::direct || w->host_locks > 0 : w->host_at(rank))
    if (const int code = call_host(host); code != MPI_SUCCESS) return code;
  return first_error(copied, done.finish(call));
}

// Device memory of a direct window needs no more than an order of this rank's accesses. The host
// MPI refuses the call outside its own epochs.
int sync(MPI_Win win, const host_call& host) noexcept {
  window* const w = find(win);
  if (!w) return host();
  if (const int code = show(*w, "MPI_Win_sync"); code != MPI_SUCCESS) return code;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return w->by == way::direct && w->host_locks == 0 ? MPI_SUCCESS : host();
}

}  // namespace telpher::rma
