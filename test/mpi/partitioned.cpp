// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication: every kind of memory at either end, other partitions at the two ends,
// partitions marked ready in any order and by several threads, on communicators of every origin,
// beside messages of the program that could match anything.
#include <atomic>

#include "partitioned.hpp"

using namespace partitioned_test;

#if MPI_TEST_HAS_MPI_4

namespace {

void mark(std::vector<int> order, int how, MPI_Request request) {
  const int n = as_int(order.size());
  if (how == 0) {
    for (const int p : order) MPI_Pready(p, request);
  } else if (how == 1) {
    MPI_Pready_list(n, order.data(), request);
  } else {
    MPI_Pready_range(n / 2, n - 1, request);
    if (n / 2 > 0) MPI_Pready_range(0, n / 2 - 1, request);
  }
}

}  // namespace

void partitioned_test::round_trip(suite& s, const ring& r, MPI_Comm comm, one_end& out, one_end& in,
                                  int partitions, int round) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  out.data.fill(identity(rank, 0, round));
  in.data.clear();
  MPI_Request both[2] = {in.request, out.request};
  MPI_Status statuses[2];
  MPI_Startall(2, both);
  mark(shuffled(partitions, round), round % 3, out.request);
  MPI_Waitall(2, both, statuses);
  s.expect(both[0] == in.request, "a partitioned request stays");
  s.expect_status(statuses[0], r.before, 7, out.data.bytes());
  s.expect_none(in.data.compare(identity(r.before, 0, round), out.data.bytes()));
}

/// Memory kinds, sizes and partitions of both ends.
void partitioned_test::ends(suite& s, kind from, kind to, int send_partitions,
                            int receive_partitions, std::size_t bytes) {
  const ring r(MPI_COMM_WORLD);
  one_end out(from, bytes), in(to, bytes);
  out.send(send_partitions, r.next, 7, MPI_COMM_WORLD);
  in.receive(receive_partitions, r.before, 7, MPI_COMM_WORLD);
  for (int round = 0; round < 3; ++round) {
    s.note("%s to %s, %d to %d partitions of %zu bytes, round %d", name(from), name(to),
           send_partitions, receive_partitions, bytes, round);
    round_trip(s, r, MPI_COMM_WORLD, out, in, send_partitions, round);
  }
  MPI_Request_free(&out.request);
  MPI_Request_free(&in.request);
}

namespace {

/// The receiver's partitions have gaps: pairs of ints with a hole behind each. With partitions of
/// as many elements as the sender's, and with others, which end in the middle of an element.
void gaps(suite& s, kind from, kind to, int send_partitions, int receive_partitions) {
  constexpr int pairs = 48;
  const ring r(MPI_COMM_WORLD);
  MPI_Datatype pair, spaced;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 12, &spaced);
  MPI_Type_commit(&spaced);
  std::vector<int> values(2 * pairs);
  buffer out(from, sizeof(int) * values.size()), in(to, 12 * pairs);
  MPI_Request both[2];
  MPI_Psend_init(out.data(), send_partitions, 2 * pairs / send_partitions, MPI_INT, r.next, 1,
                 MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
  MPI_Precv_init(in.data(), receive_partitions, pairs / receive_partitions, spaced, r.before, 1,
                 MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
  MPI_Type_free(&spaced);
  MPI_Type_free(&pair);
  for (int round = 0; round < 2; ++round) {
    s.note("%s to %s, %d to %d partitions, round %d", name(from), name(to), send_partitions,
           receive_partitions, round);
    std::iota(values.begin(), values.end(), 1000 * s.rank + round);
    out.write(reinterpret_cast<unsigned char*>(values.data()), out.bytes());
    in.clear();
    MPI_Startall(2, both);
    mark(shuffled(send_partitions, round), 0, both[0]);
    for (int p = 0; p < receive_partitions; ++p)
      for (int here = 0; here == 0;) MPI_Parrived(both[1], p, &here);
    std::vector<unsigned char> wanted(in.bytes(), guard_byte);
    std::iota(values.begin(), values.end(), 1000 * r.before + round);
    for (std::size_t i = 0; i < pairs; ++i) std::memcpy(&wanted[12 * i], &values[2 * i], 8);
    s.expect_none(in.compare(wanted.data()));
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
}

/// Two communicators of the same ranks, one tag: the ends are made, and started, in other orders.
void two_communicators(suite& s, kind k) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const ring r(copy);
  std::vector<one_end> out, in;
  for (int i = 0; i < 4; ++i) out.emplace_back(k, 3000), in.emplace_back(k, 3000);
  const MPI_Comm comms[] = {MPI_COMM_WORLD, copy, MPI_COMM_WORLD, copy};
  for (const std::size_t i : {0u, 1u, 2u, 3u}) out[i].send(3, r.next, 7, comms[i]);
  for (const std::size_t i : {1u, 0u, 3u, 2u}) in[i].receive(3, r.before, 7, comms[i]);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 4; ++i) {
      const auto at = static_cast<std::size_t>(i);
      out[at].data.fill(identity(s.rank, i, round));
      in[at].data.clear();
    }
    for (const std::size_t i : {3u, 0u, 2u, 1u}) {
      MPI_Start(&out[i].request);
      MPI_Pready_range(0, 2, out[i].request);
    }
    for (const std::size_t i : {2u, 3u, 0u, 1u}) MPI_Start(&in[i].request);
    for (int i = 0; i < 4; ++i) {
      const auto at = static_cast<std::size_t>(i);
      MPI_Wait(&in[at].request, MPI_STATUS_IGNORE);
      MPI_Wait(&out[at].request, MPI_STATUS_IGNORE);
      s.note("channel %d, round %d", i, round);
      s.expect_none(in[at].data.compare(identity(r.before, i, round), 3000));
    }
  }
  for (one_end& e : out) MPI_Request_free(&e.request);
  for (one_end& e : in) MPI_Request_free(&e.request);
  MPI_Comm_free(&copy);
}

