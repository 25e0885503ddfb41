// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: threads with communicators or tags of their own exchange messages of all
// kinds at the same time, probe, wait and send to other threads of their own process. Skipped where
// the host MPI does not provide the level.
#include <array>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <functional>

#include "forms.hpp"

using namespace mpi_test;

namespace {

constexpr int thread_count = 4;
constexpr std::size_t sizes[] = {0, 8, 479, 480, 481, 3000, 100000};

std::uint64_t identity(const suite& s, int sender, int thread, int round) {
  return mix(s.opt.seed) + static_cast<std::uint64_t>(round * 4096 + thread * 64 + sender);
}

void in_threads(const std::function<void(int)>& body) {
  std::vector<std::thread> running;
  for (int t = 1; t < thread_count; ++t) running.emplace_back(body, t);
  body(0);
  for (std::thread& t : running) t.join();
}

/// The same on both ranks of a pair, so that they agree on sizes and forms.
struct step {
  step(const suite& s, int thread, int round) {
    random_numbers random(s.opt.seed + static_cast<std::uint64_t>(thread * 1000 + round));
    bytes = sizes[random.below(std::size(sizes))];
    from = kinds()[random.below(kinds().size())];
    to = kinds()[random.below(kinds().size())];
    do {
      send = &send_forms[random.below(std::size(send_forms))];
    } while (send->ready || send->buffered);
    receive = receive_forms[random.below(std::size(receive_forms))];
  }
  std::size_t bytes;
  kind from, to;
  const send_form* send;
  receive_form receive;
};

void receive_one(suite& s, const step& p, const envelope& from, int thread, int round) {
  buffer in(p.to, p.bytes + 20);
  in.clear();
  probed_size probed;
  pending r = start(p.receive, in.data(), in.bytes(), from, probed);
  finish(r);
  if (probed.got >= 0) s.expect_equal(probed.got, static_cast<long long>(p.bytes), "probed size");
  s.expect_status(r.status, from.peer, from.tag, p.bytes);
  s.expect_none(in.compare(identity(s, from.peer, thread, round), p.bytes));
}

void send_one(suite& s, const step& p, const envelope& to, int thread, int round) {
  buffer out(p.from, p.bytes);
  out.fill(identity(s, s.rank, thread, round));
  pending r = start(*p.send, out.data(), p.bytes, to);
  finish(r);
}

/// Ping-pong in each thread; with communicators of their own or with one and different tags.
void ping_pong(suite& s, bool own_communicators, int rounds) {
  const int peer = s.rank ^ 1;
  std::vector<MPI_Comm> comms(thread_count, MPI_COMM_WORLD);
  if (own_communicators)
    for (MPI_Comm& c : comms) MPI_Comm_dup(MPI_COMM_WORLD, &c);
  if (peer < s.ranks)
    in_threads([&](int t) {
      const envelope e{peer, 100 + t, comms[static_cast<std::size_t>(t)]};
      for (int round = 0; round < rounds; ++round) {
        const step p(s, t, round);
        s.note("thread %d, round %d, %s %s, %s to %s, %zu bytes", t, round, p.send->name,
               name(p.receive), name(p.from), name(p.to), p.bytes);
        if (s.rank % 2 == round % 2)
          send_one(s, p, e, t, round);
        else
          receive_one(s, p, e, t, round);
      }
    });
  if (own_communicators)
    for (MPI_Comm& c : comms) MPI_Comm_free(&c);
}

/// Each thread has many messages under way both ways and completes them with a call of its own.
/// Thread t has the tag first_tag + t. In the first rounds all memory is the host's.
void windows(suite& s, int rounds, int first_tag = 0, int host_rounds = 0) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  in_threads([&](int t) {
    constexpr std::size_t depth = 16;
    for (int round = 0; round < rounds; ++round) {
      std::vector<buffer> out, in;
      std::vector<MPI_Request> requests(2 * depth);
      std::vector<std::size_t> bytes(depth);
      for (std::size_t i = 0; i < depth; ++i) {
        step p(s, t, first_tag * 10000 + round * 100 + as_int(i));
        if (round < host_rounds) p.from = p.to = kind::host;
        bytes[i] = p.bytes;
        out.emplace_back(p.from, p.bytes);
        in.emplace_back(p.to, p.bytes);
        out[i].fill(identity(s, s.rank, t, as_int(i)));
        in[i].clear();
      }
      s.note("thread %d, round %d of windows", t, round);
      for (std::size_t i = 0; i < depth; ++i) {
        const int tag = first_tag + t;
        MPI_Irecv(in[i].data(), as_int(bytes[i]), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                  &requests[i]);
        MPI_Isend(out[i].data(), as_int(bytes[i]), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                  &requests[depth + i]);
      }
      const int n = as_int(requests.size());
      if (t == 0) {
        MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE);
      } else if (t == 1) {
        for (int flag = 0; flag == 0;) MPI_Testall(n, requests.data(), &flag, MPI_STATUSES_IGNORE);
      } else if (t == 2) {
        for (int index = 0; index != MPI_UNDEFINED;)
          MPI_Waitany(n, requests.data(), &index, MPI_STATUS_IGNORE);
      } else {
        std::vector<int> indices(requests.size());
        for (int count = 0; count != MPI_UNDEFINED;)
          MPI_Waitsome(n, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE);
      }
      for (std::size_t i = 0; i < depth; ++i) {
        s.note("thread %d, round %d, message %zu", t, round, i);
        s.expect_none(in[i].compare(identity(s, peer, t, as_int(i)), bytes[i]));
      }
    }
  });
}

