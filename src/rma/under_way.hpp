// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets of a direct window that are under way. MPI_Put and MPI_Get ask the device's puller
// for their copies. It starts large ones at once and gathers small ones, so that one launch serves
// many. The calls that complete operations wait for them.
//
//   start()    MPI_Put, MPI_Get and their request forms. Of more than `most` the oldest is waited
//              for.
//   finish()   flush, flush_local, unlock, fence, complete, free. They call it before another rank
//              can learn of the end by a word of words.hpp, or from the program.
//   ended()    a request's check.
//   advance()  a progress pass. While a kernel of the puller has pieces that nobody has seen end,
//              messages may be gathered behind it, so the ends are looked for in each pass.
//
// Copies are numbered from 1 as they start. The list is in this order, and its front leaves first,
// so those up to `ended_` have ended. The list is used under the progress engine's lock. A copy
// needs no help of another rank, so nobody waits here for one that cannot move.
//
// The program keeps its buffers until then, as MPI demands; its types it may free, so none is kept.
// Copies are not ordered: MPI orders neither puts nor gets of an epoch, nor updates beside them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "datatype/move.hpp"
#include "memory/imported.hpp"
#include "path/puller.hpp"
#include "ticket/progress.hpp"

namespace telpher::rma {

class under_way final : public ticket::worker {
 public:
  static constexpr std::size_t most = 256;

  under_way() = default;
  ~under_way() override;

  /// Starts a copy and returns its number. not_supported: it must be made in the call.
  /// `mapping`: what keeps the peer's memory open, if the window does not; taken with ok. `answer`:
  /// where its outcome is told; without, finish() tells it. May throw std::bad_alloc.
  result<std::uint64_t> start(const datatype::elements& from, const datatype::elements& to,
                              memory::mapping& mapping, std::shared_ptr<status> answer);
  /// Waits for all that were started before. The first error that was not told yet.
  status finish(const char* call) noexcept;
  /// Looks once.
  bool ended(std::uint64_t number) noexcept;

  // --- as the progress engine sees it ---
  bool advance() noexcept override;
  bool detach() noexcept override { return true; }
  void report(log::level at) const noexcept override;

 private:
  struct moving {
    path::copy_job job;
    path::puller* by = nullptr;
    memory::buffer pinned;    // in place of host memory of the program
    void* to_host = nullptr;  // where the pinned bytes go in the end
    memory::mapping mapping;
    std::shared_ptr<status> answer;
  };
  void wait_for(std::uint64_t number, const char* call) noexcept;
  void wait_for_room();
  void end(moving& m, status s) noexcept;

  std::deque<moving> list_;
  std::uint64_t started_ = 0, ended_ = 0;
  status error_ = status::ok;
};

}  // namespace telpher::rma
