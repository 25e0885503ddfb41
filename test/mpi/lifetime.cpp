// SPDX-License-Identifier: BSD-3-Clause
// Buffers that come and go: the same address with another allocation behind it, interior pointers,
// allocations of very different sizes, more of them than any cache of imported memory holds, and
// receive buffers that are freed as soon as the wait has returned. No message may read or write
// memory through a stale mapping.
#include <chrono>

#include "emulated.hpp"
#include "forms.hpp"

using namespace mpi_test;

namespace {

std::uint64_t identity(const suite& s, int sender, int step) {
  return mix(s.opt.seed) + static_cast<std::uint64_t>(step * 64 + sender);
}

/// Even ranks send one message to odd ones.
void one_way(suite& s, int peer, int step, buffer& out, buffer& in) {
  s.note("message %d, %s to %s, %zu bytes", step, name(out.memory()), name(in.memory()),
         in.bytes());
  if (s.rank % 2 == 0) {
    out.fill(identity(s, s.rank, step));
    MPI_Send(out.data(), as_int(out.bytes()), MPI_BYTE, peer, 1, MPI_COMM_WORLD);
  } else {
    in.clear();
    MPI_Status status;
    MPI_Recv(in.data(), as_int(in.bytes()), MPI_BYTE, peer, 1, MPI_COMM_WORLD, &status);
    s.expect_status(status, peer, 1, in.bytes());
    s.expect_none(in.compare(identity(s, peer, step), in.bytes()));
  }
}

/// Free and allocate between messages: the allocator is likely to give the same address again.
void same_address(suite& s, std::size_t bytes) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  int reused = 0;
  for (kind k : kinds()) {
    const void* last = nullptr;
    for (int step = 0; step < 40; ++step) {
      buffer out(k, bytes), in(k, bytes);
      reused += out.data() == last;
      last = out.data();
      one_way(s, peer, step, out, in);
    }
  }
  if (s.rank == 0) std::printf("# %zu bytes: the same address %d times\n", bytes, reused);
}

/// The allocation at an address shrinks and grows, the message's place in it moves.
void other_size_at_same_address(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  random_numbers random(s.opt.seed);
  for (kind k : kinds())
    for (int step = 0; step < 60; ++step) {
      const std::size_t capacity = std::size_t{1} << (8 + random.below(14));
      const std::size_t bytes = 1 + random.below(capacity);
      const std::size_t offset = random.below(capacity - bytes + 1);
      buffer out(k, capacity), in(k, capacity);
      out.place(offset, bytes);
      in.place(capacity - bytes - offset, bytes);
      one_way(s, peer, step, out, in);
    }
}

/// Interior pointers of many live allocations, in random order, while others come and go.
void churn(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  random_numbers random(s.opt.seed + 1);
  constexpr std::size_t live = 12;
  std::vector<buffer> out, in;
  const auto fresh = [&](std::vector<buffer>& list) {
    list.emplace_back(kinds()[random.below(kinds().size())], 4096u << random.below(7));
  };
  for (std::size_t i = 0; i < live; ++i) {
    fresh(out);
    fresh(in);
  }
  for (int step = 0; step < 300; ++step) {
    const std::size_t a = random.below(live), b = random.below(live);
    if (random.chance(30)) {
      fresh(out);
      std::swap(out[a], out[live]);
      out.pop_back();
    }
    if (random.chance(30)) {
      fresh(in);
      std::swap(in[b], in[live]);
      in.pop_back();
    }
    const std::size_t bytes = 1 + random.below(4000);
    out[a].place(random.below(4096 - bytes), bytes);
    in[b].place(random.below(4096 - bytes), bytes);
    one_way(s, peer, step, out[a], in[b]);
  }
}

/// Two allocations of very different sizes take turns.
void two_sizes(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (kind k : kinds()) {
    buffer small_out(k, 500), small_in(k, 500), big_out(k, 9u << 20), big_in(k, 9u << 20);
    for (int step = 0; step < 20; ++step) {
      big_out.place(step % 2 ? (8u << 20) : 17, 2000);
      big_in.place(step % 3 ? (8u << 20) : 5, 2000);
      one_way(s, peer, step * 2, small_out, small_in);
      one_way(s, peer, step * 2 + 1, big_out, big_in);
    }
  }
}

