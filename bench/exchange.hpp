// SPDX-License-Identifier: BSD-3-Clause
// What is timed: the iterations of each test between two ranks. The program's buffers are passed to
// MPI directly, or staged by hand through pinned host memory, as a user without a GPU-aware MPI
// does. The tests are those of the OSU micro-benchmarks:
//   latency    ping-pong of blocking sends; one way is half a round trip
//   multi_lat  the same on several pairs at once
//   bw         a window of non-blocking sends one way, then one small answer
//   bibw       the same both ways at once
//   mbw_mr     bw on several pairs of ranks at once
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "measure.hpp"
#include "stream.hpp"
#include "window_buffer.hpp"

namespace telpher::bench {

enum class test { latency, multi_lat, bw, bibw, mbw_mr };
inline constexpr test tests[] = {test::latency, test::multi_lat, test::bw, test::bibw,
                                 test::mbw_mr};

const char* name(test t) noexcept;
/// Whether the test is a ping-pong; its figure is a time.
constexpr bool one_at_a_time(test t) noexcept {
  return t == test::latency || t == test::multi_lat;
}
constexpr bool takes_pairs(test t) noexcept {
  return t == test::multi_lat || t == test::mbw_mr;
}

/// This rank's role. Leaders are the ranks below `pairs`, their peers are the next `pairs` ranks,
/// and the others take no part.
struct pairing {
  MPI_Comm comm = MPI_COMM_NULL;  // of the active ranks
  int rank = 0;
  int peer = 0;
  int pairs = 1;
  bool leads = false;
  bool active = false;
};
pairing pair_up(MPI_Comm comm, int pairs);
/// Collective over the communicator that was paired up. A rank that takes no part sleeps here:
/// polling would take a core from the ranks that are timed.
void part(MPI_Comm comm, pairing& pair);

struct shape {
  test what = test::latency;
  std::size_t bytes = 0;
  int window = 64;
  std::size_t window_memory = 0;  // upper limit for the slots of one side
  kind leader_kind = kind::host;
  kind peer_kind = kind::host;
  bool persistent = false;
  derived type;
  std::size_t stream_work = 0;  // bytes; of modes in a stream
};

class exchange final : public workload {
 public:
  exchange(memory_source& source, const pairing& pair, const shape& s, mode how);

  ~exchange() override;

  /// No barrier before or after.
  double run(long iterations, std::vector<double>* each) override;
  double run_checked(std::uint64_t seed, std::string& wrong) override;

  /// Messages of one iteration in one direction.
  int messages() const noexcept { return messages_; }

 private:
  bool sends() const noexcept { return send_ != nullptr; }
  bool receives() const noexcept { return receive_ != nullptr; }
  bool staged() const noexcept { return stage_ != nullptr; }
  void* send_address(int w) const { return staged() ? stage_->slot(w % depth_) : send_->slot(w); }
  void* receive_address(int w) const {
    return staged() ? stage_->slot(stage_offset_ + w % depth_) : receive_->slot(w);
  }
  std::vector<MPI_Request>& requests(bool sending) noexcept {
    return sending ? send_requests_ : receive_requests_;
  }

  void init_requests();
  void iterate();
  void ping_pong();
  void send_blocking();
  void receive_blocking();
  void pass_window(int messages);
  void post_send(int w);
  void post_receive(int w);
  void finish_receive(int w);

  memory_source& source_;
  pairing pair_;
  shape shape_;
  layout layout_;
  int messages_ = 1;
  int depth_ = 1;         // messages in flight in one direction, each in its own slot
  int stage_offset_ = 0;  // first receiving slot of stage_
  std::unique_ptr<window_buffer> send_, receive_, stage_;
  std::unique_ptr<stream> stream_;  // of modes in a stream
  bool enqueues_ = false;
  std::vector<MPI_Request> send_requests_, receive_requests_;
};

}  // namespace telpher::bench