/// Threads of one process send to each other, with blocking calls on both sides.
void to_other_threads(suite& s, int rounds) {
  in_threads([&](int t) {
    const int partner = t ^ 1;
    for (int round = 0; round < rounds; ++round) {
      const step p(s, t / 2, round);
      s.note("thread %d, round %d to thread %d, %zu bytes", t, round, partner, p.bytes);
      if (t % 2 == round % 2)
        send_one(s, p, {s.rank, 200 + t, MPI_COMM_WORLD}, t / 2, round);
      else  // the tag is the sender's, or a thread could receive what it has sent itself
        receive_one(s, p, {s.rank, 200 + partner, MPI_COMM_WORLD}, t / 2, round);
    }
  });
}

/// Threads take messages of one common stream by Mprobe with wildcards; each message is got once.
void shared_mprobe(suite& s, int rounds) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  if (s.rank % 2 == 0) {
    in_threads([&](int t) {
      for (int round = 0; round < rounds; ++round)
        send_one(s, step(s, t, round), {peer, 300 + t * rounds + round, MPI_COMM_WORLD}, t, round);
    });
    return;
  }
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(thread_count * rounds));
  in_threads([&](int t) {
    for (int i = 0; i < rounds; ++i) {
      s.note("thread %d, message %d of the shared stream", t, i);
      MPI_Message message;
      MPI_Status status;
      MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
      const int sender = (status.MPI_TAG - 300) / rounds, round = (status.MPI_TAG - 300) % rounds;
      const step p(s, sender, round);
      s.expect_status(status, peer, status.MPI_TAG, p.bytes);
      buffer in(p.to, p.bytes);
      in.clear();
      MPI_Mrecv(in.data(), as_int(p.bytes), MPI_BYTE, &message, &status);
      s.expect_none(in.compare(identity(s, peer, sender, round), p.bytes));
      ++seen[static_cast<std::size_t>(sender * rounds + round)];
    }
  });
  for (const std::atomic<int>& n : seen) s.expect_equal(n, 1, "times a message was received");
}

