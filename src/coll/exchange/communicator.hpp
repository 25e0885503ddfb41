// SPDX-License-Identifier: BSD-3-Clause
// What is kept for a communicator whose collectives may run among devices: the lines of agreement,
// which workspaces and which of the program's allocations all ranks have mapped, and the calls that
// were initiated and have not ended. It keeps no device memory, because workspaces belong to launch
// contexts. Made at the first collective on the communicator, by all its ranks together; gone with
// MPI_Comm_free. One thread at a time uses it, as MPI demands of collectives on one communicator.
// While non-blocking calls are under way the progress engine uses it, under its lock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <memory>
#include <vector>

#include "coll/exchange/agreement.hpp"
#include "coll/exchange/call_queue.hpp"
#include "coll/exchange/known_allocations.hpp"
#include "coll/exchange/selection.hpp"
#include "coll/exchange/program.hpp"
#include "coll/exchange/stepped.hpp"
#include "coll/exchange/workspace.hpp"
#include "coll/explanations.hpp"
#include "coll/vendor/communicator.hpp"
#include "host_mpi/host_mpi.hpp"
#include "host_mpi/lifetime.hpp"
#include "memory/imported.hpp"
#include "path/matched_room.hpp"
#include "ticket/progress.hpp"

namespace telpher::coll::exchange {

/// A rank's part of the communicator's shared memory; in the rank's segment.
struct shared_part {
  agreement_line line;
  step_flags flags;
  std::atomic<bool> released{false};  // of a channel, at this rank
};

class communicator {
 public:
  /// The state of a communicator, made at first use (collective then). Null where its collectives
  /// never run among devices: an intercommunicator, ranks outside the job, one rank or too many,
  /// several nodes. Returns when the state is made and the non-blocking calls have ended.
  static communicator* ready(MPI_Comm comm) noexcept {
    return last_.serves(comm) ? last_.found : ready_slow(comm);
  }
  /// True only if it is ready; looks only at what ready() has found last.
  static bool surely_ready(MPI_Comm comm) noexcept { return last_.serves(comm) && last_.found; }
  /// The same without waiting. It may not be usable yet (joined()).
  static communicator* get(MPI_Comm comm) noexcept;
  /// A state of its own for a persistent collective, whose rounds are its calls. Ranks may start
  /// such requests in any order, so each needs an agreement of its own. Collective, without
  /// waiting. The number of channels is bounded. Null: there is none, or not all ranks `wanted` it.
  static communicator* channel(MPI_Comm comm, bool wanted) noexcept;
  /// The channel's request has been freed at this rank.
  void release() noexcept;
  /// Whether its kind and size are such that collectives may run among devices. Also returns both.
  static bool may_serve(MPI_Comm comm, int& size, int& own_rank) noexcept;
  /// Before a non-blocking collective that goes to the host MPI without asking: starts there those
  /// calls on the communicator that are not decided yet.
  static void keep_order(MPI_Comm comm) noexcept;
  /// Collective, before the communicator is freed.
  static void forget(MPI_Comm comm) noexcept;
  /// When the job starts, before any other.
  static void start() noexcept;
  /// Collective over the job: gives all back.
  static void shut_down() noexcept;

  communicator(MPI_Comm c, int size, int own_rank) noexcept
      : comm(c), ranks(size), rank(own_rank), calls(*this) {}
  ~communicator();

  /// Whether the state has been made, or has turned out not to be possible (phase::absent).
  bool joined() noexcept;
  /// A non-blocking call is left to the host MPI.
  void decline(std::uint64_t call) noexcept;

  enum class phase {
    joining,   // the host MPI is passing the cards
    absent,    // some rank could not join: treated as if there were no state
    fresh,     // no workspace mapped yet
    ready,     // all ranks have mapped workspaces of all
    unusable,  // some rank could not, several times: always staged
  };

  MPI_Comm comm;
  int ranks;
  int rank;
  std::vector<int> world;  // world ranks
  agreement protocol;
  phase state = phase::joining;
  memory::place where;          // this rank's device, once ready
  bool may_wait = false;        // kernels may wait for peers, on the devices of all ranks
  bool delivers_lines = false;  // every rank's device delivers lines to those of all
  bool takes_turns = false;     // ranks' processes share a device that runs one of them at a time
  bool shares_devices = false;  // two ranks have the same device
  int library_calls = 0;        // that the vendor's library might have made faster
  bool library_absent = false;  // all ranks know that the vendor's library is of no use
  bool library_failed = false;  // in a call, at this rank
  vendor::communicator library;
  workspace_kind kind = workspace::first_kind();
  int refusals = 0;  // calls in which some rank could not map the workspaces
  std::array<step_flags*, most_ranks> step_flags_of{};
  std::array<const std::atomic<bool>*, most_ranks> released_of{};

  std::array<known_workspaces, most_ranks> workspaces;

  known_allocations known;
  chooser choices;
  explanations explained;
  call_queue calls;
  /// Rooms of a channel's replay, to which peers may signal until all have released the channel.
  std::vector<std::shared_ptr<path::matched_room>> rooms;

 private:
  // What a rank tells the others when they make the state. It names channels of the same ranks that
  // it has retired: it looks at the others' parts of them no more. Ranks free their requests at
  // different times, so the parts of a channel are given back when all have named it.
  struct card {
    static constexpr std::size_t most_retired = 16;
    std::uint64_t part_at;
    std::uint64_t willing;
    std::uint64_t number;                 // of its parts, from 1; that of rank 0 names the state
    std::uint64_t retired[most_retired];  // names of channels; 0: none
    bool names(std::uint64_t channel) const noexcept {
      return std::find(std::begin(retired), std::end(retired), channel) != std::end(retired);
    }
  };

  // What ready() has found last, for programs that use one communicator again and again. It holds
  // until a communicator is freed, and is used only if one thread calls MPI.
  struct remembered {
    bool any;
    MPI_Comm comm;
    communicator* found;  // null: its collectives never run among devices
    unsigned ended;       // communicators that had ended then
    bool serves(MPI_Comm c) const noexcept {
      return any && comm == c && ended == host_mpi::lifetime::ended() &&
             (!found || found->calls.empty());
    }
  };
  static inline constinit remembered last_{};

  [[gnu::noinline]] static communicator* ready_slow(MPI_Comm comm) noexcept;
  static communicator* find(MPI_Comm comm, bool& known) noexcept;
  static std::unique_ptr<communicator> make(MPI_Comm comm, bool willing);
  bool take_part(bool willing) noexcept;
  std::uint64_t name() const noexcept { return cards_[0].number; }
  /// Of a channel: this rank looks at the others' parts no more.
  bool retired() const noexcept;
  void name_retired() noexcept;
  void drop_what_all_have_retired() const noexcept;
  bool all_willing() const noexcept;
  bool link() noexcept;
  void give_part() noexcept;
  shared_part* own_part() const noexcept;
  /// Whether the state is made and no rank will look at what this one shares.
  bool unseen() const noexcept;
  bool all_released() const noexcept;
  void settle() noexcept;

  ticket::progress_engine& progress_ = ticket::progress();
  ticket::peer_table& peers_ = ticket::peers();
  std::uint64_t part_at_ = 0;
  bool has_part_ = false;
  bool released_ = false;
  MPI_Request join_request_ = MPI_REQUEST_NULL;
  card card_{};
  std::vector<card> cards_;
};

}  // namespace telpher::coll::exchange
