// SPDX-License-Identifier: BSD-3-Clause
// Collectives in two levels, between nodes: that device memory goes that way whatever the calls
// before it had, ranks whose memory changes, odd counts with several chunks, in place, blocking and
// not, communicators whose nodes are uneven or whose ranks are shuffled, and equal bits at all
// ranks.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "paths.hpp"

namespace {

using namespace mpi_test;

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
constexpr const char* names[] = {"allreduce",  "reduce",    "bcast",
                                 "allgather",  "alltoall",  "reduce_scatter_block",
                                 "allgatherv", "alltoallv", "reduce_scatter"};

int value(int rank, int i, int call) {
  return (rank + 1) * 1009 + i * 7 + call * 131;
}

struct memory_kinds {
  kind send = kind::device, receive = kind::device;
  bool in_place = false;
  bool later = false;  // the non-blocking form
};

/// Ints of the block of rank `r`, or from `r` to `to`, where blocks differ; some are empty.
int count_of(int n, int r) {
  return (n * (r % 3) + r) / 2;
}
int count_of(int n, int r, int to) {
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

/// Calls the blocking form (no request), or the other and waits for it.
template <class Call>
void complete(bool later, Call call) {
  MPI_Request made = MPI_REQUEST_NULL;
  call(later ? &made : nullptr);
  if (later) MPI_Wait(&made, MPI_STATUS_IGNORE);
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
bool allreduce_only = false;

template <class F>
void each_operation(F f) {
  const int last = allreduce_only ? 1 : static_cast<int>(call_kind::count_);
  for (int what = 0; what < last; ++what) f(static_cast<call_kind>(what), names[what]);
}

/// Device memory at all ranks goes in two levels, in place as well (but for the in place of
/// alltoallv, which the checks do not know), and so does the non-blocking form.
void check_paths(suite& s) {
  each_operation([&](call_kind what, const char* name) {
    int call = 0;
    for (const int n : {1, 333, 5001})
      for (const bool in_place : {false, true})
        for (const bool later : {false, true}) {
          s.note("%s of %d%s%s", name, n, in_place ? " in place" : "", later ? " later" : "");
          const memory_kinds k{kind::device, kind::device, in_place, later};
          s.expect_none(checked_call(MPI_COMM_WORLD, what, n, call++, k).run());
          if (in_place && what == call_kind::alltoallv) continue;
          if (const std::string path = last_path(); path != "coll_levels")
            s.fail("%s of %d%s%s ran by %s", name, n, in_place ? " in place" : "",
                   later ? " later" : "", path.c_str());
        }
  });
}

/// Calls with device memory beside calls of the same size with host memory, as in a program that
/// compares the two.
void check_turns(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  each_operation([&](call_kind what, const char* name) {
    for (int call = 0; call < 9; ++call) {
      const bool host = call % 3 == 1;
      s.note("%s in turns, call %d", name, call);
      const kind k = host ? kind::host : kind::device;
      s.expect_none(checked_call(comm, what, 900, call, {k, k}).run());
      if (const std::string path = last_path(); !host && path != "coll_levels")
        s.fail("%s, call %d, ran by %s", name, call, path.c_str());
    }
  });
  MPI_Comm_free(&comm);
}

/// Calls with host memory at all ranks, then device memory everywhere, then of any kind.
void check_changes(suite& s) {
  random_numbers own(s.opt.seed * 1000 + static_cast<std::uint64_t>(s.rank));
  const auto any_kind = [&] { return kinds()[own.below(kinds().size())]; };
  each_operation([&](call_kind what, const char* name) {
    for (int call = 0; call < 14; ++call) {
      s.note("%s, call %d", name, call);
      memory_kinds k{any_kind(), any_kind(), call % 3 == 2, call > 8};
      if (call < 2) k.send = k.receive = kind::host;
      if (call == 3 || call == 7) k.send = k.receive = kind::device;
      if (what == call_kind::alltoall || what == call_kind::alltoallv) k.in_place = false;
      s.expect_none(checked_call(MPI_COMM_WORLD, what, 1200, call, k).run());
    }
  });
}

/// Calls in which some ranks have host memory, or one buffer of each kind.
void check_mixed(suite& s) {
  each_operation([&](call_kind what, const char* name) {
    int call = 0;
    for (const int n : {3, 2000})
      for (const bool later : {false, true})
        for (int turn = 0; turn < 2; ++turn, ++call) {
          s.note("%s of %d, mixed, call %d", name, n, call);
          const bool own = s.rank % 2 == turn;  // has a device
          const kind in = own ? kind::device : kind::host;
          const kind out = own == (call % 3 != 0) ? kind::device : kind::host;
          // Of a broadcast the test uses one buffer, of a reduction only the root has the second.
          const bool one = what == call_kind::bcast || what == call_kind::reduce;
          s.expect_none(
              checked_call(MPI_COMM_WORLD, what, n, call, {in, one ? in : out, false, later})
                  .run());
          if (const std::string path = last_path(); path != "coll_levels")
            s.fail("%s of %d, call %d, ran by %s", name, n, call, path.c_str());
        }
  });
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
/// Persistent sums: several, started in another order at each rank, of any memory, freed while
/// inactive, made again. `n` ints each.
class persistent_sum {
 public:
  persistent_sum(MPI_Comm comm, int n, memory_kinds k)
      : n_(n), send_(k.send, bytes()), receive_(k.receive, bytes()) {
    MPI_Comm_size(comm, &ranks_);
    MPI_Comm_rank(comm, &me_);
    in_place_ = k.in_place;
    MPI_Allreduce_init(in_place_ ? MPI_IN_PLACE : send_.data(), receive_.data(), n, MPI_INT,
                       MPI_SUM, comm, MPI_INFO_NULL, &request_);
  }
  ~persistent_sum() { MPI_Request_free(&request_); }
  void start(int call) {
    call_ = call;
    std::vector<int> v;
    for (int i = 0; i < n_; ++i) v.push_back(value(me_, i, call));
    buffer& from = in_place_ ? receive_ : send_;
    copy(from.memory(), from.data(), v.data(), bytes());
    MPI_Start(&request_);
  }
  std::string wait() {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    std::vector<int> got(static_cast<std::size_t>(n_));
    copy(receive_.memory(), got.data(), receive_.data(), bytes());
    for (int i = 0; i < n_; ++i) {
      int wanted = 0;
      for (int r = 0; r < ranks_; ++r) wanted += value(r, i, call_);
      if (got[static_cast<std::size_t>(i)] != wanted)
        return "element " + std::to_string(i) + " of round " + std::to_string(call_) + " is wrong";
    }
    return "";
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(n_) * sizeof(int); }
  int n_, call_ = 0, ranks_ = 1, me_ = 0;
  bool in_place_ = false;
  buffer send_, receive_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

void check_persistent(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::unique_ptr<persistent_sum> outlives;
  for (int life = 0; life < 3; ++life) {
    std::vector<std::unique_ptr<persistent_sum>> sums;
    for (int i = 0; i < 3; ++i) {
      const bool host = i == 2 && (s.rank + life) % 2 == 0;  // some ranks have no device
      const kind k = host ? kind::host : kind::device;
      sums.push_back(std::make_unique<persistent_sum>(comm, i == 1 ? 3001 : 5 + i,
                                                      memory_kinds{k, k, life == 1}));
    }
    for (int round = 0; round < 20; ++round) {
      s.note("persistent, life %d, round %d", life, round);
      for (int i = 0; i < 3; ++i)  // in another order at each rank
        sums[static_cast<std::size_t>((i + s.rank + round) % 3)]->start(round);
      if (round % 7 == 3) MPI_Barrier(s.control);  // a rank blocks while they are under way
      for (auto& one : sums) s.expect_none(one->wait());
      if (const std::string path = last_path(); round % 7 != 3 && path != "coll_levels")
        s.fail("MPI_Allreduce_init ran by %s", path.c_str());
    }
    if (life == 2) outlives = std::move(sums[1]);
  }
  MPI_Comm_free(&comm);
  outlives->start(99);
  s.expect_none(outlives->wait());
}
#endif

/// Communicators of some ranks, in another order; made and freed again.
void check_communicators(suite& s) {
  for (int round = 0; round < 3; ++round) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, round == 2 && s.rank == 0, round == 0 ? -s.rank : s.rank % 2,
                   &comm);
    each_operation([&](call_kind what, const char* name) {
      s.note("communicator %d, %s", round, name);
      for (const int n : {50, 3000}) s.expect_none(checked_call(comm, what, n, round, {}).run());
    });
    MPI_Comm_free(&comm);
  }
}

/// A vector of which this rank has every third element only, in host or device memory.
void check_gaps(suite& s) {
  constexpr int n = 1500;
  MPI_Datatype gaps;
  MPI_Type_vector(n, 1, 3, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  for (int call = 0; call < 6; ++call) {
    s.note("broadcast with gaps, call %d", call);
    // Calls 1, 2 and 4: device memory without gaps.
    const bool spread = call != 0 && call != 1 && call != 3 && s.rank % 2 == call % 2;
    buffer data(spread && call == 2 ? kind::host : kind::device, 3 * n * sizeof(int));
    std::vector<int> v(3 * n, -1);
    for (int i = 0; i < n && s.rank == 0; ++i)
      v[static_cast<std::size_t>(spread ? 3 * i : i)] = value(0, i, call);
    data.clear();
    copy(data.memory(), data.data(), v.data(), v.size() * sizeof(int));
    MPI_Bcast(data.data(), spread ? 1 : n, spread ? gaps : MPI_INT, 0, MPI_COMM_WORLD);
    copy(data.memory(), v.data(), data.data(), v.size() * sizeof(int));
    for (int i = 0; i < 3 * n; ++i) {
      const bool set = spread ? i % 3 == 0 : i < n;
      const int wanted = set ? value(0, spread ? i / 3 : i, call) : -1;
      if (v[static_cast<std::size_t>(i)] == wanted) continue;
      s.fail("element %d is %d, not %d", i, v[static_cast<std::size_t>(i)], wanted);
      break;
    }
  }
  MPI_Type_free(&gaps);
}

/// Blocks of which this rank has every second element only, at some of the calls.
void check_v_gaps(suite& s) {
  MPI_Datatype wide;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &wide);
  MPI_Type_commit(&wide);
  const placed all(s.ranks, [](int r) { return count_of(700, r); });
  const auto mine = static_cast<std::size_t>(s.rank);
  for (int call = 0; call < 6; ++call) {
    s.note("allgatherv with gaps, call %d", call);
    const bool spread = call != 0 && call != 1 && call != 3 && s.rank % 2 == call % 2;
    const int step = spread ? 2 : 1;
    std::vector<int> before(static_cast<std::size_t>(2 * all.space), -1), wanted = before;
    for (int r = 0; r < s.ranks; ++r)
      for (int i = 0; i < all.counts[static_cast<std::size_t>(r)]; ++i) {
        const int at = (all.places[static_cast<std::size_t>(r)] + i) * step;
        wanted[static_cast<std::size_t>(at)] = value(r, i, call);
        if (r == s.rank) before[static_cast<std::size_t>(at)] = value(r, i, call);
      }
    buffer data(call == 2 && spread ? kind::host : kind::device, before.size() * sizeof(int));
    copy(data.memory(), data.data(), before.data(), before.size() * sizeof(int));
    MPI_Allgatherv(MPI_IN_PLACE, all.counts[mine], MPI_INT, data.data(), all.counts.data(),
                   all.places.data(), spread ? wide : MPI_INT, MPI_COMM_WORLD);
    copy(data.memory(), before.data(), data.data(), before.size() * sizeof(int));
    s.expect(before == wanted, "every block is in its place");
  }
  MPI_Type_free(&wide);
}

/// Sums whose rounding depends on the order of the ranks.
void check_bits(suite& s) {
  constexpr int n = 4001;
  buffer send(kind::device, n * sizeof(double)), receive(kind::device, n * sizeof(double));
  std::vector<double> v(n), first(n);
  for (int i = 0; i < n; ++i)
    v[static_cast<std::size_t>(i)] = std::sin(i * 0.37 + s.rank * 1.7) * std::pow(10.0, s.rank);
  send.clear();
  receive.clear();
  copy(kind::device, send.data(), v.data(), n * sizeof(double));
  for (int call = 0; call < 2; ++call) {
    MPI_Allreduce(send.data(), receive.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    copy(kind::device, v.data(), receive.data(), n * sizeof(double));
    first = v;
    MPI_Bcast(first.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (std::memcmp(first.data(), v.data(), n * sizeof(double)) != 0)
      s.fail("call %d: other bits than rank 0", call);
  }
}

/// A sum that is under way.
class sum_in_flight {
 public:
  sum_in_flight(MPI_Comm comm, int n, int call, memory_kinds k)
      : n_(n),
        call_(call),
        send_(k.send, static_cast<std::size_t>(n) * sizeof(int)),
        receive_(k.receive, static_cast<std::size_t>(n) * sizeof(int)) {
    int me = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks_);
    std::vector<int> v;
    for (int i = 0; i < n; ++i) v.push_back(value(me, i, call));
    const buffer& from = k.in_place ? receive_ : send_;
    copy(from.memory(), from.data(), v.data(), v.size() * sizeof(int));
    MPI_Iallreduce(k.in_place ? MPI_IN_PLACE : send_.data(), receive_.data(), n, MPI_INT, MPI_SUM,
                   comm, &request);
  }
  std::string wrong() {
    std::vector<int> got(static_cast<std::size_t>(n_));
    copy(receive_.memory(), got.data(), receive_.data(), got.size() * sizeof(int));
    for (int i = 0; i < n_; ++i) {
      int wanted = 0;
      for (int r = 0; r < ranks_; ++r) wanted += value(r, i, call_);
      if (got[static_cast<std::size_t>(i)] != wanted)
        return "element " + std::to_string(i) + " of sum " + std::to_string(call_) + " is wrong";
    }
    return "";
  }
  std::string wait() {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return wrong();
  }
  MPI_Request request = MPI_REQUEST_NULL;

 private:
  int n_, call_, ranks_ = 1;
  buffer send_, receive_;
};

/// Non-blocking sums, after a blocking one has held the vote: several in flight, of any memory.
void check_non_blocking(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  s.expect_none(checked_call(comm, call_kind::allreduce, 300, 0, {}).run());
  s.expect_none(sum_in_flight(comm, 4001, 1, {}).wait());
  if (const std::string path = last_path(); path != "coll_levels")
    s.fail("MPI_Iallreduce ran by %s", path.c_str());
  random_numbers own(s.opt.seed * 1000 + static_cast<std::uint64_t>(s.rank));
  for (int round = 0; round < 3; ++round) {
    s.note("non-blocking, round %d", round);
    std::vector<std::unique_ptr<sum_in_flight>> sums;
    std::vector<MPI_Request> requests;
    for (int i = 0; i < 4; ++i) {
      const auto any_kind = [&] {
        return round == 0 ? kind::device : kinds()[own.below(kinds().size())];
      };
      sums.push_back(std::make_unique<sum_in_flight>(
          comm, 700 * i + 5, 10 * round + i, memory_kinds{any_kind(), any_kind(), i % 3 == 2}));
      requests.push_back(sums.back()->request);
    }
    if (round == 1)  // a blocking one comes after them
      s.expect_none(checked_call(comm, call_kind::allreduce, 900, 7, {}).run());
    MPI_Waitall(as_int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (auto& one : sums) s.expect_none(one->wrong());
  }
  MPI_Comm_free(&comm);
}

/// A rank blocks in the host MPI while its sums are under way. The others come to them only after
/// that, or need them to end before they meet it there.
void check_blocked(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  s.expect_none(checked_call(comm, call_kind::allreduce, 300, 0, {}).run());
  for (int call = 0; call < 8; ++call) {
    const bool early = s.rank == call % s.ranks;
    s.note("rank %d blocks early, call %d", call % s.ranks, call);
    if (call % 2 == 0 && !early) MPI_Barrier(s.control);
    sum_in_flight first(comm, 1500, call, {}), second(comm, 20, call + 1, {});
    if (early) MPI_Barrier(s.control);
    s.expect_none(first.wait());
    s.expect_none(second.wait());
    if (call % 2 == 1 && !early) MPI_Barrier(s.control);
  }
  MPI_Comm_free(&comm);
}

/// One rank's device fails once. Ranks that needed what is missing say so; who does not has the
/// right sums. The next calls do not fail.
void check_faults(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  constexpr int n = 2000;
  buffer send(kind::device, n * sizeof(int)), receive(kind::device, n * sizeof(int));
  std::vector<int> v(n, 1 << s.rank), got(n);
  copy(kind::device, send.data(), v.data(), n * sizeof(int));
  int calls_failed = 0;
  for (int call = 0; call < 12; ++call) {
    s.note("call %d", call);
    receive.clear();
    int mine = MPI_Allreduce(send.data(), receive.data(), n, MPI_INT, MPI_BOR, comm) != MPI_SUCCESS;
    copy(kind::device, got.data(), receive.data(), n * sizeof(int));
    const bool right = std::count(got.begin(), got.end(), (1 << s.ranks) - 1) == n;
    s.expect(mine != 0 || right, "a call that has not failed has the sums");
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, s.control);
    calls_failed += all != 0;
  }
  if (calls_failed != 1) s.fail("%d calls failed", calls_failed);
  MPI_Comm_free(&comm);
}

/// The fault that the settings name shall meet one rank only.
void spare_other_ranks() {
  const char* rank = std::getenv("PMI_RANK");
  if (rank == nullptr) rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank != nullptr && std::strcmp(rank, "1") != 0) ::unsetenv("TELPHER_EMU_FAULTS");
}

}  // namespace

int main(int argc, char** argv) {
  spare_other_ranks();
  suite s(&argc, &argv, 2);
  if (std::erase(s.opt.words, "faults") > 0) {
    s.run("faults", [&] { check_faults(s); });
    return s.finish();
  }
  allreduce_only = std::erase(s.opt.words, "allreduce") > 0;
  s.run("paths", [&] { check_paths(s); });
  s.run("turns", [&] { check_turns(s); });
  s.run("changes", [&] { check_changes(s); });
  s.run("mixed", [&] { check_mixed(s); });
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  s.run("persistent", [&] { check_persistent(s); });
#endif
  s.run("non-blocking", [&] { check_non_blocking(s); });
  s.run("blocked", [&] { check_blocked(s); });
  s.run("communicators", [&] { check_communicators(s); });
  if (!allreduce_only)
    s.run("gaps", [&] {
      check_gaps(s);
      check_v_gaps(s);
    });
  s.run("bits", [&] { check_bits(s); });
  return s.finish();
}
