// SPDX-License-Identifier: BSD-3-Clause
// Enqueued collectives that come again (src/mpi/repeated.hpp): the first ones are served by the
// proxy, the others by kernels in the stream, on other buffers each time; ranks whose buffers no
// kernel can use take part; captures, communicators that come and go, and more kinds than are
// served so. On a node (TEST_MATCHED=devices) it must be kernels that serve them.
#include <array>

#include "emulated.hpp"
#include "graph_calls.hpp"
#include "repeated_rounds.hpp"

using namespace mpi_test;

namespace {

/// Two sizes in turn, so two kinds; a rank is late now and then.
void in_a_stream(suite& s, const collective& what, std::size_t block) {
  const int rounds = block > 100000 ? 20 : 30;
  const own_comm comm(s);
  const test_stream stream;
  const rounds_of one(s, what, block, rounds), other(s, what, 64, rounds);
  for (int round = 0; round < rounds; ++round) {
    s.note("round %d", round);
    if (round % 16 == s.rank) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    one.run(s, round, comm, stream);
    other.run(s, round, comm, stream);
  }
  stream.wait();
  expect_right(s, one, rounds);
  expect_right(s, other, rounds);
  s.expect_equal(STREAM_CALL(telpher_stream_status)(stream), MPI_SUCCESS, "the stream's status");
}

/// More calls than may wait for the proxy (TELPHER_STREAM_AHEAD), while the stream is held: only
/// kernels can serve them.
void far_ahead(suite& s, const collective& what) {
  constexpr int before = 20, held = 100;
  const own_comm comm(s);
  const test_stream stream;
  gate g;
  const rounds_of one(s, what, 4096, before + held);
  for (int round = 0; round < before; ++round) one.run(s, round, comm, stream);
  stream.wait();
  g.hold(stream);
  for (int round = before; round < before + held; ++round) one.run(s, round, comm, stream);
  g.open();
  stream.wait();
  expect_right(s, one, before + held);
}

void in_place(suite& s) {
  constexpr int rounds = 30;
  const own_comm comm(s);
  const test_stream stream;
  const rounds_of one(s, all[0], 1000, rounds);
  for (int round = 0; round < rounds; ++round) {
    stream.set(one.output(round), byte_of(round, s.rank), one.out_bytes());
    all[0].call(MPI_IN_PLACE, one.output(round), one.words(), comm, stream);
    one.keep(round, stream);
  }
  stream.wait();
  expect_right(s, one, rounds);
}

/// In scans and reduce-scatters each rank is in place when it likes.
void in_place_here(suite& s, const collective& what) {
  constexpr int rounds = 26, from = 18;
  const own_comm comm(s);
  const test_stream stream;
  const rounds_of one(s, what, 1000, rounds);
  const std::size_t in =
      one.out_bytes() * (what.out_of_all ? static_cast<std::size_t>(s.ranks) : 1);
  bytes both(in, 0);
  for (int round = 0; round < rounds; ++round) {
    if (round < from || round % s.ranks != s.rank) {
      one.run(s, round, comm, stream);
      continue;
    }
    stream.set(both.data(), byte_of(round, s.rank), in);
    what.call(MPI_IN_PLACE, both.data(), one.words(), comm, stream);
    stream.copy(one.output(round), both.data(), one.out_bytes());
    one.keep(round, stream);
  }
  stream.wait();
  expect_right(s, one, rounds);
}

enum class in_place_in { all_rounds, even_rounds, odd_rounds };

/// The root is in place in some rounds. Where it is in all of them, kernels serve these.
void in_place_at_root(suite& s, const collective& what, in_place_in when) {
  constexpr int rounds = 100, before = 20, size = 1000;
  const own_comm comm(s);
  const test_stream stream;
  gate g;
  const rounds_of one(s, what, size, rounds);
  for (int round = 0; round < rounds; ++round) {
    if (round == before) stream.wait();
    if (round == before && when == in_place_in::all_rounds && by_devices()) g.hold(stream);
    const bool even = round % 2 == 0;
    if (s.rank != 1 || when == (even ? in_place_in::odd_rounds : in_place_in::even_rounds)) {
      one.run(s, round, comm, stream);
      continue;
    }
    one.fill(s, round, stream);
    if (what.which == collective_call::scatter) {
      what.call(one.input(round), MPI_IN_PLACE, one.words(), comm, stream);
      stream.copy(one.output(round), one.input(round) + size, size);
    } else {
      stream.set(one.output(round) + (what.into_all ? size : 0), byte_of(round, 1), size);
      what.call(MPI_IN_PLACE, one.output(round), one.words(), comm, stream);
    }
    one.keep(round, stream);
  }
  g.open();
  stream.wait();
  expect_right(s, one, rounds);
}

/// The stream has passed the first call of a kind: the communicator may be used, and freed,
/// although the ranks may not have agreed yet.
void first_ones(suite& s) {
  const test_stream stream;
  for (int again = 0; again < static_cast<int>(std::size(all)); ++again) {
    const own_comm comm(s);
    for (int k = 1; k <= 3; ++k) {
      const rounds_of one(s, all[again], 64 * static_cast<std::size_t>(k), 1);
      one.run(s, 0, comm, stream);
      if (again % 2 == s.rank % 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      stream.wait();
      int mine = s.rank + k, sum = 0;
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
      s.expect_equal(sum, s.ranks * (s.ranks - 1) / 2 + s.ranks * k, "a call of the CPU");
      expect_right(s, one, 1);
    }
  }
}

/// Replays of a graph in which one call of the kind is.
void replay(suite& s, const collective& what, MPI_Comm comm, const test_stream& stream) {
  constexpr int launches = 9;
  const rounds_of one(s, what, 4096, 2);
  one.run(s, 0, comm, stream);
  graph g(stream);
  one.fill(s, 1, stream);
  what.call(one.input(1), one.output(1), one.words(), comm, stream);
  one.keep(1, stream);
  s.expect(g.end(), "a graph with a collective");
  for (int launch = 0; launch < launches; ++launch) g.launch(stream);
  stream.wait();
  expect_right(s, one, 2);
}

/// Two streams of one communicator: what is called first goes first, once kernels serve the calls,
/// also where a graph has made calls of the kind.
void in_two_streams(suite& s, bool behind_a_graph) {
  constexpr int rounds = 40, ordered = 18;
  const own_comm comm(s);
  const test_stream streams[2];
  if (behind_a_graph) replay(s, all[0], comm, streams[1]);
  const rounds_of a(s, all[0], 4096, rounds), b(s, all[0], 4096, rounds);
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < 2; ++i) {
      if (round % 4 == 3 && i == s.rank % 2)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      (i ? b : a).run(s, round, comm, streams[i]);
      if (round < ordered) streams[i].wait();
    }
  for (const test_stream& stream : streams) stream.wait();
  expect_right(s, a, rounds);
  expect_right(s, b, rounds);
}

/// Once the kernels serve a kind, one rank has its buffers in host memory.
void on_other_buffers(suite& s, const collective& what) {
  constexpr int rounds = 28, from = 20;
  const own_comm comm(s);
  const test_stream stream;
  const rounds_of one(s, what, 4096, rounds);
  std::vector<unsigned char> in(4096 * static_cast<std::size_t>(s.ranks)), out(in.size());
  for (int round = 0; round < rounds; ++round) {
    s.note("round %d", round);
    if (round < from || round % s.ranks != s.rank) {
      one.run(s, round, comm, stream);
      continue;
    }
    std::fill(in.begin(), in.end(), static_cast<unsigned char>(byte_of(round, s.rank)));
    std::fill(out.begin(), out.end(), 0);
    what.call(in.data(), out.data(), one.words(), comm, stream);
    stream.wait();
    functions().copy(one.output(round), out.data(), one.out_bytes());
    one.keep(round, stream);
  }
  stream.wait();
  expect_right(s, one, rounds);
}

/// One call outside of captures is enough for those in a graph.
void in_a_graph(suite& s, const collective& first, const collective& second) {
  const own_comm comm(s);
  const test_stream stream;
  const rounds_of one(s, first, 2048, 12), other(s, second, 2048, 12);
  one.run(s, 0, comm, stream);
  other.run(s, 0, comm, stream);
  {
    graph g(stream);
    one.fill(s, 1, stream);
    first.call(one.input(1), one.output(1), one.words(), comm, stream);
    other.fill(s, 1, stream);
    second.call(other.input(1), other.output(1), other.words(), comm, stream);
    one.keep(1, stream);
    other.keep(1, stream);
    s.expect(g.end(), "a graph with collectives");
    for (int launch = 0; launch < 9; ++launch) {
      if (launch == 4 && s.rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(30));
      g.launch(stream);
    }
    one.run(s, 2, comm, stream);
    other.run(s, 2, comm, stream);
    stream.wait();
  }
  expect_right(s, one, 3);
  expect_right(s, other, 3);
}

void many_kinds(suite& s) {
  constexpr int kinds = 20, calls = 18;
  const own_comm comm(s);
  const test_stream stream;
  std::vector<std::unique_ptr<rounds_of>> each;
  for (int k = 0; k < kinds; ++k)
    each.push_back(
        std::make_unique<rounds_of>(s, all[0], 64 + 16 * static_cast<std::size_t>(k), calls));
  for (int round = 0; round < calls; ++round)
    for (const auto& one : each) one->run(s, round, comm, stream);
  stream.wait();
  for (const auto& one : each) expect_right(s, *one, calls);
}

void come_and_go(suite& s) {
  constexpr int rounds = 20;
  long long before = -1;
  for (int again = 0; again < 6; ++again) {
    s.note("communicator %d", again);
    const own_comm comm(s);
    const test_stream stream;
    const rounds_of one(s, all[0], 256, rounds), other(s, all[1], 256, rounds);
    for (int round = 0; round < rounds; ++round) {
      one.run(s, round, comm, stream);
      other.run(s, round, comm, stream);
    }
    stream.wait();
    expect_right(s, one, rounds);
    expect_right(s, other, rounds);
    MPI_Barrier(s.control);
    if (again == 3) before = held();
  }
  if (before >= 0) s.expect(held() <= before + 8, "memory that is held does not grow");
}

/// Two streams with a communicator each, whose collectives the ranks call in unlike orders.
void crossing(suite& s) {
  constexpr int rounds = 30;
  const own_comm comms[2] = {own_comm(s), own_comm(s)};
  const test_stream streams[2];
  const rounds_of a(s, all[0], 4096, rounds), b(s, all[0], 4096, rounds);
  for (int round = 0; round < rounds; ++round)
    for (const int i : s.rank % 2 ? std::array{1, 0} : std::array{0, 1})
      (i ? b : a).run(s, round, comms[i], streams[i]);
  for (const test_stream& stream : streams) stream.wait();
  expect_right(s, a, rounds);
  expect_right(s, b, rounds);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  std::vector<std::size_t> blocks{8, 60000, 400000};
  if (counted("allocations") < 0)
    blocks.push_back(7000004);  // by lines, where devices deliver them
  for (const collective& what : all)
    for (const std::size_t block : blocks)
      s.run(what.name() + " of " + std::to_string(block), [&] { in_a_stream(s, what, block); });
  if (by_devices())
    for (const collective& what : all)
      s.run(what.name() + " far ahead", [&] { far_ahead(s, what); });
  s.run("in place", [&] { in_place(s); });
  for (const int i : {4, 5})
    s.run(all[i].name() + " in place here", [&] { in_place_here(s, all[i]); });
  for (std::size_t i = rooted; i < std::size(all); ++i)
    for (const auto when :
         {in_place_in::all_rounds, in_place_in::even_rounds, in_place_in::odd_rounds})
      s.run(all[i].name() + " in place at the root " + std::to_string(static_cast<int>(when)),
            [&] { in_place_at_root(s, all[i], when); });
  if (by_devices()) s.run("in two streams", [&] { in_two_streams(s, false); });
  if (by_devices() && graph_calls())
    s.run("in two streams behind a graph", [&] { in_two_streams(s, true); });
  for (const collective& what : all)
    s.run(what.name() + " on other buffers", [&] { on_other_buffers(s, what); });
  if (graph_calls())
    for (const auto& [i, k] : {std::pair{0, 2}, {6, 7}, {8, 1}})
      s.run("in a graph/" + all[i].name(), [&] { in_a_graph(s, all[i], all[k]); });
  s.run("many kinds", [&] { many_kinds(s); });
  s.run("first ones", [&] { first_ones(s); });
  s.run("come and go", [&] { come_and_go(s); });
  s.run("crossing", [&] { crossing(s); });
  return s.finish();
}
