// SPDX-License-Identifier: BSD-3-Clause
// A collective as a workload: the program's buffers passed to MPI directly, staged by hand through
// pinned host memory, by NCCL, or, of a neighbourhood, by messages to and from each neighbour. Each
// call is timed with a barrier before it, as in OSU's benchmarks. For non-blocking collectives also
// how much of the time is hidden by computing.
#pragma once

#include "figure.hpp"
#include "memory.hpp"
#include "nccl.hpp"
#include "stream.hpp"
#include "window_buffer.hpp"

namespace telpher::bench {

struct collective_shape {
  const collective* which = nullptr;
  form how = form::blocking;
  element type{};
  MPI_Op op = MPI_SUM;
  std::size_t bytes = 0;  // of one block, or of the whole vector of a reduce-scatter
  int root = 0;
  kind own_kind = kind::host;
  MPI_Comm comm = MPI_COMM_NULL;  // for the calls; of the neighbourhood, if any
  grid around;
  int test_calls = 0;           // while computing
  std::size_t stream_work = 0;  // bytes; of modes in a stream, and beside a non-blocking call
};

/// Work for a rank to do while a call runs. It does not read the clock meanwhile.
class computing {
 public:
  computing();
  void run(double seconds);

 private:
  double loops_per_second_;
};

class collective_work final : public workload {
 public:
  /// If `how` is staged, `source` makes the copies. `other` is used for NCCL's calls only.
  collective_work(memory_source& source, const collective_shape& s, mode how, nccl* other);
  ~collective_work() override;

  double run(long iterations, std::vector<double>* each) override;
  double run_checked(std::uint64_t seed, std::string& wrong) override;

  struct overlapped {
    double seconds = 0;  // start, compute, wait
    double computed = 0;
  };
  /// For non-blocking collectives: means of this rank.
  overlapped run_overlapped(long iterations, computing& work, double seconds);

  const data_plan& data() const noexcept { return plan_; }

 private:
  void once();
  double run_in_stream(long iterations);
  overlapped run_beside_device(long iterations, double seconds);
  void begin();
  void post_messages();
  void end();
  std::unique_ptr<window_buffer> make(kind k, int blocks, bool significant);

  memory_source& source_;
  collective_shape shape_;
  mode how_;
  nccl* nccl_;
  data_plan plan_;
  arguments call_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::vector<MPI_Request> messages_;  // of mode messages
  std::unique_ptr<window_buffer> send_, receive_, staged_send_, staged_receive_;
  std::unique_ptr<stream> stream_;  // of modes in a stream
  bool copies_in_, copies_out_;     // copy send_ in (receive_ if it serves both), receive_ out
};

/// Collective over shape.comm. Returns the figures of each mode, the same on all ranks.
std::vector<figure> measure(memory_source& source, const collective_shape& s,
                            const std::vector<mode>& modes, nccl* other, const plan& p);

}  // namespace telpher::bench