/// One thread blocks in a receive or a barrier for long; the others must go on meanwhile.
void one_thread_blocked(suite& s, int rounds) {
  const int peer = s.rank ^ 1;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::atomic<int> left = thread_count - 1;
  in_threads([&](int t) {
    if (t == 0) {
      while (s.rank == 0 && left > 0) usleep(1000);  // rank 0 comes to the barrier last
      MPI_Barrier(comm);
      return;
    }
    if (peer < s.ranks)
      for (int round = 0; round < rounds; ++round) {
        const step p(s, t, round);
        const envelope e{peer, 400 + t, MPI_COMM_WORLD};
        s.note("thread %d, round %d beside a barrier", t, round);
        if (s.rank % 2 == round % 2)
          send_one(s, p, e, t, round);
        else
          receive_one(s, p, e, t, round);
      }
    --left;
  });
  MPI_Comm_free(&comm);
}

/// One thread of rank 0 blocks in the host MPI until rank 1 has its messages; another starts them
/// meanwhile and comes back to MPI only when the first has ended. The same for a receive that was
/// looked at once. Right also if the first should come too late to be blocked.
void started_beside_a_blocked_thread(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<buffer> buffers;
  std::vector<MPI_Request> requests;
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{70000}, std::size_t{4000000}}) {
    buffers.emplace_back(kind::device, bytes);
    if (s.rank == 0)
      buffers.back().fill(bytes);
    else
      buffers.back().clear();
  }
  buffer back(kind::device, 4000000);
  back.clear();
  if (s.rank == 1) back.fill(5);
  MPI_Barrier(MPI_COMM_WORLD);
  if (s.rank == 0) {
    std::thread blocked([&] { MPI_Barrier(comm); });
    usleep(50000);
    for (buffer& b : buffers)
      MPI_Isend(b.data(), as_int(b.bytes()), MPI_BYTE, 1, 500, MPI_COMM_WORLD,
                &requests.emplace_back());
    MPI_Irecv(back.data(), as_int(back.bytes()), MPI_BYTE, 1, 501, MPI_COMM_WORLD,
              &requests.emplace_back());
    int flag = 0;
    MPI_Status status;
    MPI_Request_get_status(requests.back(), &flag, &status);
    s.note("the end of the blocked thread");
    blocked.join();
    MPI_Waitall(as_int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    s.expect_none(back.compare(5, back.bytes()));
  } else if (s.rank == 1) {
    usleep(100000);
    MPI_Request request;
    MPI_Isend(back.data(), as_int(back.bytes()), MPI_BYTE, 0, 501, MPI_COMM_WORLD, &request);
    for (buffer& b : buffers) {
      s.note("a message of %zu bytes", b.bytes());
      MPI_Recv(b.data(), as_int(b.bytes()), MPI_BYTE, 0, 500, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      s.expect_none(b.compare(b.bytes(), b.bytes()));
    }
    MPI_Barrier(comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(comm);
  }
  MPI_Comm_free(&comm);
}

// --- one-sided ---

/// Each thread has a part of its peer's memory, puts and gets it in pieces, and completes what it
/// has issued itself.
void one_sided(suite& s, kind where, int rounds) {
  constexpr std::size_t bytes = 8000, piece = 400;
  const int peer = (s.rank + 1) % s.ranks;
  for (int round = 0; round < rounds; ++round) {
    const buffer memory(where, thread_count * bytes);
    MPI_Win win;
    MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.bytes()), 1, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    std::barrier all(thread_count);
    in_threads([&](int t) {
      buffer out(kind::device, bytes), in(kind::device, bytes);
      const MPI_Aint at = t * static_cast<MPI_Aint>(bytes);
      all.arrive_and_wait();
      for (int i = 0; i < 3; ++i) {
        out.fill(identity(s, s.rank, t, round + i));
        in.clear();
        for (std::size_t p = 0; p < bytes; p += piece)
          MPI_Put(out.data() + p, as_int(piece), MPI_BYTE, peer, at + as_int(p), as_int(piece),
                  MPI_BYTE, win);
        MPI_Win_flush(peer, win);
        for (std::size_t p = 0; p < bytes; p += piece)
          MPI_Get(in.data() + p, as_int(piece), MPI_BYTE, peer, at + as_int(p), as_int(piece),
                  MPI_BYTE, win);
        MPI_Win_flush(peer, win);
        s.expect_none(in.compare(identity(s, s.rank, t, round + i), bytes));
      }
    });
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
  }
}

bool on_one_node(const suite& s) {
  MPI_Comm node;
  MPI_Comm_split_type(s.control, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int size = 0;
  MPI_Comm_size(node, &size);
  MPI_Comm_free(&node);
  return size == s.ranks && std::getenv("TELPHER_TEST_PRETENDED_NODES") == nullptr;
}

/// Each thread attaches pieces of device memory, all as fast as they can.
void attached_by_threads(suite& s, int rounds) {
  constexpr int pieces = 60;
  const int to = (s.rank + 1) % s.ranks, from = (s.rank + s.ranks - 1) % s.ranks;
  buffer memory(kind::device, std::size_t{thread_count} * pieces * 64), out(kind::device, 64);
  MPI_Aint own = 0, theirs = 0;
  MPI_Get_address(memory.data(), &own);
  MPI_Sendrecv(&own, 1, MPI_AINT, from, 1, &theirs, 1, MPI_AINT, to, 1, s.control,
               MPI_STATUS_IGNORE);
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  const auto each_piece = [&](int t, const std::function<int(int)>& body) {
    for (int i = t * pieces; i < (t + 1) * pieces; ++i)
      s.expect(body(i) == MPI_SUCCESS, "a call for a piece");
  };
  for (int round = 0; round < rounds; ++round) {
    std::barrier all(thread_count);
    in_threads([&](int t) {
      all.arrive_and_wait();
      each_piece(t, [&](int i) { return MPI_Win_attach(win, memory.data() + i * 64, 64); });
    });
    MPI_Barrier(s.control);
    MPI_Win_lock_all(0, win);
    for (int t = 0; t < thread_count; ++t)
      each_piece(t, [&](int i) {
        return MPI_Put(out.data(), 64, MPI_BYTE, to, theirs + i * 64, 64, MPI_BYTE, win);
      });
    MPI_Win_unlock_all(win);
    MPI_Barrier(s.control);
    in_threads([&](int t) {
      each_piece(t, [&](int i) { return MPI_Win_detach(win, memory.data() + i * 64); });
    });
  }
  MPI_Win_free(&win);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  // Forced paths come on top of a run with all rounds.
  const int usual = std::getenv("TELPHER_PATH") ? 30 : 100;
  const int rounds = s.opt.messages > 0 ? static_cast<int>(s.opt.messages) : usual;
  if (!s.has_threads()) {
    s.opt.words.clear();
    return s.finish();
  }
  s.run("own communicators", [&] { ping_pong(s, true, rounds); });
  s.run("own tags", [&] { ping_pong(s, false, rounds); });
  s.run("windows", [&] { windows(s, rounds / 10); });
  // Receives of the host MPI's own, of whose tags there are tickets from some round on: tags that
  // are not used yet, modulo 64.
  s.run("windows of host memory first", [&] {
    for (int tag = 4; tag < 36; tag += thread_count) windows(s, 4, tag, 3);
  });
  s.run("to other threads", [&] { to_other_threads(s, rounds); });
  s.run("shared Mprobe", [&] { shared_mprobe(s, rounds); });
  s.run("one thread blocked", [&] { one_thread_blocked(s, rounds); });
  s.run("started beside a blocked thread", [&] { started_beside_a_blocked_thread(s); });
  if (!s.makes_windows()) return s.finish();
  s.run("one-sided", [&] { one_sided(s, kind::host, rounds / 2); });
  s.run("one-sided on the device", [&] { one_sided(s, kind::device, rounds / 2); });
  // Between nodes all ranks are told of each piece.
  s.run("attached by threads", [&] { attached_by_threads(s, on_one_node(s) ? rounds * 2 : 4); });
  return s.finish();
}
