// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives between nodes. Initiation is local: it puts the call into its
// communicator's queue, which the progress engine moves; the head alone uses the room. A rank may
// block in the host MPI at any time. It cannot move its part of a schedule there, although peers
// need it. So a call runs only if every rank has promised to move it to its end. The host MPI
// carries the promises, because it makes progress while a rank is blocked in it. All operations are
// on the room's communicator:
//
//   queued -> gathering  MPI_Ibarrier: it ends when all ranks have initiated the call
//          -> deciding   MPI_Iallreduce of the ranks' terms, least of all. A rank that can take
//                        part says yes when its barrier has ended, and no if it is about to block
//                        before that
//          -> making     all said yes and some rank has device memory: the first such call makes
//                        the room
//          -> planning   if the schedule had to be made: do all ranks have it?
//          -> equipping  the room's devices, with the first call that needs them
//          -> running    the schedule; a rank that is about to block finishes it first
//             or by_host the host MPI's own non-blocking call, staged: some rank said no, no rank
//                        has device memory, the room cannot be made, or no schedule fits
//          -> done       with an error, at all ranks, where one has no memory for its schedule
//
// Why no rank waits for one that cannot move: a rank that is about to block waits only for calls
// whose barrier has ended. All ranks have initiated such a call, and each says yes or no in its
// next call of MPI, before it blocks. A rank that said no knows the answer, so it starts the host's
// call at once. At all ranks the host MPI sees the operations of one call, then those of the next.
//
// A program may free its own MPI_Op when its call has returned. The host MPI must have such a call
// before that. So the rank says no to it at once, and to the calls before it that are still
// gathering. Types of the program are duplicated (exchange/kept_arguments.hpp).
//
// Programs with host memory do not pay for each call. Of an operation, calls 1, 2, 4, 8, … ask,
// until all could take part and some rank had device memory; from then on every call asks. Calls
// that do not ask are started in the host MPI when they come to the queue's head.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "coll/between/problems.hpp"
#include "coll/between/runner.hpp"
#include "coll/deferred_call.hpp"
#include "coll/exchange/kept_arguments.hpp"

namespace telpher::coll::between {

struct site;

/// The plan of a call that all ranks have agreed on.
struct planned {
  std::shared_ptr<const plan> made;  // none, at all ranks alike: no schedule fits
  bool to_vote = false;              // all ranks must say that they have it, before one begins
  bool here = false;                 // this one has
  std::uint64_t bytes = 0;           // of the longest vector
};
planned plan_of(const exchange::arguments& a, site& at, const terms& all, plan_form form) noexcept;

/// That call, for which there is a schedule.
call call_of(const char* name, const exchange::arguments& a, site& at, planned&& p,
             const terms& all, const coding& how) noexcept;

class crossing final : public deferred_call {
 public:
  /// `at` has a room.
  crossing(const char* name, site& at, exchange::arguments&& a, host_form&& host);

 private:
  friend class crossing_queue;
  enum class stage : std::uint8_t {
    queued,
    gathering,
    deciding,
    making,
    planning,
    equipping,
    running,
    by_host,
    done
  };

  void advance() noexcept;
  /// The rank is about to block: true if the call needs its help no more.
  bool detach() noexcept;
  void begin() noexcept;
  void promise(bool yes) noexcept;
  void decide() noexcept;
  void make_room() noexcept;
  void plan() noexcept;
  void see_plans() noexcept;
  void equip() noexcept;
  void run_planned() noexcept;
  void start_by_host() noexcept;
  void finish(status s) noexcept;
  bool ended(MPI_Request& r) noexcept;

  site& at_;
  room& room_;
  exchange::arguments arguments_;
  host_form host_;
  stage now_ = stage::queued;
  terms::words mine_{}, all_{};
  planned plan_;
  copies packed_;  // while it is not staged
  int has_plan_ = 0, all_have_plan_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Request gathered_ = MPI_REQUEST_NULL;  // the barrier, if the rank said no before it ended
  std::optional<runner> runs_;
};

/// The calls of a room that have not ended. Under the progress lock.
class crossing_queue final : public ticket::worker {
 public:
  crossing_queue() noexcept : worker(ticket::progress()) {}
  ~crossing_queue() override { retire(); }

  /// `at_once`: the host MPI has the call, or the call has ended, when this returns.
  void add(ticket::held_lock& held, std::shared_ptr<crossing> c, bool at_once);
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
