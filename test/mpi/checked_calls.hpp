// SPDX-License-Identifier: BSD-3-Clause
// Calls of collectives in the forms that go in two levels, blocking or not, with buffers of any
// kind of memory: contents are formulas, so that every rank knows what it must get.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>

#include "paths.hpp"

namespace mpi_test {

enum class call_kind {
  allreduce,
  reduce,
  bcast,
  allgather,
  alltoall,
  reduce_scatter_block,
  allgatherv,
  alltoallv,
  reduce_scatter,
  count_
};
inline constexpr const char* names[] = {"allreduce",  "reduce",    "bcast",
                                        "allgather",  "alltoall",  "reduce_scatter_block",
                                        "allgatherv", "alltoallv", "reduce_scatter"};

inline int value(int rank, int i, int call) {
  return (rank + 1) * 1009 + i * 7 + call * 131;
}

struct memory_kinds {
  kind send = kind::device, receive = kind::device;
  bool in_place = false;
  bool later = false;  // the non-blocking form
};

/// Ints of the block of rank `r`, or from `r` to `to`, where blocks differ; some are empty.
inline int count_of(int n, int r) {
  return (n * (r % 3) + r) / 2;
}
inline int count_of(int n, int r, int to) {
  return (n * ((r + 2 * to) % 3) + r + to) / 2;
}

/// Blocks with gaps between them.
struct placed {
  std::vector<int> counts, places;
  int space = 0;

  template <class Count>
  placed(int ranks, Count count) {
    for (int r = 0; r < ranks; ++r) {
      counts.push_back(count(r));
      places.push_back(space);
      space += counts.back() + 3;
    }
  }
  int sum(int before) const { return std::accumulate(counts.begin(), counts.begin() + before, 0); }
};

/// What is wrong with `n` sums of all ranks' values; empty if nothing is.
inline std::string wrong_sums(const buffer& sums, int n, int ranks, int call) {
  std::vector<int> got(static_cast<std::size_t>(n));
  copy(sums.memory(), got.data(), sums.data(), got.size() * sizeof(int));
  for (int i = 0; i < n; ++i) {
    int wanted = 0;
    for (int r = 0; r < ranks; ++r) wanted += value(r, i, call);
    if (got[static_cast<std::size_t>(i)] != wanted)
      return "element " + std::to_string(i) + " of call " + std::to_string(call) + " is wrong";
  }
  return "";
}

/// Around the call itself, when all that the check needs is there; around the wait for a
/// non-blocking one.
inline std::function<void()> before_call, after_call;

/// Calls the blocking form (no request), or the other and waits for it.
template <class Call>
void complete(bool later, Call call) {
  MPI_Request made = MPI_REQUEST_NULL;
  if (before_call && !later) before_call();
  call(later ? &made : nullptr);
  if (before_call && later) before_call();
  if (later) MPI_Wait(&made, MPI_STATUS_IGNORE);
  if (after_call) after_call();
}

/// One call of a v-form with about `n` ints a block; contents are formulas here as well.
class checked_v_call {
 public:
  checked_v_call(MPI_Comm comm, call_kind what, int n, int call, memory_kinds k)
      : comm_(comm), what_(what), n_(n), call_(call), k_(k) {
    MPI_Comm_rank(comm, &me_);
    MPI_Comm_size(comm, &ranks_);
  }

  std::string run() {
    if (what_ == call_kind::allgatherv) return allgatherv();
    return what_ == call_kind::alltoallv ? alltoallv() : reduce_scatter();
  }

 private:
  static constexpr int untouched = 0x5b5b5b5b;
  using ints = std::vector<int>;

  buffer made(kind k, const ints& content) {
    buffer b(k, std::max<std::size_t>(content.size(), 1) * sizeof(int));
    b.clear();
    copy(k, b.data(), content.data(), content.size() * sizeof(int));
    return b;
  }
  /// The blocks of `p` with element i of block b from `content`, and the gaps.
  template <class F>
  static ints filled(const placed& p, F content) {
    ints all(static_cast<std::size_t>(p.space), untouched);
    for (std::size_t b = 0; b < p.counts.size(); ++b)
      for (int i = 0; i < p.counts[b]; ++i)
        all[static_cast<std::size_t>(p.places[b] + i)] = content(static_cast<int>(b), i);
    return all;
  }
  std::string compare(const buffer& from, const ints& wanted) {
    ints got(wanted.size());
    copy(from.memory(), got.data(), from.data(), got.size() * sizeof(int));
    const auto [g, w] = std::mismatch(got.begin(), got.end(), wanted.begin());
    if (g == got.end()) return "";
    return std::string(names[static_cast<int>(what_)]) + ": int " +
           std::to_string(g - got.begin()) + " of " + std::to_string(got.size()) + " is " +
           std::to_string(*g) + ", not " + std::to_string(*w);
  }

