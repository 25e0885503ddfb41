// SPDX-License-Identifier: BSD-3-Clause
// Carries commands that kernels of a rank give for ranks on other nodes, as messages of the host
// MPI. telpher/device_relay.h has the kernels' side: a queue of slots. A window that kernels use
// has a relay if it has ranks on other nodes, on a communicator of its ranks. All partitioned
// requests of a process share one relay (mpi/far_partitions.hpp), on a private communicator. One
// thread of the process serves all its relays.
//
// Protocol between ranks. A message of the tag `command` is a slot as the kernel wrote it: the
// command, then the bytes of a put. The rank that gets it gives the copies and writes that it asks
// for to one stream of its own, in the order in which commands come. So a signal is written after
// all that the same rank has put before. A get and a quiet are answered with the tag `answer` when
// the stream has come so far: a get by its bytes, a quiet by an empty message. Commands of one rank
// to another arrive in their order, and so do answers. A receive for an answer is posted before the
// command is sent. A rank that fails sends all others a command of no bytes. Then they fail too,
// and do not wait for its answers.
//
// Who touches what: for the queue see device_relay.h. Everything else in a relay belongs to the
// thread that calls serve(), except for three atomic words. `quiets_wanted_` is written by threads
// that call quiet() and read by the server. `quiets_done_` is written by the server (release: what
// was put before is in its place) and read by these threads. `broken_` is written by the server,
// and any thread may read it.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "base/stall_clock.hpp"
#include "host_mpi/host_mpi.hpp"
#include "memory/streams.hpp"

struct telpher_device_command;
struct telpher_device_queue;

namespace telpher::rma {

class relay {
 public:
  /// How ranks reach each other. Nobody else sends or receives by these tags on the communicator.
  struct wire {
    MPI_Comm comm = MPI_COMM_NULL;
    bool owned = true;  // is freed with the relay
    int command = 1;
    int answer = 2;
  };

  /// `what` is for the log. `base` is this rank's window memory, on the device `here`: places in
  /// commands are offsets from it. It is null if they are addresses, or if this rank exposes no
  /// memory. If make() fails, the communicator stays the caller's.
  static result<std::unique_ptr<relay>> make(const char* what, const wire& by,
                                             const memory::place& here, std::byte* base) noexcept;
  relay() = default;
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;
  ~relay();

  /// The queue, where kernels find it.
  telpher_device_queue* queue() const noexcept { return for_kernels_; }
  const memory::place& where() const noexcept { return here_; }

  /// One pass; false if nothing moved. By one thread at a time.
  bool serve() noexcept;
  /// Waits until everything that kernels of this rank have put is in its place; false if it may not
  /// be. The server must go on serving meanwhile.
  bool quiet(const char* call) noexcept;
  /// Collective, after quiet(): waits until the ranks need each other's relays no longer.
  void leave(const char* call) noexcept;
  /// No command of another rank is under way here.
  bool rests() const noexcept { return first_busy_ == next_arrival_; }
  /// The same, and the commands of the kernels here are done. Also true if the relay is broken. For
  /// the thread that serves it only.
  bool at_rest() const noexcept { return is_broken() || (first_ == next_ && rests()); }
  bool is_broken() const noexcept { return broken_.load(std::memory_order_relaxed); }

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
  std::byte* at(std::uint64_t place) const noexcept {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base_) + place);
  }
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

  const char* what_ = "";
  wire by_;
  int rank_ = 0;
  memory::place here_;
  std::byte* base_ = nullptr;
  memory::own_stream stream_;
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
  std::atomic<bool> broken_{false};  // written by the server
  stall_clock clock_;
};

/// The thread that serves relays.
namespace relays {
/// False if it cannot be started.
bool add(relay& r) noexcept;
/// When this returns, the thread does not use the relay any more.
void remove(relay& r) noexcept;
/// Kernels will give no more commands: the thread serves the relay until it is at rest, and then
/// forgets it. add() takes that back.
void retire(relay& r) noexcept;
/// Before the host MPI's end.
void stop() noexcept;
}  // namespace relays

}  // namespace telpher::rma
