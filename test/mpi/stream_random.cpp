// SPDX-License-Identifier: BSD-3-Clause
// Random sequences of steps (stream_line.hpp) in two streams of one thread, with and without
// graphs, with ranks that are late.
#include "stream_line.hpp"

using namespace mpi_test;

namespace {

void sequence(suite& s, std::uint64_t seed, long steps, bool replays) {
  line a(s, steps, replays), b(s, steps, replays);
  random_numbers random(seed), late(seed * 31 + static_cast<std::uint64_t>(s.rank));
  for (long i = 0; i < steps; ++i) {
    s.note("step %ld of seed %llu", i, static_cast<unsigned long long>(seed));
    a.step(i, random);
    b.step(i, random);
    if (late.chance(3)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  a.wait();
  b.wait();
  a.check();
  b.check();
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  const long steps = s.opt.messages > 0 ? s.opt.messages : 150;
  for (std::uint64_t i = 0; i < 2; ++i)
    for (const bool replays : {true, false})
      s.run((replays ? "sequence/" : "without graphs/") + std::to_string(i),
            [&] { sequence(s, s.opt.seed + i, steps, replays); });
  return s.finish();
}
