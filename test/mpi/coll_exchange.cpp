// SPDX-License-Identifier: BSD-3-Clause
// Collectives among devices: that they run there and not staged, which path runs them, host ranks
// that run ahead of device ranks, random mixtures of operations, communicators, kinds of memory and
// delays, and threads on communicators of their own. Contents are formulas: every rank knows what
// it must receive.
#include <unistd.h>

#include <chrono>

#include "coll_formulas.hpp"
#include "emulated.hpp"

namespace {

using namespace mpi_test;

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

/// Communicators by the thousand are ordinary: none takes memory of a device for itself, be it
/// alive or freed.
void check_many(suite& s, int count) {
  const group world(MPI_COMM_WORLD);
  formula_call sum(world, call_kind::allreduce, 1000, 0, 1, kind::device, kind::device);
  sum.run();
  const long long before = held();
  // A rank that comes late may find the kernel's stream busy: three more, each with a workspace and
  // the peers'.
  constexpr long long of_other_streams = 40;
  std::vector<MPI_Comm> alive(static_cast<std::size_t>(count));
  const auto use = [&](MPI_Comm& c, int call) {
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    const group g(c);
    sum.use(g);
    sum.refill(call);
    sum.run();
    s.expect_none(sum.wrong());
    if (held() > before + of_other_streams)
      s.fail("communicator %d takes memory of a device", call);
  };
  for (int i = 0; i < count; ++i) {
    if (i % 64 == 0) s.still_alive();
    use(alive[static_cast<std::size_t>(i)], i);
    MPI_Comm passing;
    use(passing, count + i);
    MPI_Comm_free(&passing);
  }
  for (MPI_Comm& c : alive) MPI_Comm_free(&c);
  if (held() > before + of_other_streams) s.fail("freed communicators hold memory of a device");
}

void check_threads(suite& s, int count) {
  if (!s.has_threads()) return;
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

/// A kernel that stays for the next call makes room after a while also where the next always comes:
/// another one is launched.
void check_burst(suite& s) {
  auto* const counter = emulated<long long(const char*)>("telpher_emu_counter");
  const group g(MPI_COMM_WORLD);
  formula_call sum(g, call_kind::allreduce, 8, 0, 1, kind::device, kind::device);
  sum.run();
  const long long before = counter("launches");
  const auto begin = std::chrono::steady_clock::now();
  for (int more = 1; more;) {
    for (int i = 0; i < 50; ++i) sum.run();
    more = std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(300);
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  s.expect_none(sum.wrong());
  s.expect(counter("launches") > before, "another launch in 30 times TELPHER_LINGER_TIME");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  const std::string wanted = take_wanted_path(s);
  if (wanted != "coll_any_path") s.run("paths", [&] { check_paths(s, wanted); });
  s.run("host ranks ahead", [&] { check_host_ahead(s); });
  s.run("communicators come and go", [&] { check_lifetimes(s); });
  s.run("many communicators", [&] { check_many(s, 500); });
  s.run("mixture", [&] { check_mixture(s, s.opt.messages ? s.opt.messages : 300); });
  if (const char* lingers = std::getenv("TELPHER_LINGER"); lingers && held() >= 0)
    s.run("burst", [&] { check_burst(s); });
  s.run("threads", [&] { check_threads(s, 3); });
  return s.finish();
}