/// A receive that matches any message is not matched by partitions.
void beside_wildcards(suite& s, kind k) {
  const ring r(MPI_COMM_WORLD);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  one_end out(k, 4000), in(k, 4000), plain_out(k, 500), plain_in(k, 500);
  plain_in.data.clear();
  MPI_Irecv(plain_in.data.data(), 500, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
            &plain_in.request);
  out.send(4, r.next, 7, comm);
  in.receive(4, r.before, 7, comm);
  round_trip(s, r, comm, out, in, 4, 0);
  int flag = 1;
  MPI_Test(&plain_in.request, &flag, MPI_STATUS_IGNORE);
  s.expect(flag == 0, "a receive with wildcards takes no partitions");
  MPI_Barrier(comm);
  plain_out.data.fill(identity(s.rank, 9, 0));
  MPI_Send(plain_out.data.data(), 500, MPI_BYTE, r.next, 3, comm);
  MPI_Wait(&plain_in.request, MPI_STATUS_IGNORE);
  s.expect_none(plain_in.data.compare(identity(r.before, 9, 0), 500));
  MPI_Request_free(&out.request);
  MPI_Request_free(&in.request);
  MPI_Comm_free(&comm);
}

/// A partition arrives although others are not ready: the sender waits for the receiver's word.
void one_by_one(suite& s, kind from, kind to, std::size_t bytes) {
  const ring r(MPI_COMM_WORLD);
  constexpr int partitions = 3;
  one_end out(from, partitions * bytes), in(to, partitions * bytes);
  out.send(partitions, r.next, 7, MPI_COMM_WORLD);
  in.receive(partitions, r.before, 7, MPI_COMM_WORLD);
  out.data.fill(identity(s.rank, 1, 0));
  in.data.clear();
  MPI_Start(&out.request);
  MPI_Start(&in.request);
  for (const int p : {2, 0, 1}) {
    int here = 1, word = p;
    MPI_Parrived(in.request, p, &here);
    s.expect(here == 0, "a partition that is not ready has not arrived");
    MPI_Barrier(s.control);
    s.note("partition %d of %zu bytes", p, bytes);
    MPI_Pready(p, out.request);
    for (here = 0; here == 0;) MPI_Parrived(in.request, p, &here);
    MPI_Sendrecv_replace(&word, 1, MPI_INT, r.before, 2, r.next, 2, s.control, MPI_STATUS_IGNORE);
    s.expect_equal(word, p, "the receiver's word");
  }
  MPI_Wait(&in.request, MPI_STATUS_IGNORE);
  MPI_Wait(&out.request, MPI_STATUS_IGNORE);
  s.expect_none(in.data.compare(identity(r.before, 1, 0), partitions * bytes));
  int here = 0;
  MPI_Parrived(in.request, 0, &here);
  s.expect(here == 1, "of an inactive request everything has arrived");
  MPI_Request_free(&out.request);
  MPI_Request_free(&in.request);
}

