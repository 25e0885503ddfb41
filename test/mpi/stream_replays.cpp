// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives that are matched once and repeated in streams and graphs: by the devices
// alone on a node (TEST_MATCHED=devices, which must be so), by rounds elsewhere
// (TEST_MATCHED=host). The results are the same.
#include <deque>
#include <optional>

#include "graph_calls.hpp"
#include "matched_pairs.hpp"

using namespace mpi_test;

#if MPI_TEST_HAS_MPI_4

namespace {

/// What every byte of a rank's input is in a round. The sum over 8 ranks fits a byte, so sums of
/// words have no carry from one byte to the next.
int byte_of(int round, int rank) {
  return 1 + (round + rank) % 28;
}

/// One collective over words, or so many for each rank.
struct collective {
  collective_call which;
  bool out_of_all;                                // the input has a block for each rank
  bool into_all;                                  // so has the output
  int (*expected)(suite&, int round, int block);  // -1: unchanged
  int root = 1;

  std::string name() const { return name_of(which); }
  bool in_place() const { return which == collective_call::bcast; }  // the input is the output
};

/// Counts, or places in the opposite order, of blocks of n elements; MPI wants them as long as the
/// request.
const int* kept(std::vector<int>&& values) {
  static auto& all = *new std::deque<std::vector<int>>;
  return all.emplace_back(std::move(values)).data();
}
const int* counts(const suite& s, int n) {
  return kept(std::vector<int>(static_cast<std::size_t>(s.ranks), n));
}
const int* opposite(const suite& s, int n) {
  std::vector<int> places;
  for (int r = s.ranks; r-- > 0;) places.push_back(r * n);
  return kept(std::move(places));
}

/// The request of n words.
int init(const suite& s, const collective& what, void* in, void* out, int n, MPI_Request* made) {
  call_arguments x;
  x.comm = s.control;
  x.root = what.root;
  x.out = in;
  x.in = what.in_place() ? in : out;
  x.sent = x.received = n;
  x.out_type = x.in_type = MPI_INT;
  x.out_counts = x.in_counts = counts(s, n);
  x.out_places = x.in_places = opposite(s, n);
  return make_call(what.which, form::persistent, x, made);
}

int sum_to(int ranks, int round) {
  int sum = 0;
  for (int r = 0; r < ranks; ++r) sum += byte_of(round, r);
  return sum;
}
int sum_of(suite& s, int round, int) {
  return sum_to(s.ranks, round);
}
int of_each(suite&, int round, int block) {
  return byte_of(round, block);
}
int of_each_in_opposite_order(suite& s, int round, int block) {
  return byte_of(round, s.ranks - 1 - block);
}
int of_root(suite&, int round, int) {
  return byte_of(round, 1);
}

using enum collective_call;
const collective all_collectives[] = {
    {allreduce, false, false, sum_of},
    {allgather, false, true, of_each},
    {alltoall, true, true, of_each},
    {reduce_scatter_block, true, false, sum_of},
    {reduce, false, false,
     [](suite& s, int round, int) { return s.rank == 1 ? sum_to(s.ranks, round) : -1; }},
    {gather, false, true,
     [](suite& s, int round, int block) { return s.rank == 0 ? byte_of(round, block) : -1; }, 0},
    {scatter, true, false, of_root},
    {scan, false, false, [](suite& s, int round, int) { return sum_to(s.rank + 1, round); }},
    {exscan, false, false,
     [](suite& s, int round, int) { return s.rank == 0 ? -1 : sum_to(s.rank, round); }},
    {bcast, false, false, of_root},
    {allgatherv, false, true, of_each_in_opposite_order},
    {alltoallv, true, true, of_each_in_opposite_order},
    {reduce_scatter, true, false, sum_of},
};

/// A collective of `bytes` bytes a block, with its memory and its request, matched.
class matched {
 public:
  matched(suite& s, const collective& what, std::size_t size)
      : what_(what),
        block_(size),
        in_(size * (what.out_of_all ? static_cast<std::size_t>(s.ranks) : 1), 0),
        out_(size * (what.into_all ? static_cast<std::size_t>(s.ranks) : 1), 0) {
    s.expect_equal(init(s, what, in_.data(), out_.data(), static_cast<int>(size / 4), &request),
                   MPI_SUCCESS, "the request");
    s.expect_equal(STREAM_CALL(telpher_match)(1, &request), MPI_SUCCESS, "telpher_match");
  }
  ~matched() { MPI_Request_free(&request); }
  matched(const matched&) = delete;
  matched& operator=(const matched&) = delete;

