// SPDX-License-Identifier: BSD-3-Clause
// A graph that holds matched requests may be launched at any time, so as long as it lives nobody
// closes mappings of peers' memory. What the peer makes where freed memory lay is opened beside the
// former mapping, and goes by the devices as before (TEST_REOPENED=opened, which must be so); where
// the vendor refuses to open both, it is staged.
#include "graph_calls.hpp"
#include "matched_pairs.hpp"
#include "paths.hpp"

using namespace mpi_test;

namespace {

constexpr int n = 300000;  // by a mapping, not through an inbox

bool opens_both() {
  const char* const how = std::getenv("TEST_REOPENED");
  return how && std::string(how) == "opened";
}

void made_anew(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  pair p(s, peer, 1000, 1000);
  p.match();
  auto matched = p.both();
  graph g(stream);
  STREAM_CALL(telpher_startall_enqueue)(2, matched.data(), stream);
  STREAM_CALL(telpher_waitall_enqueue)(2, matched.data(), MPI_STATUSES_IGNORE, stream);
  s.expect(g.end(), "a graph with matched requests");
  std::string first;
  for (int round = 0; round < 6; ++round) {
    s.note("round %d", round);
    stream.set(p.out.data(), 10 * round + s.rank, 1000);
    g.launch(stream);
    const bytes out(n + 5000 * (round % 2), 100 + round + s.rank), in(n + 5000 * (round % 2), 0);
    MPI_Sendrecv(out.data(), out.count(), MPI_BYTE, peer, 1, in.data(), in.count(), MPI_BYTE, peer,
                 1, s.control, MPI_STATUS_IGNORE);
    s.expect(in.all(100 + round + peer), "a message in memory that was made anew");
    if (round == 0) first = last_path();
    if (opens_both()) s.expect(last_path() == first, "it goes as the first");
    stream.wait();
    s.expect(p.in.all(10 * round + peer), "what came in a replay");
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  if (graph_calls()) s.run("made anew", [&] { made_anew(s); });
  return s.finish();
}
