// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets of a direct window that are under way. MPI_Put and MPI_Get ask the device's copier
// for their copies. It starts large ones at once and gathers small ones, so that one launch serves
// many. The calls that complete operations wait for them.
//
//   start()    MPI_Put, MPI_Get and their request forms. While `most` copies are under way it
//              waits until one has ended.
//   finish()   flush, flush_local, unlock, fence, complete, free. They call it before another rank
//              can learn of the end by a word of words.hpp, or from the program.
//   ended()    a request's check.
//   advance()  a progress pass. It looks for ended copies even if no call waits for them: the
//              copier may hold back messages while one of its kernels has copies that nobody has
//              seen end.
//
// Each target has a list, so a call that waits for one target waits for no other. The copies of a
// list are numbered from 1 as they start, and leave the list in this order: those with numbers up
// to `ended` have ended. The lists are used under the progress lock. A copy needs no help
// of another rank, so no wait here depends on a rank that cannot make progress.
//
// MPI demands that the program keeps its buffers until the operation is complete. It may free the
// datatypes earlier, so none is kept here. Copies are not ordered: MPI orders neither puts and gets
// of an epoch, nor accumulates relative to them.
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

  explicit under_way(int targets)
      : worker(ticket::progress()), targets_(static_cast<std::size_t>(targets)) {}
  ~under_way() override { retire(); }

  /// Starts a copy to or from the target's memory and returns its number in the target's list.
  /// not_supported: the caller must make the copy itself before it returns. `mapping` keeps the
  /// peer's memory open if the window does not; it is moved from on success. `told` gets the
  /// outcome; if it is null, finish() returns the error. May throw std::bad_alloc.
  result<std::uint64_t> start(int target, const datatype::elements& from,
                              const datatype::elements& to, memory::mapping& mapping,
                              std::shared_ptr<answer> told);
  /// Waits for all copies at the target that were started before; at all targets if it is
  /// rma::everyone. Returns the first error there that was not reported yet.
  status finish(int target, const char* call) noexcept;
  /// Whether the copy with this number has ended. Does not wait.
  bool ended(int target, std::uint64_t number) noexcept;
  /// The request was freed: finish() reports an error of its copy.
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
  std::size_t run_ = 1;    // of copies since none was under way: the latest run of them
};

}  // namespace telpher::rma
