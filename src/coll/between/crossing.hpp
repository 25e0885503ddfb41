// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives between nodes. Initiation is local: it puts the call into its
// communicator's queue, which the engine's progress moves; the head alone uses the room. A rank may
// block in the host MPI at any time, where it cannot move its part of a schedule, while peers need
// it. So a call runs only if every rank has promised to move it to its end, and the host MPI, which
// goes on while a rank is blocked, carries the promises. All of it on the room's communicator:
//
//   queued -> gathering  MPI_Ibarrier: it ends when all ranks have initiated the call
//          -> deciding   MPI_Iallreduce of "I promise", least of all. A rank says yes when its
//                        barrier has ended, and no if it is about to block before that
//          -> running    all said yes: the schedule; whoever is about to block finishes it first
//             or by_host somebody said no: the host MPI's own non-blocking call, on host copies
//          -> done
//
// Why nobody waits for a rank that cannot move: a rank waits before it blocks only once its barrier
// has ended. Then all ranks have initiated the call, and each says yes or no in its next call of
// MPI, before it blocks. Who said no starts the host's call at once, for it knows the answer. The
// host MPI sees the same operations in the same order at all ranks: those of one call, then those
// of the next.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "coll/between/runner.hpp"

namespace telpher::coll::between {

class crossing {
 public:
  /// What the host MPI needs if the call is its own.
  struct host_terms {
    int count;
    MPI_Datatype type;
    MPI_Op op;
    bool in_place;
    std::uint64_t bytes;
    bool able;  // this rank can run the schedule
  };
  crossing(room& r, call&& c, const host_terms& host)
      : name_(c.name), room_(r), call_(std::move(c)), host_(host) {}

  bool done() const noexcept { return now_ == stage::done; }
  const char* name() const noexcept { return name_; }
  status outcome() const noexcept { return outcome_; }

 private:
  friend class crossing_queue;
  enum class stage : std::uint8_t { queued, gathering, deciding, running, by_host, done };

  void advance() noexcept;
  /// The rank is about to block: true if the call needs its help no more.
  bool detach() noexcept;
  void begin() noexcept;
  void promise(bool yes) noexcept;
  void start() noexcept;
  void start_by_host() noexcept;
  status call_host() noexcept;
  void end(status s) noexcept;
  bool ended(MPI_Request& r) noexcept;

  const char* name_;
  room& room_;
  call call_;
  host_terms host_;
  stage now_ = stage::queued;
  status outcome_ = status::ok;
  int mine_ = 0, all_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Request gathered_ = MPI_REQUEST_NULL, vote_ = MPI_REQUEST_NULL;  // of one left to the host
  std::unique_ptr<runner> runs_;
  memory::buffer image_in_, image_out_;
};

/// The calls of a room that have not ended. Under the engine's lock.
class crossing_queue final : public ticket::worker {
 public:
  ~crossing_queue() override;

  void add(std::shared_ptr<crossing> c);
  /// No call uses the room, or waits for it.
  bool empty() const noexcept { return waiting_.empty(); }
  /// The host MPI has none either.
  bool settled() const noexcept { return waiting_.empty() && by_host_.empty(); }

  bool advance() noexcept override;
  bool detach() noexcept override;
  void report(log::level at) const noexcept override;

 private:
  bool pop_head() noexcept;

  std::deque<std::shared_ptr<crossing>> waiting_;
  std::vector<std::shared_ptr<crossing>> by_host_;
};

}  // namespace telpher::coll::between
