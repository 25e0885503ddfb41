// SPDX-License-Identifier: BSD-3-Clause
// Situations in which a library without progress hangs or loses data: a rank blocked in some other
// call while peers wait for it, sends head to head, circular waits, receivers that come late, and
// buffers that change as soon as the send has returned.
#include <deque>

#include "progress.hpp"

using namespace progress_test;

namespace {

/// Both ranks send before either receives. Host MPIs buffer small messages, and programs rely on
/// it; device messages up to the eager limit must be as good on a node.
void head_to_head(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  constexpr int host_limit = 2048;  // what both host MPIs buffer
  const char* path = std::getenv("TELPHER_PATH");
  const bool raw = path && std::string_view(path) == "raw";
  const bool node = std::getenv("TELPHER_TEST_PRETENDED_NODES") == nullptr && !raw;
  for (kind from : kinds())
    for (std::size_t bytes : {0, 8, 479, 480, 2048, 16384}) {
      if ((from != kind::device || !node) && as_int(bytes) > host_limit) continue;
      s.note("%s, %zu bytes", name(from), bytes);
      buffer out(from, bytes), in(from, bytes);
      out.fill(identity(s, s.rank, 3));
      in.clear();
      MPI_Send(out.data(), as_int(bytes), MPI_BYTE, peer, 3, MPI_COMM_WORLD);
      out.fill(1);
      MPI_Status status;
      MPI_Recv(in.data(), as_int(bytes), MPI_BYTE, peer, 3, MPI_COMM_WORLD, &status);
      s.expect_status(status, peer, 3, bytes);
      s.expect_none(in.compare(identity(s, peer, 3), bytes));
    }
}

/// The sender returns, overwrites and frees its buffer before the receiver has posted anything.
void late_receiver(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (kind from : kinds())
    for (kind to : kinds())
      for (std::size_t bytes : {8, 480, 2000, 16384, 300000}) {
        s.note("%s to %s, %zu bytes", name(from), name(to), bytes);
        if (s.rank % 2 == 0) {
          buffer out(from, bytes);
          out.fill(identity(s, s.rank, 4));
          MPI_Send(out.data(), as_int(bytes), MPI_BYTE, peer, 4, MPI_COMM_WORLD);
          out.fill(2);
        } else {
          usleep(15000);
          buffer in(to, bytes);
          in.clear();
          MPI_Status status;
          MPI_Recv(in.data(), as_int(bytes), MPI_BYTE, peer, 4, MPI_COMM_WORLD, &status);
          s.expect_status(status, peer, 4, bytes);
          s.expect_none(in.compare(identity(s, peer, 4), bytes));
        }
      }
}

/// A burst of small blocking sends to a rank that does not receive yet: each is old data when it
/// comes.
void late_burst(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  constexpr int count = 32;
  for (kind from : kinds()) {
    s.note("%s", name(from));
    if (s.rank % 2 == 0) {
      buffer out(from, 1500);
      for (int i = 0; i < count; ++i) {
        out.fill(identity(s, s.rank, 100 + i));
        MPI_Send(out.data(), i % 2 ? 1500 : 480, MPI_BYTE, peer, 5, MPI_COMM_WORLD);
      }
    } else {
      nap();
      for (int i = 0; i < count; ++i) {
        buffer in(from, 1500);
        in.clear();
        MPI_Status status;
        MPI_Recv(in.data(), 1500, MPI_BYTE, peer, 5, MPI_COMM_WORLD, &status);
        s.expect_status(status, peer, 5, i % 2 ? 1500 : 480);
        s.expect_none(in.compare(identity(s, peer, 100 + i), i % 2 ? 1500 : 480));
      }
    }
  }
}

/// All ranks shift a large buffer round the ring, with and without replacing it.
void ring(suite& s) {
  const int right = (s.rank + 1) % s.ranks;
  const int left = (s.rank + s.ranks - 1) % s.ranks;
  for (kind k : kinds()) {
    buffer out(k, large), in(k, large);
    out.fill(identity(s, s.rank, 6));
    for (int step = 1; step <= s.ranks; ++step) {
      s.note("%s, step %d", name(k), step);
      in.clear();
      MPI_Status status;
      MPI_Sendrecv(out.data(), as_int(large), MPI_BYTE, right, 6, in.data(), as_int(large),
                   MPI_BYTE, left, 6, MPI_COMM_WORLD, &status);
      const int owner = ((s.rank - step) % s.ranks + s.ranks) % s.ranks;
      s.expect_none(in.compare(identity(s, owner, 6), large));
      std::swap(in, out);
    }
    MPI_Sendrecv_replace(out.data(), as_int(large), MPI_BYTE, right, 6, left, 6, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    std::vector<unsigned char> wanted(large);
    write_pattern(identity(s, left, 6), wanted.data(), large);
    std::vector<unsigned char> got(large);
    copy(k, got.data(), out.data(), large);
    s.expect_none(difference(got.data(), wanted.data(), large, "content"));
  }
}

/// Every rank waits for its sends before its receives are looked at, round a circle.
void circular_waits(suite& s, bool all_at_once) {
  const int right = (s.rank + 1) % s.ranks;
  const int left = (s.rank + s.ranks - 1) % s.ranks;
  for (kind from : kinds())
    for (kind to : kinds()) {
      s.note("%s to %s", name(from), name(to));
      buffer out(from, large), in(to, large);
      out.fill(identity(s, s.rank, 7));
      in.clear();
      MPI_Request requests[2];
      MPI_Irecv(in.data(), as_int(large), MPI_BYTE, left, 7, MPI_COMM_WORLD, &requests[1]);
      MPI_Issend(out.data(), as_int(large), MPI_BYTE, right, 7, MPI_COMM_WORLD, &requests[0]);
      if (all_at_once) {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      } else {
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      }
      s.expect_none(in.compare(identity(s, left, 7), large));
    }
}

/// Many messages both ways at once; every second round the receives are posted last.
void outstanding(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  constexpr int count = 64;
  for (int round = 0; round < 4; ++round) {
    std::vector<buffer> out, in;
    std::vector<MPI_Request> requests;
    random_numbers random(s.opt.seed + static_cast<std::uint64_t>(round));
    std::vector<std::size_t> bytes;
    for (int i = 0; i < count; ++i) {
      bytes.push_back(random.chance(20) ? random.below(200000) : random.below(2000));
      out.emplace_back(kinds()[random.below(kinds().size())], bytes.back());
      in.emplace_back(kinds()[random.below(kinds().size())], bytes.back());
      out.back().fill(identity(s, s.rank, i));
      in.back().clear();
    }
    const auto add = [&](bool sends) {
      for (std::size_t i = 0; i < count; ++i) {
        s.note("round %d, %s %zu of %zu bytes", round, sends ? "send" : "receive", i, bytes[i]);
        requests.emplace_back();
        if (sends)
          MPI_Isend(out[i].data(), as_int(bytes[i]), MPI_BYTE, peer, 8, MPI_COMM_WORLD,
                    &requests.back());
        else
          MPI_Irecv(in[i].data(), as_int(bytes[i]), MPI_BYTE, peer, 8, MPI_COMM_WORLD,
                    &requests.back());
      }
    };
    add(round % 2 != 0);
    add(round % 2 == 0);
    s.note("round %d, Waitall", round);
    MPI_Waitall(as_int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < count; ++i) {
      s.note("round %d, message %zu", round, i);
      s.expect_none(in[i].compare(identity(s, peer, as_int(i)), bytes[i]));
    }
  }
}

/// A window of large messages, all of which wait before the first receive is posted: more than one
/// look for messages starts at once.
void large_window(suite& s) {
  const int peer = s.rank ^ 1;
  constexpr int count = 20;
  const bool paired = peer < s.ranks;
  std::vector<buffer> out, in;
  std::vector<MPI_Request> requests;
  for (int i = 0; paired && i < count; ++i) {
    out.emplace_back(kinds().back(), large);
    in.emplace_back(kinds().back(), large);
    out.back().fill(identity(s, s.rank, 30 + i));
    in.back().clear();
    requests.emplace_back();
    MPI_Isend(out.back().data(), as_int(large), MPI_BYTE, peer, 30 + i, MPI_COMM_WORLD,
              &requests.back());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; paired && i < count; ++i) {
    requests.emplace_back();
    MPI_Irecv(in[static_cast<std::size_t>(i)].data(), as_int(large), MPI_BYTE, peer, 30 + i,
              MPI_COMM_WORLD, &requests.back());
  }
  MPI_Waitall(as_int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; paired && i < count; ++i) {
    s.note("message %d", i);
    s.expect_none(in[static_cast<std::size_t>(i)].compare(identity(s, peer, 30 + i), large));
  }
}

/// A message that waits may fill the sender's staging memory while the one that lets it go on needs
/// room as well.
void wait_for_room(suite& s) {
  constexpr std::size_t bytes = 3 << 20;
  MPI_Comm three;
  MPI_Comm_split(MPI_COMM_WORLD, s.rank < 3 ? 0 : MPI_UNDEFINED, s.rank, &three);
  if (three == MPI_COMM_NULL || s.ranks < 3) return;
  buffer first(kinds().back(), bytes), second(kinds().back(), bytes);
  const auto receive = [&](buffer& to, int from) {
    to.clear();
    MPI_Recv(to.data(), as_int(bytes), MPI_BYTE, from, 9, three, MPI_STATUS_IGNORE);
    s.expect_none(to.compare(identity(s, from, 9), bytes));
  };
  first.fill(identity(s, s.rank, 9));
  second.fill(identity(s, s.rank, 9));
  MPI_Request request = MPI_REQUEST_NULL;
  if (s.rank == 0) MPI_Isend(first.data(), as_int(bytes), MPI_BYTE, 1, 9, three, &request);
  MPI_Barrier(three);
  if (s.rank == 0) {
    MPI_Send(second.data(), as_int(bytes), MPI_BYTE, 2, 9, three);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (s.rank == 1) {
    receive(first, 2);
    receive(second, 0);
  } else {
    receive(second, 0);
    MPI_Send(first.data(), as_int(bytes), MPI_BYTE, 1, 9, three);
  }
  MPI_Comm_free(&three);
}

/// A send under way across several collectives; the receive is posted between two of them.
void across_collectives(suite& s) {
  const int peer = s.rank ^ 1;
  for (kind from : kinds())
    for (std::size_t bytes : {std::size_t{480}, large}) {
      s.note("%s, %zu bytes", name(from), bytes);
      buffer out(from, bytes), in(from, bytes);
      MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
      const bool paired = peer < s.ranks;
      out.fill(identity(s, s.rank, 9));
      in.clear();
      int one = 1, sum = 0;
      if (paired) MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, peer, 9, MPI_COMM_WORLD, &send);
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      s.expect_equal(sum, s.ranks, "sum");
      if (paired) MPI_Irecv(in.data(), as_int(bytes), MPI_BYTE, peer, 9, MPI_COMM_WORLD, &receive);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Wait(&send, MPI_STATUS_IGNORE);
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      if (paired) s.expect_none(in.compare(identity(s, peer, 9), bytes));
    }
}

/// Rank 1 has taken rank 0's messages by itself. Then rank 0 blocks behind a send from memory that
/// rank 1 has not met, whose opening an injected fault may forbid; rank 1 receives first and joins
/// then.
void opening_refused(suite& s) {
  std::deque<buffer> kept;  // an allocation for each message
  for (int round = 0; round < 2; ++round)
    for (const bool blocks : {false, true}) {
      s.note("round %d%s", round, blocks ? ", the sender blocks" : "");
      buffer& b = kept.emplace_back(kinds().back(), large);
      if (s.rank == 0) {
        b.fill(identity(s, 0, 20 + round));
        MPI_Request request;
        MPI_Isend(b.data(), as_int(large), MPI_BYTE, 1, 20, MPI_COMM_WORLD, &request);
        if (blocks) MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else if (s.rank == 1) {
        b.clear();
        if (blocks) nap();
        MPI_Recv(b.data(), as_int(large), MPI_BYTE, 0, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        s.expect_none(b.compare(identity(s, 0, 20 + round), large));
      }
      if (blocks && s.rank != 0) MPI_Barrier(MPI_COMM_WORLD);
    }
}

/// The receiver computes for a while with a receive posted, testing now and then; the sender's
/// blocking send has to end, and the receiver's test has to come true without any wait.
void tested_now_and_then(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (kind from : kinds())
    for (kind to : kinds()) {
      s.note("%s to %s", name(from), name(to));
      if (s.rank % 2 == 0) {
        buffer out(from, large);
        out.fill(identity(s, s.rank, 10));
        MPI_Send(out.data(), as_int(large), MPI_BYTE, peer, 10, MPI_COMM_WORLD);
      } else {
        buffer in(to, large);
        in.clear();
        MPI_Request request;
        MPI_Irecv(in.data(), as_int(large), MPI_BYTE, peer, 10, MPI_COMM_WORLD, &request);
        for (int flag = 0; flag == 0;) {
          usleep(500);
          MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
        s.expect_none(in.compare(identity(s, peer, 10), large));
      }
    }
}

/// A synchronous send ends when its message is received, not when a probe has found it: neither
/// while the receiver waits elsewhere in Telpher nor while it is blocked in the host MPI.
void probed_synchronous_send(suite& s, bool blocks) {
  const int peer = s.rank ^ 1;
  const bool sends = s.rank % 2 == 0;
  const char* path = std::getenv("TELPHER_PATH");
  const bool node = std::getenv("TELPHER_TEST_PRETENDED_NODES") == nullptr &&
                    !(path && std::string_view(path) == "pipelined");
  for (kind from : kinds())
    for (std::size_t bytes : {1000, 4000, 100000}) {
      s.note("%s, %zu bytes", name(from), bytes);
      const bool takes_part = peer < s.ranks && (node || from != kind::device);
      buffer b(from, bytes);
      MPI_Request request = MPI_REQUEST_NULL;
      if (takes_part && sends) {
        b.fill(identity(s, s.rank, 11));
        MPI_Issend(b.data(), as_int(bytes), MPI_BYTE, peer, 11, MPI_COMM_WORLD, &request);
        s.meet(peer);
        int done = 0;
        for (int i = 0; i < 20 && done == 0; ++i) {
          usleep(500);
          MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        s.expect_equal(done, 0, "the send before the receive");
      } else if (takes_part) {
        MPI_Probe(peer, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        s.meet(peer);
      }
      if (blocks) MPI_Barrier(MPI_COMM_WORLD);
      if (takes_part && !blocks) s.meet(peer);
      if (takes_part && !sends) {
        b.clear();
        MPI_Recv(b.data(), as_int(bytes), MPI_BYTE, peer, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        s.expect_none(b.compare(identity(s, peer, 11), bytes));
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/// Every second rank cuts what it stages into blocks of its own.
void set_unlike() {
  const char* mpich = std::getenv("PMI_RANK");
  const char* rank = mpich ? mpich : std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank && std::atoi(rank) % 2 == 1) setenv("TELPHER_STAGED_BLOCK", "64k", 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("TEST_UNLIKE")) set_unlike();
  suite s(&argc, &argv, 2);
  blocked_ranks(s);
  s.run("head to head", [&] { head_to_head(s); });
  s.run("late receiver", [&] { late_receiver(s); });
  s.run("late burst", [&] { late_burst(s); });
  s.run("ring", [&] { ring(s); });
  s.run("circular waits", [&] { circular_waits(s, false); });
  s.run("circular Waitall", [&] { circular_waits(s, true); });
  s.run("outstanding", [&] { outstanding(s); });
  s.run("large window", [&] { large_window(s); });
  s.run("wait for room", [&] { wait_for_room(s); });
  s.run("across collectives", [&] { across_collectives(s); });
  s.run("opening refused", [&] { opening_refused(s); });
  for (bool blocks : {false, true})
    s.run(blocks ? "probed synchronous send, Barrier" : "probed synchronous send",
          [&] { probed_synchronous_send(s, blocks); });
  s.run("tested now and then", [&] { tested_now_and_then(s); });
  return s.finish();
}
