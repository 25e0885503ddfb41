// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking and persistent collectives among devices: that they run there, several in flight on
// several communicators, every way of completing them, what the host MPI's order demands of calls
// that turn out to be the host's, ranks that block elsewhere meanwhile, persistent ones started in
// another order at every rank, and random mixtures of all of it.
#include <unistd.h>

#include <deque>
#include <memory>
#include <numeric>

#include "coll_formulas.hpp"

void check_arrays(mpi_test::suite& s);  // coll_deferred_arrays.cpp

namespace {

using namespace mpi_test;

constexpr int operations = static_cast<int>(call_kind::count_);

/// Calls in flight with their requests; the buffers live until all is checked.
class flight {
 public:
  void start(const group& g, call_kind what, int n, int root, int call, kind a, kind b) {
    calls_.push_back(std::make_unique<formula_call>(g, what, n, root, call, a, b));
    requests.push_back(MPI_REQUEST_NULL);
    calls_.back()->start(&requests.back());
  }
  /// Another request that ends with them.
  void add(MPI_Request r) { requests.push_back(r); }

  void check(suite& s) {
    for (const MPI_Request r : requests)
      if (r != MPI_REQUEST_NULL) s.fail("a request is not null after completion");
    for (auto& c : calls_) s.expect_none(c->wrong());
    calls_.clear();
    requests.clear();
  }

  std::vector<MPI_Request> requests;

 private:
  std::vector<std::unique_ptr<formula_call>> calls_;
};

/// Completes all requests in one of the ways that MPI has.
void complete(std::vector<MPI_Request>& requests, int way) {
  const int n = as_int(requests.size());
  int index = 0, flag = 0;
  std::vector<int> indices(requests.size());
  switch (way) {
    case 0:
      MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE);
      return;
    case 1:
      for (auto r = requests.rbegin(); r != requests.rend(); ++r) MPI_Wait(&*r, MPI_STATUS_IGNORE);
      return;
    case 2:
      do MPI_Waitany(n, requests.data(), &index, MPI_STATUS_IGNORE);
      while (index != MPI_UNDEFINED);
      return;
    case 3:
      while (!flag) MPI_Testall(n, requests.data(), &flag, MPI_STATUSES_IGNORE);
      return;
    case 4:
      do MPI_Testany(n, requests.data(), &index, &flag, MPI_STATUS_IGNORE);
      while (!flag || index != MPI_UNDEFINED);
      return;
    default:
      do MPI_Waitsome(n, requests.data(), &index, indices.data(), MPI_STATUSES_IGNORE);
      while (index != MPI_UNDEFINED);
  }
}
constexpr int ways = 6;

/// Device memory at all ranks: every operation runs by `wanted` (any path among devices if empty).
void check_paths(suite& s, const std::string& wanted) {
  const group g(MPI_COMM_WORLD);
  flight f;
  for (int what = 0; what < operations; ++what)
    for (const int n : {1, 100, 30000}) {
      s.note("operation %d of %d", what, n);
      f.start(g, static_cast<call_kind>(what), n, g.ranks - 1, n, kind::device, kind::device);
      complete(f.requests, 1);
      f.check(s);
      const std::string path = last_path();
      const bool good =
          wanted.empty() ? path.starts_with("coll_") && path != "coll_staged" : path == wanted;
      if (!good) s.fail("operation %d of %d ran by %s", what, n, path.c_str());
    }
}

/// An injected fault may forbid an opening in the first call; it costs that call alone.
void check_after_refusal(suite& s, const std::string& wanted) {
  const group g(MPI_COMM_WORLD);
  flight f;
  for (int call = 0; call < 3; ++call) {
    s.note("call %d", call);
    f.start(g, call_kind::allgather, 50000, 0, call, kind::device, kind::device);
    complete(f.requests, 0);
    f.check(s);
  }
  const std::string path = last_path();
  if (wanted != "coll_any_path" && (!path.starts_with("coll_") || path == "coll_staged"))
    s.fail("after a refusal it ran by %s", path.c_str());
}

void check_in_flight(suite& s) {
  MPI_Comm made[2];
  for (MPI_Comm& c : made) MPI_Comm_dup(MPI_COMM_WORLD, &c);
  {
    const group groups[] = {group(MPI_COMM_WORLD), group(made[0]), group(made[1])};
    for (int way = 0; way < ways; ++way) {
      s.note("completed in way %d", way);
      flight f;
      for (int call = 0; call < 12; ++call)
        f.start(groups[call % 3], static_cast<call_kind>(call % operations), 10 + call * call * 30,
                0, call, kind::device, kind::device);
      complete(f.requests, way);
      f.check(s);
    }
  }
  for (MPI_Comm& c : made) MPI_Comm_free(&c);
}

