// SPDX-License-Identifier: BSD-3-Clause
// How everything is timed: equal batches of iterations. The batches of all contenders take turns,
// so that disturbances of the machine affect all of them. The median and the best batch are
// reported. What is timed is a workload: an exchange between pairs of ranks, or a collective.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace telpher::bench {

/// `enqueued` and `by_hand` run in a stream: by calls that enqueue, or by a wait for the stream
/// before MPI's ordinary call.
/// What else stands beside a test: `messages` for one-sided communication and neighbourhoods, a
/// plain `copy` for packing, faces `packed` by the program, files from and to `host` memory.
enum class mode { telpher, staged, nccl, enqueued, by_hand, messages, copy, packed, host };
constexpr bool in_stream(mode m) noexcept {
  return m == mode::enqueued || m == mode::by_hand;
}
const char* name(mode m) noexcept;

enum class checking { none, once, every };

struct plan {
  int batches = 11;
  long iterations = 0;     // total for each size and mode; 0: as many as min_time allows
  long warm_up = -1;       // -1: a tenth of min_time
  double min_time = 0.25;  // seconds of timed iterations for each size and mode
  checking check = checking::none;
  std::vector<double> percentiles;  // of single iterations; empty: they are not timed one by one
};

/// What is measured, on this rank, as repeated iterations. All ranks of a measurement make the same
/// calls.
class workload {
 public:
  virtual ~workload() = default;
  /// Returns the seconds that the iterations took on this rank; appends those of each iteration to
  /// `each` if it is not null.
  virtual double run(long iterations, std::vector<double>* each) = 0;
  /// Runs one iteration with patterns of `seed` and checks every received byte. Returns its
  /// seconds; `wrong` is empty if all was right.
  virtual double run_checked(std::uint64_t seed, std::string& wrong) = 0;
};

/// The ranks of a measurement, and which ranks' seconds count.
struct observers {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int counted = 1;      // how many ranks' seconds are averaged
  bool counts = false;  // whether this rank's seconds count
  int path_from = 0;    // the rank that knows by which path messages came; -1: none
};

struct contender {
  mode how;
  std::unique_ptr<workload> work;
};

/// Seconds per iteration; the same on all ranks.
struct timing {
  double median = 0;
  double best = 0;
  double fastest_rank = 0, slowest_rank = 0;  // of the ranks that count, over all batches
  long iterations = 0;
  std::vector<double> percentiles;  // of the slowest rank's iterations
  std::string path = "-";
  bool checked = false;
  bool right = true;
};

/// Collective over the observers.
std::vector<timing> take_turns(const observers& who, std::vector<contender>& contenders,
                               const plan& p);

double median(std::vector<double> values);

/// The seconds of `iterations` calls of `each`; also one by one if `samples` is not null.
template <class Each>
double time_all(long iterations, std::vector<double>* samples, Each&& each) {
  const double start = MPI_Wtime();
  if (!samples) {
    for (long i = 0; i < iterations; ++i) each();
    return MPI_Wtime() - start;
  }
  double before = start;
  for (long i = 0; i < iterations; ++i) {
    each();
    const double after = MPI_Wtime();
    samples->push_back(after - before);
    before = after;
  }
  return before - start;
}

}  // namespace telpher::bench
