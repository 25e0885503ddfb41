// SPDX-License-Identifier: BSD-3-Clause
// Enqueued collectives that come again, of types with gaps: kernels in the stream pack before the
// collective's own and unpack behind it, whatever the types of the other ranks. On a node
// (TEST_MATCHED=devices) it must be kernels that serve them.
#include "emulated.hpp"
#include "graph_calls.hpp"
#include "matched_pairs.hpp"

using namespace mpi_test;

namespace {

/// What every byte of a rank's input is in a round.
int byte_of(int round, int rank) {
  return 1 + (round * 3 + rank) % 25;
}

#define CALL(name) STREAM_CALL(telpher_##name##_enqueue)

/// Every second word of the root's buffer.
void with_gaps(suite& s) {
  constexpr int rounds = 30, words = 500;
  const own_comm comm(s);
  const test_stream stream;
  bytes spread(words * 8, 0), dense(words * 4, 0), log(words * 4 * rounds, 0);
  MPI_Datatype every_second;
  MPI_Type_vector(words, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  for (int round = 0; round < rounds; ++round) {
    const bool gaps = s.rank == 1 && round >= 20;
    stream.set(spread.data(), s.rank == 1 ? byte_of(round, 1) : 0, words * 8);
    stream.set(dense.data(), s.rank == 1 ? byte_of(round, 1) : 0, words * 4);
    if (gaps)
      CALL(bcast)(spread.data(), 1, every_second, 1, comm, stream);
    else
      CALL(bcast)(dense.data(), words, MPI_INT, 1, comm, stream);
    stream.copy(log.data() + words * 4 * round, dense.data(), words * 4);
  }
  stream.wait();
  for (int round = 0; round < rounds; ++round)
    s.expect(log.all(byte_of(round, 1), static_cast<std::size_t>(words * 4 * round), words * 4),
             "what came");
  MPI_Type_free(&every_second);
}

/// An alltoall in which every second rank has every second word, on both sides or on one, from the
/// first call on.
class spread_rounds {
 public:
  spread_rounds(const suite& s, int n, int rounds)
      : n_(n),
        step_(s.rank % 2 == 0 ? 2 : 1),
        words_(s.ranks * n * step_),
        in_(static_cast<std::size_t>(words_) * 4, 0),
        out_(static_cast<std::size_t>(words_) * 4, 0),
        log_(static_cast<std::size_t>(words_ * rounds) * 4, 0) {
    MPI_Datatype plain;
    MPI_Type_vector(n, 1, step_, MPI_INT, &plain);
    MPI_Type_create_resized(plain, 0, MPI_Aint{n} * step_ * 4, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&plain);
  }
  ~spread_rounds() { MPI_Type_free(&type_); }
  spread_rounds(const spread_rounds&) = delete;
  spread_rounds& operator=(const spread_rounds&) = delete;

  void run(suite& s, int round, MPI_Comm comm, const test_stream& stream) const {
    stream.set(in_.data(), byte_of(round, s.rank), bytes_each());
    stream.set(out_.data(), 200 + round % 50, bytes_each());
    const int sent = spreads_input(round) ? 1 : n_, received = spreads_output(round) ? 1 : n_;
    s.expect_equal(CALL(alltoall)(in_.data(), sent, sent == 1 ? type_ : MPI_INT, out_.data(),
                                  received, received == 1 ? type_ : MPI_INT, comm, stream),
                   MPI_SUCCESS, "an alltoall with gaps");
    stream.copy(log_.data() + at(round), out_.data(), bytes_each());
  }
  bool right(int round) const {
    const std::vector<unsigned char> got = log_.read(at(round), bytes_each());
    const int step = spreads_output(round) ? step_ : 1, ranks = words_ / (n_ * step_);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const int word = static_cast<int>(i / 4);
      const bool came = word % step == 0 && word < ranks * n_ * step;
      const int expected = came ? byte_of(round, word / (n_ * step)) : 200 + round % 50;
      if (got[i] != static_cast<unsigned char>(expected)) return false;
    }
    return true;
  }

 private:
  static bool spreads_input(int round) { return round % 3 != 1; }
  static bool spreads_output(int round) { return round % 3 != 2; }
  std::size_t bytes_each() const { return static_cast<std::size_t>(words_) * 4; }
  std::size_t at(int round) const { return bytes_each() * static_cast<std::size_t>(round); }

  int n_, step_, words_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bytes in_, out_, log_;
};

/// So many calls in one stream, which is held from the `held`-th on: only kernels can serve these.
void with_gaps_in_a_stream(suite& s, int n, int rounds, int held) {
  const own_comm comm(s);
  const test_stream stream;
  gate g;
  const spread_rounds one(s, n, rounds);
  for (int round = 0; round < rounds; ++round) {
    if (round == held) stream.wait(), g.hold(stream);
    one.run(s, round, comm, stream);
  }
  g.open();
  stream.wait();
  for (int round = 0; round < rounds; ++round) s.expect(one.right(round), "what came in a round");
}

/// Two streams in turn, each with several calls behind one another.
void with_gaps_in_two_streams(suite& s) {
  constexpr int rounds = 60, ordered = 18;
  const own_comm comm(s);
  const test_stream streams[2];
  const spread_rounds a(s, 3000, rounds), b(s, 3000, rounds);
  for (int round = 0; round < rounds; ++round) {
    const bool second = round / 3 % 2 == 1;
    (second ? b : a).run(s, round, comm, streams[second]);
    if (round < ordered) streams[second].wait();
  }
  for (const test_stream& stream : streams) stream.wait();
  for (int round = 0; round < rounds; ++round)
    s.expect((round / 3 % 2 == 1 ? b : a).right(round), "what came in a round");
}

void with_gaps_in_a_graph(suite& s) {
  const own_comm comm(s);
  const test_stream stream;
  const spread_rounds one(s, 500, 3);
  one.run(s, 0, comm, stream);
  {
    graph g(stream);
    one.run(s, 1, comm, stream);
    s.expect(g.end(), "a graph with a collective with gaps");
    for (int launch = 0; launch < 5; ++launch) g.launch(stream);
    one.run(s, 2, comm, stream);
    stream.wait();
  }
  for (int round = 0; round < 3; ++round) s.expect(one.right(round), "what came in a round");
}

/// A gather to rank 1, or a scatter from it, with blocks of every second word at the root, which is
/// in place in every other round.
class rooted_rounds {
 public:
  rooted_rounds(suite& s, bool scatters) : s_(s), scatters_(scatters), comm_(s) {
    MPI_Datatype plain;
    MPI_Type_vector(words, 1, 2, MPI_INT, &plain);
    MPI_Type_create_resized(plain, 0, MPI_Aint{words} * 8, &spread_);
    MPI_Type_commit(&spread_);
    MPI_Type_free(&plain);
  }
  ~rooted_rounds() { MPI_Type_free(&spread_); }
  rooted_rounds(const rooted_rounds&) = delete;
  rooted_rounds& operator=(const rooted_rounds&) = delete;