  std::string allgatherv() {
    const placed all(ranks_, [&](int r) { return count_of(n_, r); });
    const auto from = [&](int r, int i) { return value(r, i, call_); };
    const auto mine = static_cast<std::size_t>(me_);
    ints own, before(static_cast<std::size_t>(all.space), untouched);
    for (int i = 0; i < all.counts[mine]; ++i) {
      own.push_back(from(me_, i));
      if (k_.in_place) before[static_cast<std::size_t>(all.places[mine] + i)] = own.back();
    }
    const buffer s = made(k_.send, own), r = made(k_.receive, before);
    const void* const own_block = k_.in_place ? MPI_IN_PLACE : s.data();
    complete(k_.later, [&](MPI_Request* made) {
      if (made)
        MPI_Iallgatherv(own_block, all.counts[mine], MPI_INT, r.data(), all.counts.data(),
                        all.places.data(), MPI_INT, comm_, made);
      else
        MPI_Allgatherv(own_block, all.counts[mine], MPI_INT, r.data(), all.counts.data(),
                       all.places.data(), MPI_INT, comm_);
    });
    return compare(r, filled(all, from));
  }

  std::string alltoallv() {
    const placed out(ranks_, [&](int r) { return count_of(n_, me_, r); });
    const placed in(ranks_, [&](int r) { return count_of(n_, r, me_); });
    const auto content = [&](int from, int to, int i) {
      return value(from * ranks_ + to, i, call_);
    };
    const buffer s = made(k_.send, filled(out, [&](int r, int i) { return content(me_, r, i); }));
    const buffer r = made(k_.receive, ints(static_cast<std::size_t>(in.space), untouched));
    complete(k_.later, [&](MPI_Request* made) {
      if (made)
        MPI_Ialltoallv(s.data(), out.counts.data(), out.places.data(), MPI_INT, r.data(),
                       in.counts.data(), in.places.data(), MPI_INT, comm_, made);
      else
        MPI_Alltoallv(s.data(), out.counts.data(), out.places.data(), MPI_INT, r.data(),
                      in.counts.data(), in.places.data(), MPI_INT, comm_);
    });
    return compare(r, filled(in, [&](int b, int i) { return content(b, me_, i); }));
  }

  std::string reduce_scatter() {
    const placed all(ranks_, [&](int r) { return count_of(n_, r); });
    ints input, wanted;
    for (int i = 0; i < all.sum(ranks_); ++i) input.push_back(value(me_, i, call_));
    for (int i = all.sum(me_); i < all.sum(me_ + 1); ++i) {
      wanted.push_back(0);
      for (int r = 0; r < ranks_; ++r) wanted.back() += value(r, i, call_);
    }
    const buffer s = made(k_.send, input);
    const buffer r = made(k_.receive, k_.in_place ? input : ints(wanted.size(), untouched));
    const void* const from = k_.in_place ? MPI_IN_PLACE : s.data();
    complete(k_.later, [&](MPI_Request* made) {
      if (made)
        MPI_Ireduce_scatter(from, r.data(), all.counts.data(), MPI_INT, MPI_SUM, comm_, made);
      else
        MPI_Reduce_scatter(from, r.data(), all.counts.data(), MPI_INT, MPI_SUM, comm_);
    });
    return compare(r, wanted);
  }

  MPI_Comm comm_;
  call_kind what_;
  int n_, call_;
  memory_kinds k_;
  int me_ = 0, ranks_ = 1;
};

/// One call with `n` ints a block; contents are formulas, so every rank knows what it must get.
class checked_call {
 public:
  checked_call(MPI_Comm comm, call_kind what, int n, int call, memory_kinds k)
      : comm_(comm), what_(what), n_(n), call_(call), k_(k) {
    MPI_Comm_rank(comm, &me_);
    MPI_Comm_size(comm, &ranks_);
    root_ = call % ranks_;
    // MPI has no in place for all but the root of a reduction, nor for a broadcast.
    if (what == call_kind::bcast || (what == call_kind::reduce && me_ != root_))
      k_.in_place = false;
  }

