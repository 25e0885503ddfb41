// SPDX-License-Identifier: BSD-3-Clause
// Collectives among devices: that they run there and not staged, which path runs them, host ranks
// that run ahead of device ranks, random mixtures of operations, communicators, kinds of memory and
// delays, and threads on communicators of their own. Contents are formulas: every rank knows what
// it must receive.
#include <unistd.h>

#include <numeric>

#include "suite.hpp"

namespace {

using namespace mpi_test;

int value(int rank, int i, int call) {
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

/// One call with `n` elements a block; "" if all that was received is right.
std::string one_call(const group& g, call_kind what, int n, int root, int call, kind send_kind,
                     kind receive_kind) {
  const int all = n * g.ranks, me = g.rank;
  const bool to_all = what == call_kind::allgather || what == call_kind::alltoall;
  const bool from_all = what == call_kind::alltoall || what == call_kind::scatter;
  numbers send(send_kind, from_all ? all : n);
  numbers receive(receive_kind, to_all || what == call_kind::gather ? all : n);
  send.set([&](int i) { return value(me, i, call); });
  const auto sum = [&](int last, int i) {
    int s = 0;
    for (int r = 0; r < last; ++r) s += value(r, i, call);
    return s;
  };
  switch (what) {
    case call_kind::allreduce:
      MPI_Allreduce(send.data(), receive.data(), n, MPI_INT, MPI_SUM, g.comm);
      return receive.compare([&](int i) { return sum(g.ranks, i); });
    case call_kind::reduce:
      MPI_Reduce(send.data(), receive.data(), n, MPI_INT, MPI_SUM, root, g.comm);
      return me == root ? receive.compare([&](int i) { return sum(g.ranks, i); }) : "";
    case call_kind::scan:
      MPI_Scan(send.data(), receive.data(), n, MPI_INT, MPI_SUM, g.comm);
      return receive.compare([&](int i) { return sum(me + 1, i); });
    case call_kind::bcast:
      MPI_Bcast(send.data(), n, MPI_INT, root, g.comm);
      return send.compare([&](int i) { return value(root, i, call); });
    case call_kind::allgather:
      MPI_Allgather(send.data(), n, MPI_INT, receive.data(), n, MPI_INT, g.comm);
      return receive.compare([&](int i) { return value(i / n, i % n, call); });
    case call_kind::gather:
      MPI_Gather(send.data(), n, MPI_INT, receive.data(), n, MPI_INT, root, g.comm);
      return me == root ? receive.compare([&](int i) { return value(i / n, i % n, call); }) : "";
    case call_kind::alltoall:
      MPI_Alltoall(send.data(), n, MPI_INT, receive.data(), n, MPI_INT, g.comm);
      return receive.compare([&](int i) { return value(i / n, me * n + i % n, call); });
    case call_kind::scatter:
      MPI_Scatter(send.data(), n, MPI_INT, receive.data(), n, MPI_INT, root, g.comm);
      return receive.compare([&](int i) { return value(root, me * n + i, call); });
    case call_kind::count_:
      break;
  }
  return "";
}

std::string last_path() {
  static const auto ask =
      reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "telpher_last_path"));
  return ask ? ask() : "";
}

/// Device memory at all ranks: every operation runs by `wanted` (any path among devices if empty).
void check_paths(suite& s, const std::string& wanted) {
  const group g(MPI_COMM_WORLD);
  for (int what = 0; what < static_cast<int>(call_kind::count_); ++what)
    for (const int n : {1, 100, 30000}) {
      s.note("operation %d of %d", what, n);
      s.expect_none(
          one_call(g, static_cast<call_kind>(what), n, g.ranks - 1, n, kind::device, kind::device));
      const std::string path = last_path();
      const bool good =
          wanted.empty() ? path.starts_with("coll_") && path != "coll_staged" : path == wanted;
      if (!good) s.fail("operation %d of %d ran by %s", what, n, path.c_str());
    }
}

