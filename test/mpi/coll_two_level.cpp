// SPDX-License-Identifier: BSD-3-Clause
// Collectives in two levels, between nodes: that device memory goes that way and host memory does
// not, ranks whose memory changes between two votes, odd counts with several chunks, in place,
// communicators whose nodes are uneven or whose ranks are shuffled, and equal bits at all ranks.
#include <cmath>

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
  count_
};
constexpr const char* names[] = {"allreduce", "reduce",   "bcast",
                                 "allgather", "alltoall", "reduce_scatter_block"};

int value(int rank, int i, int call) {
  return (rank + 1) * 1009 + i * 7 + call * 131;
}

struct memory_kinds {
  kind send = kind::device, receive = kind::device;
  bool in_place = false;
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
    call(k_.in_place ? MPI_IN_PLACE : send.data(), receive.data(), send.data());
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
      case call_kind::count_:
        break;
    }
  }

  MPI_Comm comm_;
  call_kind what_;
  int n_, call_;
  memory_kinds k_;
  int me_ = 0, ranks_ = 1, root_ = 0;
};

template <class F>
void each_operation(F f) {
  for (int what = 0; what < static_cast<int>(call_kind::count_); ++what)
    f(static_cast<call_kind>(what), names[what]);
}

/// Device memory at all ranks goes in two levels, where `even` or the operation allows it; in place
/// as well but for alltoall.
void check_paths(suite& s, bool even) {
  each_operation([&](call_kind what, const char* name) {
    const bool any = what <= call_kind::bcast;
    int call = 0;
    for (const int n : {1, 333, 5001})
      for (const bool in_place : {false, true}) {
        s.note("%s of %d%s", name, n, in_place ? " in place" : "");
        s.expect_none(
            checked_call(MPI_COMM_WORLD, what, n, call++, {kind::device, kind::device, in_place})
                .run());
        const bool levels = (any || even) && !(in_place && what == call_kind::alltoall);
        if (const std::string path = last_path(); levels != (path == "coll_levels"))
          s.fail("%s of %d%s ran by %s", name, n, in_place ? " in place" : "", path.c_str());
      }
  });
}

/// Calls with host memory at all ranks, then device memory everywhere, then of any kind: votes are
/// held at calls 1, 2, 4 and 8, and ranks adapt at the others.
void check_changes(suite& s) {
  random_numbers own(s.opt.seed * 1000 + static_cast<std::uint64_t>(s.rank));
  const auto any_kind = [&] { return kinds()[own.below(kinds().size())]; };
  each_operation([&](call_kind what, const char* name) {
    for (int call = 0; call < 14; ++call) {
      s.note("%s, call %d", name, call);
      memory_kinds k{any_kind(), any_kind(), call % 3 == 2};
      if (call < 2) k.send = k.receive = kind::host;
      if (call == 3 || call == 7) k.send = k.receive = kind::device;
      if (what == call_kind::alltoall) k.in_place = false;
      s.expect_none(checked_call(MPI_COMM_WORLD, what, 1200, call, k).run());
    }
  });
}

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
    // Calls 1, 2 and 4 hold votes: device memory without gaps.
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

/// One rank's device fails once: that call fails at all ranks, and the next ones do not.
void check_faults(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  constexpr int n = 2000;
  buffer send(kind::device, n * sizeof(int)), receive(kind::device, n * sizeof(int));
  send.clear();
  int calls_failed = 0;
  for (int call = 0; call < 12; ++call) {
    s.note("call %d", call);
    int mine = MPI_Allreduce(send.data(), receive.data(), n, MPI_INT, MPI_BOR, comm) != MPI_SUCCESS;
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, s.control);
    if (all != 0 && all != s.ranks) s.fail("call %d failed at %d ranks", call, all);
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
  const bool even = std::erase(s.opt.words, "even") > 0;
  if (std::erase(s.opt.words, "faults") > 0) {
    s.run("faults", [&] { check_faults(s); });
    return s.finish();
  }
  s.run("paths", [&] { check_paths(s, even); });
  s.run("changes", [&] { check_changes(s); });
  s.run("communicators", [&] { check_communicators(s); });
  s.run("gaps", [&] { check_gaps(s); });
  s.run("bits", [&] { check_bits(s); });
  return s.finish();
}
