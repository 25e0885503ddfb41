// SPDX-License-Identifier: BSD-3-Clause
// What kernels of a rank ask of ranks on other nodes (telpher/device_relay.h has their side of the
// queue), carried by messages on a communicator of the window's ranks. One thread of the process
// serves the relays of all its windows.
//
// Protocol between ranks. A message of tag `command_tag` is a slot as the kernel wrote it: the
// command, then the bytes of a put. The rank that gets it passes what it asks for to one stream of
// its own, in the order in which commands come. So a signal is written behind all that the same
// rank has put before. A get, and a quiet, are answered with tag `answer_tag` when the stream has
// come so far: by the bytes, or by none. Commands of one rank to another arrive in their order, and
// so do answers; a receive for an answer is posted before the command is sent. A rank that fails
// sends all others a command of no bytes, and they fail too: nobody waits for its answers.
//
// Who touches what: the queue, see device_relay.h. Everything else in a relay belongs to the thread
// that calls serve(), but for `quiets_wanted_` (written by who calls quiet(), read by the server)
// and `quiets_done_` (the other way round, release: what was put before is in its place).
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "host_mpi/host_mpi.hpp"
#include "memory/streams.hpp"
#include "stream/waiting.hpp"

struct telpher_device_command;
struct telpher_device_queue;

namespace telpher::rma {

class relay {
 public:
  /// `base`: this rank's window memory, which lies at `here`; null if it exposes none. Takes the
  /// communicator over, and gives it back if it fails.
  static result<std::unique_ptr<relay>> make(MPI_Comm& comm, const memory::place& here,
                                             std::byte* base) noexcept;
  relay() = default;
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;
  ~relay();

  /// The queue, where kernels find it.
  telpher_device_queue* queue() const noexcept { return for_kernels_; }

  /// One pass; false if nothing moved. By one thread at a time.
  bool serve() noexcept;
  /// Everything that kernels of this rank have put is in its place; false if it may not be. The
  /// server serves meanwhile.
  bool quiet(const char* call) noexcept;
  /// Collective, behind quiet(): the ranks need each other's relays no longer.
  void leave(const char* call) noexcept;
  /// Nothing of another rank is under way here.
  bool rests() const noexcept { return first_busy_ == next_arrival_; }
  bool is_broken() const noexcept { return broken_; }

 private:
  struct slot {
    std::vector<MPI_Request> requests;
    bool answers = false;  // a get or a quiet
    bool answered = false;
  };
  struct arrival {
    std::byte* message = nullptr;
    MPI_Request request = MPI_REQUEST_NULL;  // its receive, then its answer
    memory::pooled_event written;
    int source = -1;
    bool replies = false;
  };

  status prepare() noexcept;
  telpher_device_command* command_at(std::uint64_t number) const noexcept;
  bool take_commands() noexcept;
  void begin(std::uint64_t number) noexcept;
  void ask_for_quiet(telpher_device_command* c, std::vector<MPI_Request>& requests) noexcept;
  bool advance_commands() noexcept;
  bool advance_quiets() noexcept;
  bool take_arrivals() noexcept;
  status carry_out(arrival& a) noexcept;
  bool advance_arrivals() noexcept;
  void receive_next(arrival& a) noexcept;
  bool all_complete(std::vector<MPI_Request>& requests) noexcept;
  bool check(int code, const char* what) noexcept;
  void fail(const char* what) noexcept;
  void warn_if_stalled(bool moved) noexcept;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  memory::place here_;
  std::byte* base_ = nullptr;
  device::stream stream_;
  memory::buffer queue_;  // of device memory
  telpher_device_queue* for_kernels_ = nullptr;
  std::byte* pinned_ = nullptr;  // `freed`, the slots, the messages that arrive
  std::uint64_t* freed_ = nullptr;
  std::byte* slots_ = nullptr;

  std::uint64_t next_ = 0;   // the number of the next command to read
  std::uint64_t first_ = 0;  // the first whose slot is in use
  std::vector<slot> in_use_;
  std::deque<std::uint64_t> unanswered_;
  std::vector<bool> put_to_;  // since the last quiet, by rank
  std::vector<MPI_Request> quiet_;
  std::vector<arrival> arrivals_;
  std::size_t next_arrival_ = 0, first_busy_ = 0;  // counts; modulo their number
  std::atomic<std::uint64_t> quiets_wanted_{0}, quiets_done_{0};
  std::uint64_t quiet_under_way_ = 0;
  bool broken_ = false;
  stream::warning_clock clock_;
};

/// The thread that serves relays.
namespace relays {
/// False if it cannot be started.
bool add(relay& r) noexcept;
/// When it returns the thread does not use it any more.
void remove(relay& r) noexcept;
/// Before the host MPI's end.
void stop() noexcept;
}  // namespace relays

}  // namespace telpher::rma