/// The root of broadcasts and the leaves of gathers have host memory and never wait; the others
/// have device memory and are slow.
void check_host_ahead(suite& s) {
  const group g(MPI_COMM_WORLD);
  const bool host = g.rank == 0;
  for (int call = 0; call < 60; ++call) {
    s.note("broadcast %d", call);
    if (!host && call % 16 == 5) ::usleep(3000);
    const kind k = host && call % 7 != 0 ? kind::host : kind::device;
    s.expect_none(one_call(g, call_kind::bcast, 10, 0, call, k, k));
  }
  for (int call = 0; call < 60; ++call) {
    s.note("gather %d", call);
    if (g.rank == g.ranks - 1 && call % 16 == 5) ::usleep(3000);
    const kind k = host ? kind::host : kind::device;
    s.expect_none(one_call(g, call_kind::gather, 10, g.ranks - 1, call, k, k));
  }
}

void check_mixture(suite& s, long calls) {
  std::vector<MPI_Comm> made(3);
  MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
  MPI_Comm_split(MPI_COMM_WORLD, s.rank % 2, -s.rank, &made[1]);
  MPI_Comm_split(MPI_COMM_WORLD, s.rank == 0, 0, &made[2]);
  std::vector<group> groups{group(MPI_COMM_WORLD)};
  for (MPI_Comm c : made) groups.emplace_back(c);
  random_numbers common(s.opt.seed), own(s.opt.seed * 1000 + static_cast<std::uint64_t>(s.rank));
  const auto kind_of = [&] { return kinds()[own.below(kinds().size())]; };
  for (long call = 0; call < calls; ++call) {
    const group& g = groups[common.below(groups.size())];
    const auto what = static_cast<call_kind>(common.below(static_cast<int>(call_kind::count_)));
    const bool devices = common.chance(70);
    const int n = 1 + static_cast<int>(common.chance(10) ? common.below(20000) : common.below(300));
    const int root = static_cast<int>(common.below(1000)) % g.ranks;
    if (own.chance(3)) ::usleep(static_cast<useconds_t>(own.below(2000)));
    const kind a = devices ? kind::device : kind_of(), b = devices ? kind::device : kind_of();
    s.note("call %ld: operation %d of %d on %d ranks", call, static_cast<int>(what), n, g.ranks);
    s.expect_none(one_call(g, what, n, root, static_cast<int>(call), a, b));
    if (call % 256 == 0) s.still_alive();
  }
  for (MPI_Comm& c : made) MPI_Comm_free(&c);
}

/// Communicators come and go; their workspaces are used again.
void check_lifetimes(suite& s) {
  for (int round = 0; round < 12; ++round) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, round % 2 ? s.rank : -s.rank, &comm);
    const group g(comm);
    s.note("communicator %d", round);
    for (const int n : {5, 40000})
      s.expect_none(one_call(g, call_kind::allreduce, n, 0, round, kind::device, kind::device));
    MPI_Comm_free(&comm);
  }
}

void check_threads(suite& s, int count) {
  if (s.provided != MPI_THREAD_MULTIPLE) return;
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(count));
  for (MPI_Comm& c : comms) MPI_Comm_dup(MPI_COMM_WORLD, &c);
  std::vector<group> groups;
  for (MPI_Comm c : comms) groups.emplace_back(c);
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      for (int call = 0; call < 20; ++call) {
        const std::string wrong =
            one_call(groups[static_cast<std::size_t>(t)], static_cast<call_kind>((call + t) % 8),
                     1 + call * 37, 0, call, kind::device, kind::device);
        if (!wrong.empty()) s.fail("thread %d, call %d: %s", t, call, wrong.c_str());
      }
    });
  for (std::thread& t : threads) t.join();
  for (MPI_Comm& c : comms) MPI_Comm_free(&c);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  std::string wanted;
  for (std::string& w : s.opt.words)
    if (w.starts_with("coll_")) wanted = w;
  std::erase_if(s.opt.words, [](const std::string& w) { return w.starts_with("coll_"); });
  if (wanted != "coll_any_path") s.run("paths", [&] { check_paths(s, wanted); });
  s.run("host ranks ahead", [&] { check_host_ahead(s); });
  s.run("communicators come and go", [&] { check_lifetimes(s); });
  s.run("mixture", [&] { check_mixture(s, s.opt.messages ? s.opt.messages : 300); });
  s.run("threads", [&] { check_threads(s, 3); });
  return s.finish();
}