  void run(int round) const {
    const bool in_place = s_.rank == root && round % 2 == 1;
    unsigned char* const to = log_.data() + at(round);
    if (scatters_) {
      for (int b = 0; b < s_.ranks; ++b)
        stream_.set(whole_.data() + block * as_size(b), byte_of(round, b), block);
      CALL(scatter)
      (whole_.data(), 1, spread_, in_place ? MPI_IN_PLACE : dense_.data(), words, MPI_INT, root,
       comm_, stream_);
      stream_.copy(to, in_place ? whole_.data() + block * root : dense_.data(), block / 2);
    } else {
      stream_.set(dense_.data(), byte_of(round, s_.rank), block / 2);
      stream_.set(whole_.data(), gap, bytes_each());
      if (in_place) stream_.set(whole_.data() + block * root, byte_of(round, root), block);
      CALL(gather)
      (in_place ? MPI_IN_PLACE : dense_.data(), words, MPI_INT, whole_.data(), 1, spread_, root,
       comm_, stream_);
      stream_.copy(to, whole_.data(), bytes_each());
    }
  }
  void check(int rounds) const {
    stream_.wait();
    for (int round = 0; round < rounds; ++round)
      if (scatters_)
        s_.expect(log_.all(byte_of(round, s_.rank), at(round), block / 2), "what came");
      else if (s_.rank == root)
        s_.expect(gathered(round), "what came, and what stayed between it");
  }

 private:
  static constexpr int words = 300, root = 1, gap = 200, most_rounds = 40;
  static constexpr std::size_t block = words * 8;
  static std::size_t as_size(int n) { return static_cast<std::size_t>(n); }
  std::size_t bytes_each() const { return block * as_size(s_.ranks); }
  std::size_t at(int round) const { return bytes_each() * as_size(round); }
  bool gathered(int round) const {
    const std::vector<unsigned char> got = log_.read(at(round), bytes_each());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const int of = static_cast<int>(i / block);
      const bool written = i / 4 % 2 == 0 || (of == root && round % 2 == 1);
      if (got[i] != static_cast<unsigned char>(written ? byte_of(round, of) : gap)) return false;
    }
    return true;
  }

  suite& s_;
  const bool scatters_;
  const own_comm comm_;
  const test_stream stream_;
  MPI_Datatype spread_ = MPI_DATATYPE_NULL;
  bytes whole_{bytes_each(), 0}, dense_{block / 2, 0}, log_{bytes_each() * most_rounds, 0};
};

void with_gaps_at_the_root(suite& s, bool scatters) {
  constexpr int rounds = 40;
  const rooted_rounds one(s, scatters);
  for (int round = 0; round < rounds; ++round) one.run(round);
  one.check(rounds);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  s.run("with gaps", [&] { with_gaps(s); });
  s.run("gaps from the first call on", [&] { with_gaps_in_a_stream(s, 3000, 30, -1); });
  if (by_devices()) {
    s.run("gaps, far ahead", [&] { with_gaps_in_a_stream(s, 3000, 120, 20); });
    s.run("gaps in two streams", [&] { with_gaps_in_two_streams(s); });
  }
  if (graph_calls()) s.run("gaps in a graph", [&] { with_gaps_in_a_graph(s); });
  for (const bool scatters : {false, true})
    s.run(scatters ? "scatter" : "gather", [&] { with_gaps_at_the_root(s, scatters); });
  return s.finish();
}
