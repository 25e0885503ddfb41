// SPDX-License-Identifier: BSD-3-Clause
// The receives that are under way: those whose message has not come, and those whose bytes are on
// their way. The list does not own them.
#pragma once

#include <span>
#include <vector>

#include "ticket/progress.hpp"
#include "ticket/receive.hpp"
#include "ticket/written_ranges.hpp"

namespace telpher::ticket {

class receive_list final : public worker {
 public:
  receive_list(peer_table& known, progress_engine& moved_by) noexcept
      : worker(moved_by), peers_(known) {}
  peer_table& peers() noexcept { return peers_; }

  /// A receive whose message may be a ticket: watched until it has settled.
  void watch(receive& r) noexcept;
  /// Asks for the message of a watched receive now, out of turn. `last`: see receive::check.
  void check(receive& r, bool last) noexcept;
  /// The same with one call of the host MPI for up to `at_once` receives. Some of them may have
  /// settled already. As with `last` in check(), the host MPI may end the requests, so the callers
  /// wait until all are done. True if every message is there.
  static constexpr std::size_t at_once = 64;
  bool conclude(std::span<receive* const> these) noexcept;
  /// A held receive (receive::hold) moves on like any other one.
  void resume(receive& r) noexcept;
  /// Ends the watch, whatever the phase.
  void forget(receive& r) noexcept;

  // --- what receives need of each other ---
  /// Where receives that have not settled write in host memory.
  written_ranges& written() noexcept { return written_; }
  /// Whether a receive may be posted in place where another one writes too. If true, no ticket can
  /// come for it until own().leave_shared_place() is called.
  bool enter_shared_place() noexcept {
    return peers_.all_near() && peers_.own().enter_shared_place();
  }
  /// To be called before the CPU writes to this range: calls receive::keep_ticket of posted
  /// receives if a ticket may lie there.
  void keep_tickets_in(const written_ranges::range& r) noexcept;
  /// A receive has stored `done` in a slot of this sender of the node. The sender's `answers` is
  /// increased at the end of the pass, once for all answers, because each access moves the cache
  /// line between the processors.
  void owe_ring(int world_rank) noexcept;
  void saw_ticket() noexcept { ++tickets_seen_; }

  void find(pass& p) noexcept override;
  bool advance() noexcept override;
  /// A receive that awaits its sender does not need this rank: the sender will see that it is
  /// blocked, and buffer the message. A stream of the sender's may wait for what this rank does
  /// behind the call for which it detaches.
  bool detach() noexcept override;
  void count(tally& t) const noexcept override;
  void report(log::level at) const noexcept override;

  // --- the end of the job ---
  std::size_t arriving() const noexcept {
    return copied_.size() + moving_.size() + unpacking_.size();
  }
  /// Asks for the messages of all posted receives.
  void check_all() noexcept;
  void leave_rest() noexcept;

 private:
  bool empty() const noexcept { return posted_.empty() && arriving() == 0; }
  bool scan(const pass& p) noexcept;
  void advance(linked_list<receive>& moving, std::size_t most_quiet) noexcept;

  peer_table& peers_;
  linked_list<receive> posted_;
  linked_list<receive> copied_;     // on their way, in order (transfer::in_order)
  linked_list<receive> moving_;     // on their way otherwise
  linked_list<receive> unpacking_;  // see receive::unpacking
  struct owed_rings {
    int world_rank;
    std::uint64_t count;
  };
  std::vector<owed_rings> owed_;
  written_ranges written_;
  bool thorough_ = false;         // of the pass that runs
  std::uint32_t full_scans_ = 0;  // still to be made for a bell that was heard
  int bells_heard_ = 0;           // between nodes
  std::uint64_t tickets_seen_ = 0;
  std::uint64_t last_rung_ = 0;
};

inline receive::receive(receive_list& all) noexcept : all_(all), peers_(all.peers()) {}

inline made_at_start<receive_list> the_receive_list;
inline receive_list& receives() noexcept {
  return *the_receive_list;
}

}  // namespace telpher::ticket
