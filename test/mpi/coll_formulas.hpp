// SPDX-License-Identifier: BSD-3-Clause
// Collectives whose contents are formulas: every rank knows what it must receive, whatever the form
// of the call and whenever it ends.
#pragma once

#include "collective_calls.hpp"
#include "paths.hpp"

namespace mpi_test {

inline int value(int rank, int i, int call) {
  return (rank + 1) * 1009 + i * 7 + call * 131;
}

/// Integers in some kind of memory.
class numbers {
 public:
  numbers(kind k, int count)
      : memory_(k, static_cast<std::size_t>(count) * sizeof(int)), n_(count) {
    memory_.clear();
  }
  int* data() { return reinterpret_cast<int*>(memory_.data()); }
  template <class F>
  void set(F f) {
    std::vector<int> v(static_cast<std::size_t>(n_));
    for (int i = 0; i < n_; ++i) v[static_cast<std::size_t>(i)] = f(i);
    memory_.write(reinterpret_cast<unsigned char*>(v.data()), v.size() * sizeof(int));
  }
  template <class F>
  std::string compare(F f) {
    std::vector<int> v(static_cast<std::size_t>(n_));
    for (int i = 0; i < n_; ++i) v[static_cast<std::size_t>(i)] = f(i);
    return memory_.compare(reinterpret_cast<unsigned char*>(v.data()));
  }

 private:
  buffer memory_;
  int n_;
};

struct group {
  MPI_Comm comm;
  int rank, ranks;
  std::vector<int> world;  // world ranks of its ranks

  explicit group(MPI_Comm c) : comm(c) {
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &ranks);
    int own = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    world.resize(static_cast<std::size_t>(ranks));
    MPI_Allgather(&own, 1, MPI_INT, world.data(), 1, MPI_INT, c);
  }
};

enum class call_kind {
  allreduce,
  bcast,
  reduce,
  allgather,
  alltoall,
  gather,
  scatter,
  scan,
  count_
};

/// One call with `n` elements a block.
class formula_call {
 public:
  formula_call(const group& g, call_kind what, int n, int root, int call, kind send, kind receive)
      : g_(&g),
        what_(what),
        n_(n),
        root_(root),
        call_(call),
        send_(send, what == call_kind::alltoall || what == call_kind::scatter ? n * g.ranks : n),
        receive_(receive, what == call_kind::allgather || what == call_kind::alltoall ||
                                  what == call_kind::gather
                              ? n * g.ranks
                              : n) {
    send_.set([&](int i) { return value(g_->rank, i, call_); });
  }

  /// Another communicator of the same processes in the same order, for what follows.
  void use(const group& g) { g_ = &g; }
  void run() { go(form::blocking, nullptr); }
  /// Initiates the non-blocking form.
  void start(MPI_Request* request) { go(form::nonblocking, request); }
  /// Makes the persistent form.
  void init(MPI_Request* request) { go(form::persistent, request); }
  /// New contents, for the next round of a persistent one.
  void refill(int call) {
    call_ = call;
    send_.set([&](int i) { return value(g_->rank, i, call_); });
    receive_.set([](int) { return -1; });
  }

  /// Afterwards: "" if all that was received is right.
  std::string wrong() {
    const int me = g_->rank;
    const auto sum = [&](int last, int i) {
      int s = 0;
      for (int r = 0; r < last; ++r) s += value(r, i, call_);
      return s;
    };
    switch (what_) {
      case call_kind::allreduce:
        return receive_.compare([&](int i) { return sum(g_->ranks, i); });
      case call_kind::reduce:
        return me == root_ ? receive_.compare([&](int i) { return sum(g_->ranks, i); }) : "";
      case call_kind::scan:
        return receive_.compare([&](int i) { return sum(me + 1, i); });
      case call_kind::bcast:
        return send_.compare([&](int i) { return value(root_, i, call_); });
      case call_kind::allgather:
        return receive_.compare([&](int i) { return value(i / n_, i % n_, call_); });
      case call_kind::gather:
        return me == root_ ? receive_.compare([&](int i) { return value(i / n_, i % n_, call_); })
                           : "";
      case call_kind::alltoall:
        return receive_.compare([&](int i) { return value(i / n_, me * n_ + i % n_, call_); });
      case call_kind::scatter:
        return receive_.compare([&](int i) { return value(root_, me * n_ + i, call_); });
      case call_kind::count_:
        break;
    }
    return "";
  }

 private:
  void go(form f, MPI_Request* q) {
    using enum collective_call;
    constexpr collective_call kinds[] = {allreduce, bcast,  reduce,  allgather,
                                         alltoall,  gather, scatter, scan};
    call_arguments x;
    x.comm = g_->comm;
    x.root = root_;
    x.out = send_.data();
    x.in = what_ == call_kind::bcast ? send_.data() : receive_.data();
    x.sent = x.received = n_;
    x.out_type = x.in_type = MPI_INT;
    make_call(kinds[static_cast<int>(what_)], f, x, q);
  }

  const group* g_;
  call_kind what_;
  int n_, root_, call_;
  numbers send_, receive_;
};

/// Runs the blocking form.
inline std::string one_call(const group& g, call_kind what, int n, int root, int call,
                            kind send_kind, kind receive_kind) {
  formula_call one(g, what, n, root, call, send_kind, receive_kind);
  one.run();
  return one.wrong();
}

}  // namespace mpi_test
