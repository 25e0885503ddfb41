// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets of a direct window that are under way. MPI_Put and MPI_Get ask the device's copier
// for their copies. It starts large ones at once and gathers small ones, so that one launch serves
// many. The calls that complete operations wait for them.
//
//   start()    MPI_Put, MPI_Get and their request forms. Of more than `most` one is waited for.
//   finish()   flush, flush_local, unlock, fence, complete, free. They call it before another rank
//              can learn of the end by a word of words.hpp, or from the program.
//   ended()    a request's check.
//   advance()  a progress pass. While a kernel of the copier has pieces that nobody has seen end,
//              messages may be gathered behind it, so the ends are looked for in each pass.
//
// Each target has a list, so that who waits for one target waits for no other. Its copies are
// numbered from 1 as they start, and its front leaves first: those up to `ended` have ended. The
// lists are used under the progress engine's lock. A copy needs no help of another rank, so nobody
// waits here for one that cannot move.
//
// The program keeps its buffers until then, as MPI demands; its types it may free, so none is kept.
// Copies are not ordered: MPI orders neither puts nor gets of an epoch, nor updates beside them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "datatype/move.hpp"
#include "memory/imported.hpp"
#include "path/copier.hpp"
#include "ticket/progress.hpp"

namespace telpher::rma {

class under_way final : public ticket::worker {
 public:
  static constexpr std::size_t most = 256;

  /// For a request form. Until the program gives its request up, the request tells the outcome.
  struct answer {
    status outcome = status::would_block;
    bool given_up = false;
  };

  explicit under_way(int targets) : targets_(static_cast<std::size_t>(targets)) {}
  ~under_way() override;

  /// Starts a copy to or from the target's memory and returns its number there. not_supported: it
  /// must be made in the call. `mapping`: what keeps the peer's memory open, if the window does
  /// not; taken with ok. `told`: where its outcome goes; without, finish() tells it. May throw
  /// std::bad_alloc.
  result<std::uint64_t> start(int target, const datatype::elements& from,
                              const datatype::elements& to, memory::mapping& mapping,
                              std::shared_ptr<answer> told);
  /// Waits for all at the target that were started before; all targets if it is rma::everyone. The
  /// first error there that was not told yet.
  status finish(int target, const char* call) noexcept;
  /// Looks once.
  bool ended(int target, std::uint64_t number) noexcept;
  /// The request was freed: an error of its copy is told by finish().
  void give_up(int target, answer& told) noexcept;

  // --- as the progress engine sees it ---
  bool advance() noexcept override;
  bool detach() noexcept override { return true; }
  void report(log::level at) const noexcept override;

 private:
  struct moving {
    path::copy_job job;
    path::copier* by = nullptr;
    memory::buffer pinned;    // in place of host memory of the program
    void* to_host = nullptr;  // where the pinned bytes go in the end
    memory::mapping mapping;
    std::shared_ptr<answer> told;
  };
  struct list {
    std::deque<moving> copies;
    std::uint64_t started = 0, ended = 0;
    status error = status::ok;

    void end(moving& m, status s) noexcept;
    void fail(status s) noexcept {
      if (!failed(error)) error = s;
    }
  };
  list& at(int target) noexcept { return targets_[static_cast<std::size_t>(target)]; }
  path::copier::outlook outlook_for(std::size_t bytes) noexcept;
  void look() noexcept;
  void wait_for_room() noexcept;
  status finish_one(int target, const char* call) noexcept;

  std::vector<list> targets_;
  std::size_t count_ = 0;  // of copies that have not ended
  std::size_t run_ = 1;    // of copies that were under way together, the latest such run
};

}  // namespace telpher::rma