/// The receive buffer is freed at once after the wait, the send buffer after its own; what is
/// allocated there next must stay as it is written.
void freed_after_wait(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (kind k : kinds())
    for (int step = 0; step < 60; ++step) {
      const std::size_t bytes = step % 3 == 0 ? 480 : step % 3 == 1 ? 3000 : 200000;
      s.note("step %d, %s, %zu bytes", step, name(k), bytes);
      MPI_Request requests[2];
      {
        buffer out(k, bytes), in(k, bytes);
        out.fill(identity(s, s.rank, step));
        in.clear();
        MPI_Irecv(in.data(), as_int(bytes), MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        if (step % 2 == 0) s.expect_none(in.compare(identity(s, peer, step), bytes));
        { const buffer freed = std::move(in); }
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      }
      buffer next(k, bytes), other(k, bytes);
      next.clear();
      other.clear();
      int flag = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      s.expect_none(next.compare(0, 0));
      s.expect_none(other.compare(0, 0));
    }
}

/// The program learns otherwise than by a wait that its buffers are free, while other messages of
/// theirs may still be known inside: from the peer's answer after MPI_Request_free, or from
/// MPI_Request_get_status.
void freed_without_wait(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const auto done = [](MPI_Request r) {
    int flag = 0;
    while (!flag) MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
  };
  for (kind k : kinds())
    for (int step = 0; step < 40; ++step) {
      const std::size_t bytes = step % 3 == 0 ? 480 : step % 3 == 1 ? 3000 : 200000;
      s.note("step %d, %s, %zu bytes", step, name(k), bytes);
      const bool given_up = step % 2 == 0;
      MPI_Request sent, received;
      {
        buffer out(k, bytes), in(k, bytes);
        out.fill(identity(s, s.rank, step));
        in.clear();
        MPI_Irecv(in.data(), as_int(bytes), MPI_BYTE, peer, 4, MPI_COMM_WORLD, &received);
        MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, peer, 4, MPI_COMM_WORLD, &sent);
        done(received);
        s.expect_none(in.compare(identity(s, peer, step), bytes));
        if (given_up) {
          MPI_Request_free(&sent);
          MPI_Sendrecv(nullptr, 0, MPI_BYTE, peer, 5, nullptr, 0, MPI_BYTE, peer, 5, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
        } else {
          done(sent);
        }
      }
      buffer out(k, bytes), in(k, bytes);  // likely at the same addresses
      out.fill(identity(s, s.rank, step + 1000));
      in.clear();
      MPI_Sendrecv(out.data(), as_int(bytes), MPI_BYTE, peer, 6, in.data(), as_int(bytes), MPI_BYTE,
                   peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      s.expect_none(in.compare(identity(s, peer, step + 1000), bytes));
      MPI_Wait(&received, MPI_STATUS_IGNORE);
      if (!given_up) MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
}

/// Many allocations live at once, each used several times: more than TELPHER_IPC_CACHE_ENTRIES.
void many_allocations(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (kind k : kinds()) {
    std::vector<buffer> out, in;
    for (std::size_t i = 0; i < 20; ++i) {
      out.emplace_back(k, 70000);
      in.emplace_back(k, 70000);
    }
    for (int round = 0; round < 3; ++round) {
      std::vector<MPI_Request> requests(out.size());
      for (std::size_t i = 0; i < out.size(); ++i) {
        const auto step = round * 100 + as_int(i);
        if (s.rank % 2 == 0) {
          out[i].fill(identity(s, s.rank, step));
          MPI_Isend(out[i].data(), 70000, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[i]);
        } else {
          in[i].clear();
          MPI_Irecv(in[i].data(), 70000, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[i]);
        }
      }
      s.note("%s, round %d of many allocations", name(k), round);
      MPI_Waitall(as_int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      if (s.rank % 2 != 0)
        for (std::size_t i = 0; i < in.size(); ++i)
          s.expect_none(in[i].compare(identity(s, peer, round * 100 + as_int(i)), 70000));
    }
  }
}

/// Freed memory comes back: far more is allocated in all than a device has.
void memory_returns(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (int step = 0; step < 80; ++step) {
    buffer out(kinds().back(), std::size_t{32} << 20), in(kinds().back(), std::size_t{32} << 20);
    out.place(0, 100000);
    in.place(1, 100000);
    one_way(s, peer, step, out, in);
  }
}

/// What its owner has freed is closed at its peers as well, at a call that follows soon: not only
/// when something else is made at its addresses, or when it has not been used for long.
void closed_at_peers(suite& s) {
  const int peer = s.rank ^ 1;
  for (const std::size_t count : {1, 5, 40}) {  // the last are more than a rank posts (endings.hpp)
    if (peer < s.ranks) {
      std::vector<buffer> out, in;
      for (std::size_t i = 0; i < count; ++i) {
        out.emplace_back(kinds().back(), 300000);
        in.emplace_back(kinds().back(), 300000);
        one_way(s, peer, as_int(i), out[i], in[i]);
      }
    }
    const auto began = std::chrono::steady_clock::now();
    for (int more = 1; more != 0;) {
      const bool over = std::chrono::steady_clock::now() - began > std::chrono::seconds(20);
      more = counted("imports") > 0;
      if (more && over) s.fail("%lld allocations of peers are open", counted("imports"));
      more = more && !over;
      MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  for (std::size_t bytes : {std::size_t{100}, std::size_t{5000}, std::size_t{300000}})
    s.run("same address, " + std::to_string(bytes) + " bytes", [&] { same_address(s, bytes); });
  s.run("another size at the same address", [&] { other_size_at_same_address(s); });
  s.run("churn", [&] { churn(s); });
  s.run("two sizes", [&] { two_sizes(s); });
  s.run("freed after the wait", [&] { freed_after_wait(s); });
  s.run("freed without a wait", [&] { freed_without_wait(s); });
  s.run("many allocations", [&] { many_allocations(s); });
  s.run("memory returns", [&] { memory_returns(s); });
  if (counted("imports") >= 0) s.run("closed at peers", [&] { closed_at_peers(s); });
  return s.finish();
}