/// Rank 0 is in a blocking call of the host MPI while the others wait for the calls before it, and
/// the other way round.
void check_blocked_elsewhere(suite& s) {
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  {
    const group g(MPI_COMM_WORLD);
    for (int round = 0; round < 6; ++round) {
      s.note("round %d", round);
      flight f;
      const auto start = [&] {
        for (int call = 0; call < 3; ++call)
          f.start(g, call_kind::allreduce, 50, 0, call, kind::device, kind::device);
      };
      const bool first = (g.rank == 0) == (round % 2 == 0);
      if (!first && round >= 2) ::usleep(2000);
      if (first || round >= 4) start();
      if (!first && round >= 4) complete(f.requests, 0);
      MPI_Barrier(other);
      if (!first && round < 4) start();
      complete(f.requests, 0);
      f.check(s);
    }
  }
  MPI_Comm_free(&other);
}

void add_ints(void* in, void* inout, int* n, MPI_Datatype*) {
  for (int i = 0; i < *n; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

/// Calls of the host MPI alone, right behind deferred ones; handles are freed at once.
void check_order(suite& s) {
  const group g(MPI_COMM_WORLD);
  for (int round = 0; round < 8; ++round) {
    s.note("round %d", round);
    if (g.rank == round % g.ranks) ::usleep(1000);
    flight f;
    f.start(g, call_kind::allreduce, 100, 0, 1, kind::device, kind::device);
    numbers own(kind::host, 4), sum(kind::host, 4), sent(kind::device, 4), seen(kind::device, 4);
    own.set([&](int i) { return g.rank + i; });
    sent.set([&](int i) { return round + i; });
    MPI_Op op;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Op_create(add_ints, 1, &op);
    MPI_Iallreduce(own.data(), sum.data(), 4, MPI_INT, op, g.comm, &r);
    MPI_Op_free(&op);
    f.add(r);
    f.start(g, call_kind::scan, 700, 0, 2, kind::device, kind::device);
    MPI_Ibarrier(g.comm, &r);
    f.add(r);
    MPI_Datatype four;
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    int* data = g.rank == 0 ? sent.data() : seen.data();
    f.start(g, call_kind::alltoall, 10, 0, 3, kind::device, kind::device);
    MPI_Ibcast(data, 1, four, 0, g.comm, &r);
    MPI_Type_free(&four);
    f.add(r);
    MPI_Comm twin;
    f.start(g, call_kind::gather, 10, 0, 4, kind::device, kind::device);
    MPI_Comm_idup(g.comm, &twin, &r);
    f.add(r);
    f.start(g, call_kind::bcast, 10, 0, 5, kind::device, kind::device);
    s.expect_none(one_call(g, call_kind::allreduce, 20, 0, 6, kind::host, kind::host));
    complete(f.requests, round % ways);
    f.check(s);
    s.expect_none(sum.compare([&](int i) { return g.ranks * (g.ranks - 1) / 2 + g.ranks * i; }));
    if (g.rank != 0) s.expect_none(seen.compare([&](int i) { return round + i; }));
    MPI_Comm_free(&twin);
  }
}

/// The communicator goes before its calls are complete.
void check_freed(suite& s) {
  for (int round = 0; round < 4; ++round) {
    s.note("communicator %d", round);
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, round % 2 ? s.rank : -s.rank, &comm);
    const group g(comm);
    const kind k = round < 2 || s.rank == 0 ? kind::device : kind::host;
    flight f;
    for (int call = 0; call < 3; ++call)
      f.start(g, call_kind::allgather, 5 + 4000 * call, 0, call, k, k);
    MPI_Comm_free(&comm);
    complete(f.requests, round);
    f.check(s);
  }
}

#if MPI_TEST_HAS_MPI_4
/// Rounds of several persistent collectives, on devices at all ranks or with one rank's on the
/// host; the last ones find no room among the devices.
void check_persistent(suite& s, const std::string& wanted) {
  const group g(MPI_COMM_WORLD);
  constexpr int count = 10;
  random_numbers own(s.opt.seed * 1000 + static_cast<std::uint64_t>(s.rank));
  std::deque<formula_call> calls;
  std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < count; ++i) {
    const kind k = i % 3 == 2 && g.rank == 0 ? kind::host : kind::device;
    calls.emplace_back(g, static_cast<call_kind>(i % operations), 10 + as_int(i * i) * 40, 0, 0, k,
                       k);
    calls.back().init(&requests[i]);
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < 8; ++round) {
    s.note("round %d", round);
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[own.below(i)]);
    for (formula_call& c : calls) c.refill(round);
    for (const std::size_t i : order) MPI_Start(&requests[i]);
    if (round == 3) MPI_Barrier(MPI_COMM_WORLD);
    if (round % 2 == 0)
      MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    else
      for (std::size_t i : order) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (formula_call& c : calls) s.expect_none(c.wrong());
  }
  MPI_Start(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  const std::string path = last_path();
  // Twice: where ranks take turns on a device only a communicator's first small call is not staged.
  for (int call = 0; call < 2; ++call)
    s.expect_none(one_call(g, call_kind{}, 10, 0, call, kind::device, kind::device));
  const std::string blocking = last_path();
  // Where ranks share a device nothing is packed.
  const std::string small = blocking == "coll_stepped" ? blocking : "coll_packed";
  const bool good = wanted == "coll_any_path" || path == (wanted.empty() ? small : wanted);
  if ((path != blocking || !good) && !path.empty())
    s.fail("it ran by %s, its blocking form by %s", path.c_str(), blocking.c_str());
  for (MPI_Request& r : requests) MPI_Request_free(&r);
}
#else
void check_persistent(suite&, const std::string&) {}
#endif

