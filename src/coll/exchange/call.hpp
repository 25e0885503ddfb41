// SPDX-License-Identifier: BSD-3-Clause
// One collective call among the devices of a node, from its initiation to its end. It goes from
// step to step. A step never waits: whoever waits for the call polls advance(). All ranks decide by
// what all of them know, so all decide alike. On what only one rank can know (such as a failed
// mapping) they vote.
//
//   file                 steps
//   call.cpp             the rank proposes the devices or the host MPI; all proposals are read
//   call_workspaces.cpp  the ranks' workspaces are found, or made and mapped
//   call_packing.cpp     buffers with gaps are packed before the proposal, and unpacked at the end
//   call_choice.cpp      algorithm and transport are chosen, the program's buffers mapped
//   call_run.cpp         the schedule runs (execution.hpp)
//   call_library.cpp     or the vendor's library does the call
//   call_replay.cpp      or a replay is prepared, which streams start later (replay.hpp)
//
// A blocking call is its caller's. A non-blocking one is held by the program's request and by its
// communicator's queue (call_queue.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "coll/deferred_call.hpp"
#include "coll/exchange/arguments.hpp"
#include "coll/exchange/execution.hpp"
#include "coll/exchange/kept_arguments.hpp"
#include "coll/exchange/packed_copies.hpp"
#include "coll/exchange/replay.hpp"
#include "coll/exchange/selection.hpp"
#include "memory/allocations.hpp"

namespace telpher::coll::exchange {

class communicator;

class call final : public deferred_call {
 public:
  enum class form : std::uint8_t { blocking, nonblocking };  // as in agreement.hpp
  enum class outcome : std::uint8_t { pending, done, staged };

  /// `host` initiates a non-blocking call in the host MPI, staged. It keeps the arrays that the
  /// host MPI reads.
  call(const char* name, communicator& c, arguments&& a, form f, host_form&& host = {}) noexcept
      : deferred_call(name), c_(c), arguments_(std::move(a)), form_(f), host_(std::move(host)) {}

  /// The call's number in the communicator's agreement; before the first advance().
  void set_number(std::uint64_t number) noexcept { number_ = number; }
  std::uint64_t number() const noexcept { return number_; }

  /// Does what can be done now. staged: all ranks have agreed to stage it, or this one does.
  outcome advance() noexcept;
  /// Withdraws the proposal of a non-blocking call. False: all ranks have proposed the devices.
  bool withdraw() noexcept;
  /// From here on it runs among the devices at all ranks.
  bool committed() const noexcept { return committed_; }

  /// What ends a non-blocking call: its run on the devices, or its start in the host MPI.
  void end_on_devices() noexcept;
  void start_staged() noexcept;
  /// Of the run on devices.
  status result() const noexcept { return result_; }

  /// Before the first advance(): the call prepares a replay, which take_replay() returns when it
  /// is done.
  void prepare_replay(bool any_buffers) noexcept {
    facts_.replayed = true;
    facts_.any_buffers = any_buffers;
  }
  std::unique_ptr<kernel_replay> take_replay() noexcept { return std::move(replay_); }

  /// What it waits for, as a sentence after "until".
  void describe(char* text, std::size_t size) const noexcept;

 private:
  // After a step: go on with the next one, take the same one again later, or stop.
  enum class then : std::uint8_t { next, later, staged, done };
  using step_function = then (call::*)() noexcept;

  then begin() noexcept;
  then propose() noexcept;
  then leave_to_host() noexcept;
  then describe_and_propose() noexcept;
  then await_proposals() noexcept;

  bool pack() noexcept;
  then await_packing() noexcept;
  then unpack(status ran) noexcept;
  then poll_unpacking() noexcept;

  then make_workspace() noexcept;
  then map_workspaces() noexcept;
  then use_workspaces() noexcept;
  then discard_workspaces() noexcept;

  then describe_to_choose() noexcept;
  then choose() noexcept;
  then follow_choice() noexcept;
  then forget_choice() noexcept;
  then keep_mappings() noexcept;
  then choose_without_mappings() noexcept;

  then commit() noexcept;
  then poll_execution() noexcept;

  then make_room() noexcept;
  then open_rooms() noexcept;
  then keep_replay() noexcept;
  then drop_replay() noexcept;

  then open_library() noexcept;
  then join_library() noexcept;
  then poll_joining() noexcept;
  then go_without_library() noexcept;
  then poll_library() noexcept;

  then go(step_function next, const char* awaited) noexcept;
  /// Votes; when all ranks have, the call goes on with `if_all` if all said yes, else with
  /// `if_not`.
  then vote(bool good, step_function if_all, step_function if_not) noexcept;
  then await_votes() noexcept;
  then stage() noexcept;
  then end(status s) noexcept;
  void release() noexcept;

  bool eligible() noexcept;
  bool propose_number() noexcept;
  bool agree_on_number() noexcept;
  bool same_call() const noexcept;
  bool find_workspaces() noexcept;
  void compare_devices() noexcept;
  bool map_workspace(int rank) noexcept;
  bool delivers_lines() const noexcept;
  bool all_exportable() const noexcept;
  bool lost_mappings() noexcept;
  void forget_lost_mappings() noexcept;
  bool map_buffers(bool& fresh) noexcept;
  void place_buffers() noexcept;
  std::uint64_t volume() const noexcept { return exchange::volume(problem_, facts_.unit); }
  bool may_use_library() noexcept;
  status start_library() noexcept;
  status open_further_rooms() noexcept;
  bool may_open_later(std::uint64_t before) noexcept;
  status poll_steps() noexcept;
  bool peer_failed() noexcept;
  void explain() const noexcept;

  communicator& c_;
  arguments arguments_;
  form form_;
  host_form host_;
  std::uint64_t number_ = 0;

  step_function step_ = &call::begin;
  step_function if_all_ = nullptr, if_not_ = nullptr;  // after the vote
  const char* awaited_ = "has read the proposals of an earlier call";
  bool proposed_ = false;
  bool decided_ = false;
  bool committed_ = false;
  bool given_up_ = false;
  status result_ = status::ok;
  std::uint32_t polls_ = 0;

  memory::allocations::pause keeps_mappings_;
  problem problem_;
  facts facts_;
  choice chosen_;
  std::uint64_t signal_number_ = 0;  // call_number
  std::optional<execution> execution_;
  std::shared_ptr<packed_copies> packed_;  // on a stream of the execution's
  std::unique_ptr<kernel_replay> replay_;
  int rooms_open_ = 0, buffers_open_ = 0;  // of so many ranks
  std::uint64_t rooms_next_ns_ = 0, rooms_tried_ns_ = 0, rooms_changed_ns_ = 0, rooms_changes_ = 0;
};

}  // namespace telpher::coll::exchange