  std::string run() {
    if (what_ >= call_kind::allgatherv) return checked_v_call(comm_, what_, n_, call_, k_).run();
    const bool from_all = what_ == call_kind::alltoall || what_ == call_kind::reduce_scatter_block;
    const bool to_all = what_ == call_kind::allgather || what_ == call_kind::alltoall;
    const int sent = from_all ? n_ * ranks_ : n_;
    const int received = to_all ? n_ * ranks_ : n_;
    const int space = std::max(sent, received);
    buffer send(k_.send, bytes(sent)), receive(k_.receive, bytes(space));
    send.clear();
    receive.clear();
    const std::vector<int> input = made(sent, [&](int i) { return value(me_, i, call_); });
    if (k_.in_place) {
      const int at = what_ == call_kind::allgather ? me_ * n_ : 0;
      copy(k_.receive, receive.data() + bytes(at), input.data(), bytes(sent));
    } else {
      copy(k_.send, send.data(), input.data(), bytes(sent));
    }
    const void* const from = k_.in_place ? MPI_IN_PLACE : send.data();
    complete(k_.later, [&](MPI_Request* made) {
      if (made)
        start(from, receive.data(), send.data(), made);
      else
        call(from, receive.data(), send.data());
    });
    if (what_ == call_kind::bcast)
      return compare(send, made(n_, [&](int i) { return value(root_, i, call_); }));
    if (what_ == call_kind::reduce && me_ != root_) return "";
    return compare(receive, made(received, [&](int i) { return expected(i); }));
  }

 private:
  static std::size_t bytes(int n) { return static_cast<std::size_t>(n) * sizeof(int); }
  template <class F>
  static std::vector<int> made(int n, F f) {
    std::vector<int> v;
    for (int i = 0; i < n; ++i) v.push_back(f(i));
    return v;
  }
  std::string compare(const buffer& from, const std::vector<int>& wanted) {
    std::vector<int> got(wanted.size());
    copy(from.memory(), got.data(), from.data(), bytes(as_int(got.size())));
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i] != wanted[i])
        return std::string(names[static_cast<int>(what_)]) + ": element " + std::to_string(i) +
               " of " + std::to_string(got.size()) + " is " + std::to_string(got[i]) + ", not " +
               std::to_string(wanted[i]);
    return "";
  }
  int expected(int i) const {
    int sum = 0;
    switch (what_) {
      case call_kind::allgather:
        return value(i / n_, i % n_, call_);
      case call_kind::alltoall:
        return value(i / n_, me_ * n_ + i % n_, call_);
      case call_kind::reduce_scatter_block:
        i += me_ * n_;
        [[fallthrough]];
      default:
        for (int r = 0; r < ranks_; ++r) sum += value(r, i, call_);
        return sum;
    }
  }
  void call(const void* s, void* r, void* broadcast) {
    switch (what_) {
      case call_kind::allreduce:
        MPI_Allreduce(s, r, n_, MPI_INT, MPI_SUM, comm_);
        break;
      case call_kind::reduce:
        MPI_Reduce(s, r, n_, MPI_INT, MPI_SUM, root_, comm_);
        break;
      case call_kind::bcast:
        MPI_Bcast(broadcast, n_, MPI_INT, root_, comm_);
        break;
      case call_kind::allgather:
        MPI_Allgather(s, n_, MPI_INT, r, n_, MPI_INT, comm_);
        break;
      case call_kind::alltoall:
        MPI_Alltoall(s, n_, MPI_INT, r, n_, MPI_INT, comm_);
        break;
      case call_kind::reduce_scatter_block:
        MPI_Reduce_scatter_block(s, r, n_, MPI_INT, MPI_SUM, comm_);
        break;
      default:
        break;
    }
  }

  void start(const void* s, void* r, void* broadcast, MPI_Request* made) {
    switch (what_) {
      case call_kind::allreduce:
        MPI_Iallreduce(s, r, n_, MPI_INT, MPI_SUM, comm_, made);
        break;
      case call_kind::reduce:
        MPI_Ireduce(s, r, n_, MPI_INT, MPI_SUM, root_, comm_, made);
        break;
      case call_kind::bcast:
        MPI_Ibcast(broadcast, n_, MPI_INT, root_, comm_, made);
        break;
      case call_kind::allgather:
        MPI_Iallgather(s, n_, MPI_INT, r, n_, MPI_INT, comm_, made);
        break;
      case call_kind::alltoall:
        MPI_Ialltoall(s, n_, MPI_INT, r, n_, MPI_INT, comm_, made);
        break;
      case call_kind::reduce_scatter_block:
        MPI_Ireduce_scatter_block(s, r, n_, MPI_INT, MPI_SUM, comm_, made);
        break;
      default:
        break;
    }
  }

  MPI_Comm comm_;
  call_kind what_;
  int n_, call_;
  memory_kinds k_;
  int me_ = 0, ranks_ = 1, root_ = 0;
};

/// Whether only the operation whose algorithms the settings name is tried.
inline bool allreduce_only = false;

template <class F>
void each_operation(F f) {
  const int last = allreduce_only ? 1 : static_cast<int>(call_kind::count_);
  for (int what = 0; what < last; ++what) f(static_cast<call_kind>(what), names[what]);
}

}  // namespace mpi_test