  void fill(suite& s, int round, void* stream) {
    STREAM_CALL(telpher_memset_async)
    (in_.data(), byte_of(round, s.rank), static_cast<std::size_t>(in_.count()), stream);
  }
  std::size_t out_bytes() const { return static_cast<std::size_t>(out_.count()); }
  const void* out() const { return what_.in_place() ? in_.data() : out_.data(); }
  /// Whether `log` has at `at` what the output must be after a round.
  bool right(suite& s, int round, const bytes& log, std::size_t at) const {
    for (std::size_t b = 0; b < out_bytes() / block_; ++b) {
      const int expected = what_.expected(s, round, static_cast<int>(b));
      if (!log.all(expected < 0 ? 0 : expected, at + b * block_, block_)) return false;
    }
    return true;
  }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  const collective& what_;
  std::size_t block_;
  bytes in_, out_;
};

/// Started far ahead of the devices; a rank is late now and then.
void in_a_stream(suite& s, const collective& what, std::size_t size, int rounds) {
  const test_stream stream;
  matched m(s, what, size);
  bytes log(m.out_bytes() * static_cast<std::size_t>(rounds), 0);
  for (int round = 0; round < rounds; ++round) {
    if (round % 8 == s.rank) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    m.fill(s, round, stream);
    start(m.request, stream);
    wait(m.request, stream);
    stream.copy(log.data() + static_cast<std::size_t>(round) * m.out_bytes(), m.out(),
                m.out_bytes());
  }
  stream.wait();
  for (int round = 0; round < rounds; ++round)
    s.expect(m.right(s, round, log, static_cast<std::size_t>(round) * m.out_bytes()),
             "what came in a round");
  s.expect_equal(STREAM_CALL(telpher_stream_status)(stream), MPI_SUCCESS, "the stream's status");
  MPI_Barrier(s.control);
}

/// A graph holds two of them; each replay runs both again.
void in_a_graph(suite& s) {
  const test_stream stream;
  matched small(s, all_collectives[0], 64), large(s, all_collectives[1], 300000);
  bytes small_log(small.out_bytes(), 0), large_log(large.out_bytes(), 0);
  {
    graph g(stream);
    for (matched* m : {&small, &large}) {
      start(m->request, stream);
      wait(m->request, stream);
    }
    stream.copy(small_log.data(), small.out(), small.out_bytes());
    stream.copy(large_log.data(), large.out(), large.out_bytes());
    s.expect(g.end(), "a graph with matched collectives");
    for (int round = 0; round < 12; ++round) {
      s.note("round %d", round);
      for (matched* m : {&small, &large}) m->fill(s, round, stream);
      if (round == 5 && s.rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      g.launch(stream);
      if (round % 3) continue;  // several launches are under way
      stream.wait();
      s.expect(small.right(s, round, small_log, 0), "the small one's result in a replay");
      s.expect(large.right(s, round, large_log, 0), "the large one's result in a replay");
    }
    stream.wait();
  }
  MPI_Barrier(s.control);
}

/// `n` ints at every second place, at odd ranks one after the other: a rank packs and unpacks in
/// the stream, whatever the others do. In a graph, or started one by one.
void with_gaps(suite& s, int n, bool in_graph) {
  const test_stream stream;
  const bool gaps = s.rank % 2 == 0;
  const int step = gaps ? 2 : 1, all = s.ranks * n;
  MPI_Datatype plain, type;
  MPI_Type_vector(n, 1, step, MPI_INT, &plain);
  MPI_Type_create_resized(plain, 0, MPI_Aint{n} * step * 4, &type);
  MPI_Type_commit(&type);
  const auto size = static_cast<std::size_t>(all * step) * 4;
  constexpr int rounds = 12;
  bytes in(size, 0), out(size, 0), log(size * rounds, 0);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Alltoall_init(in.data(), 1, type, out.data(), 1, type, s.control, MPI_INFO_NULL, &request);
  s.expect_equal(STREAM_CALL(telpher_match)(1, &request), MPI_SUCCESS, "telpher_match");
  std::optional<graph> g;
  if (in_graph) {
    g.emplace(stream);
    start(request, stream);
    wait(request, stream);
    s.expect(g->end(), "a graph with a collective with gaps");
  }
  for (int round = 0; round < rounds; ++round) {
    stream.set(in.data(), byte_of(round, s.rank), size);
    stream.set(out.data(), 200 + round, size);
    if (g) {
      g->launch(stream);
    } else {
      start(request, stream);
      wait(request, stream);
    }
    stream.copy(log.data() + static_cast<std::size_t>(round) * size, out.data(), size);
  }
  stream.wait();
  const std::vector<unsigned char> got = log.read(0, size * rounds);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const int number = static_cast<int>(i / 4);
    const int round = number / (all * step), at = number % (all * step);
    const int expected = at % step == 0 ? byte_of(round, at / (n * step)) : 200 + round;
    if (got[i] != static_cast<unsigned char>(expected)) {
      s.fail("int %d of round %d", at, round);
      break;
    }
  }
  g.reset();
  MPI_Type_free(&type);
  MPI_Type_free(&plain);
  MPI_Barrier(s.control);
  MPI_Request_free(&request);
}

void refused(suite& s) {
  const test_stream stream;
  matched m(s, all_collectives[0], 64);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(s.control, MPI_ERRORS_RETURN);
  s.expect_class(STREAM_CALL(telpher_match)(1, &m.request), MPI_ERR_REQUEST, "matched twice");
  s.expect_class(MPI_Start(&m.request), MPI_ERR_REQUEST, "MPI_Start of a matched one");
  start(m.request, stream);
  s.expect_class(STREAM_CALL(telpher_start_enqueue)(m.request, stream), MPI_ERR_REQUEST,
                 "started twice");
  MPI_Request other = m.request;
  s.expect_class(MPI_Wait(&other, MPI_STATUS_IGNORE), MPI_ERR_REQUEST, "MPI_Wait");
  wait(m.request, stream);
  stream.wait();
  MPI_Barrier(s.control);
}

/// Many of them at once, each with memory that goes with it.
void come_and_go(suite& s) {
  const test_stream stream;
  long long before = -1;
  for (int round = 0; round < 12; ++round) {
    s.note("round %d", round);
    matched a(s, all_collectives[0], 4096), b(s, all_collectives[2], 70000);
    bytes log(a.out_bytes(), 0);
    a.fill(s, round, stream);
    MPI_Request both[2] = {a.request, b.request};
    STREAM_CALL(telpher_startall_enqueue)(2, both, stream);
    STREAM_CALL(telpher_waitall_enqueue)(2, both, MPI_STATUSES_IGNORE, stream);
    stream.copy(log.data(), a.out(), a.out_bytes());
    stream.wait();
    s.expect(a.right(s, round, log, 0), "what came");
    MPI_Barrier(s.control);
    if (round == 4) before = held();
  }
  if (before >= 0) s.expect(held() <= before + 8, "memory that is held does not grow");
}

}  // namespace

int main(int argc, char** argv) {
  // By the devices alone no thread of ours is needed.
  const bool low = std::getenv("TEST_LEVEL") != nullptr;
  suite s(&argc, &argv, 2, low ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
  for (const collective& what : all_collectives)
    for (const std::size_t size : {8, 4096, 150000, 600000})
      s.run(what.name() + " of " + std::to_string(size),
            [&] { in_a_stream(s, what, size, size > 100000 ? 8 : 40); });
  if (by_devices() && s.ranks == 2) s.run("refused", [&] { refused(s); });
  if (graph_calls()) s.run("in a graph", [&] { in_a_graph(s); });
  for (const int n : {5, 3000, 200000}) {
    s.run("gaps, " + std::to_string(n), [&] { with_gaps(s, n, false); });
    if (graph_calls())
      s.run("gaps in a graph, " + std::to_string(n), [&] { with_gaps(s, n, true); });
  }
  s.run("come and go", [&] { come_and_go(s); });
  return s.finish();
}

#else

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  if (s.rank == 0) std::puts("# this MPI has no persistent collectives");
  return s.finish();
}

#endif