/// A message to the next rank and one from the rank before, completed with the collectives.
class ring_message {
 public:
  ring_message(suite& s, flight& f, int tag, kind k) : from_((s.rank + s.ranks - 1) % s.ranks) {
    send_ = std::make_unique<numbers>(k, 300);
    receive_ = std::make_unique<numbers>(k, 300);
    send_->set([&](int i) { return value(s.rank, i, tag); });
    tag_ = tag;
    MPI_Request r[2];
    MPI_Irecv(receive_->data(), 300, MPI_INT, from_, tag, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(send_->data(), 300, MPI_INT, (s.rank + 1) % s.ranks, tag, MPI_COMM_WORLD, &r[1]);
    for (const MPI_Request one : r) f.add(one);
  }
  std::string wrong() {
    return receive_->compare([&](int i) { return value(from_, i, tag_); });
  }

 private:
  int from_, tag_ = 0;
  std::unique_ptr<numbers> send_, receive_;
};

void check_mixture(suite& s, long rounds) {
  std::vector<MPI_Comm> made(3);
  MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
  MPI_Comm_split(MPI_COMM_WORLD, s.rank % 2, -s.rank, &made[1]);
  MPI_Comm_split(MPI_COMM_WORLD, s.rank == 0, 0, &made[2]);
  std::deque<group> groups{group(MPI_COMM_WORLD)};
  for (MPI_Comm c : made) groups.emplace_back(c);
  random_numbers common(s.opt.seed), own(s.opt.seed * 1000 + static_cast<std::uint64_t>(s.rank));
  const auto kind_of = [&] { return kinds()[own.below(kinds().size())]; };
  int call = 0;
  for (long round = 0; round < rounds; ++round) {
    flight f;
    std::deque<ring_message> messages;
    const std::size_t calls = 1 + common.below(8);
    for (std::size_t i = 0; i < calls; ++i, ++call) {
      const group& g = groups[common.below(groups.size())];
      const auto what = static_cast<call_kind>(common.below(operations));
      const bool devices = common.chance(70), blocking = common.chance(10);
      const int n = 1 + static_cast<int>(common.below(common.chance(10) ? 20000 : 300));
      const int root = static_cast<int>(common.below(1000)) % g.ranks;
      const kind a = devices ? kind::device : kind_of(), b = devices ? kind::device : kind_of();
      s.note("round %ld, call %d: operation %d of %d on %d ranks", round, call,
             static_cast<int>(what), n, g.ranks);
      if (own.chance(5)) ::usleep(static_cast<useconds_t>(own.below(1000)));
      if (blocking)
        s.expect_none(one_call(g, what, n, root, call, a, b));
      else
        f.start(g, what, n, root, call, a, b);
      if (common.chance(15)) messages.emplace_back(s, f, 10 + static_cast<int>(i), kind_of());
      if (common.chance(5)) MPI_Barrier(groups[common.below(groups.size())].comm);
    }
    complete(f.requests, static_cast<int>(own.below(ways)));
    f.check(s);
    for (ring_message& m : messages) s.expect_none(m.wrong());
    if (round % 64 == 0) s.still_alive();
  }
  for (MPI_Comm& c : made) MPI_Comm_free(&c);
}

void check_threads(suite& s, int count) {
  if (!s.has_threads()) return;
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(count));
  for (MPI_Comm& c : comms) MPI_Comm_dup(MPI_COMM_WORLD, &c);
  std::deque<group> groups;
  for (MPI_Comm c : comms) groups.emplace_back(c);
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      const group& g = groups[static_cast<std::size_t>(t)];
      for (int round = 0; round < 8; ++round) {
        flight f;
        for (int call = 0; call < 4; ++call)
          f.start(g, static_cast<call_kind>((round + call + t) % operations), 1 + round * 53, 0,
                  call, kind::device, kind::device);
        if (round % 3 == t) MPI_Barrier(g.comm);
        complete(f.requests, (round + t) % ways);
        f.check(s);
      }
    });
  for (std::thread& t : threads) t.join();
  for (MPI_Comm& c : comms) MPI_Comm_free(&c);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  const std::string wanted = take_wanted_path(s);
  if (wanted != "coll_any_path") s.run("paths", [&] { check_paths(s, wanted); });
  s.run("after a refusal", [&] { check_after_refusal(s, wanted); });
  s.run("in flight", [&] { check_in_flight(s); });
  s.run("blocked elsewhere", [&] { check_blocked_elsewhere(s); });
  s.run("order", [&] { check_order(s); });
  s.run("persistent", [&] { check_persistent(s, wanted); });
  s.run("arrays", [&] { check_arrays(s); });
  s.run("freed", [&] { check_freed(s); });
  s.run("mixture", [&] { check_mixture(s, s.opt.messages ? s.opt.messages : 60); });
  s.run("threads", [&] { check_threads(s, 3); });
  return s.finish();
}