/// The sender blocks in the host MPI as soon as its partitions are ready, or the receiver does
/// before it has heard of its sender.
void blocked(suite& s, kind k, bool receiver_first) {
  const bool sends = s.rank % 2 == 0;
  const int peer = s.rank ^ 1;
  if (peer < s.ranks) {
    one_end e(k, 300000);
    if (sends)
      e.send(3, peer, 7, MPI_COMM_WORLD);
    else
      e.receive(3, peer, 7, MPI_COMM_WORLD);
    e.data.clear();
    if (sends) e.data.fill(identity(s.rank, 2, 0));
    if (sends && receiver_first) MPI_Wait(&e.request, MPI_STATUS_IGNORE);  // inactive
    MPI_Start(&e.request);
    if (sends) MPI_Pready_range(0, 2, e.request);
    const bool waits_first = sends == receiver_first;  // the other one is in the barrier then
    s.note("%s", waits_first ? "the wait before the barrier" : "the barrier before the wait");
    if (waits_first) MPI_Wait(&e.request, MPI_STATUS_IGNORE);
    MPI_Barrier(s.control);
    if (!waits_first) MPI_Wait(&e.request, MPI_STATUS_IGNORE);
    if (!sends) s.expect_none(e.data.compare(identity(peer, 2, 0), 300000));
    MPI_Request_free(&e.request);
  } else {
    MPI_Barrier(s.control);
  }
}

/// Threads mark partitions of one request ready at the same time; one waits meanwhile.
void by_threads(suite& s, kind from, kind to) {
  constexpr int threads = 4, each = 8, partitions = threads * each;
  const ring r(MPI_COMM_WORLD);
  one_end out(from, partitions * 1000), in(to, partitions * 1000);
  out.send(partitions, r.next, 7, MPI_COMM_WORLD);
  in.receive(partitions / 2, r.before, 7, MPI_COMM_WORLD);
  for (int round = 0; round < 3; ++round) {
    s.note("%s to %s, round %d", name(from), name(to), round);
    out.data.fill(identity(s.rank, 3, round));
    in.data.clear();
    MPI_Start(&out.request);
    MPI_Start(&in.request);
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        for (int i = 0; i < each; ++i) MPI_Pready(i * threads + t, out.request);
      });
    MPI_Wait(&in.request, MPI_STATUS_IGNORE);
    for (std::thread& t : running) t.join();
    MPI_Wait(&out.request, MPI_STATUS_IGNORE);
    s.expect_none(in.data.compare(identity(r.before, 3, round), out.data.bytes()));
  }
  MPI_Request_free(&out.request);
  MPI_Request_free(&in.request);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  const std::vector<std::pair<kind, kind>> pairs{{kind::device, kind::device},
                                                 {kind::host, kind::device},
                                                 {kind::device, kind::host},
                                                 {kind::host, kind::host},
                                                 {kind::managed, kind::pinned}};
  const kind k = kinds().back();
  for (const auto& [from, to] : pairs) {
    const std::string both = std::string(name(from)) + "-" + name(to);
    s.run("ends/" + both, [&, f = from, t = to] {
      for (const std::size_t bytes : {24ul, 12000ul, 1200000ul})
        for (const auto& [a, b] : {std::pair{4, 4}, {6, 4}, {1, 8}, {8, 1}})
          ends(s, f, t, a, b, bytes);
    });
    s.run("gaps/" + both, [&, f = from, t = to] {
      gaps(s, f, t, 4, 4);
      gaps(s, f, t, 32, 4);  // three ints each: a message ends inside a pair
      gaps(s, f, t, 3, 16);
    });
    s.run("one by one/" + both, [&, f = from, t = to] {
      for (const std::size_t bytes : {8ul, 100000ul}) one_by_one(s, f, t, bytes);
    });
    if (s.has_threads()) s.run("threads/" + both, [&, f = from, t = to] { by_threads(s, f, t); });
  }
  s.run("two communicators", [&] { two_communicators(s, k); });
  s.run("beside wildcards", [&] { beside_wildcards(s, k); });
  for (const kind one : {k, kind::host}) {
    s.run(std::string("blocked/receiver waits/") + name(one), [&] { blocked(s, one, false); });
    s.run(std::string("blocked/sender waits/") + name(one), [&] { blocked(s, one, true); });
  }
  s.run("origins", [&] { origins(s, k); });
  s.run("between groups", [&] { between_groups(s, k); });
  s.run("edges", [&] { edges(s, k); });
  s.run("wrong use", [&] { wrong_use(s, k); });
  return s.finish();
}

#else

int main(int argc, char** argv) {  // this MPI has no partitioned calls
  suite s(&argc, &argv, 2);
  return s.finish();
}

#endif
