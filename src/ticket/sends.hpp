// SPDX-License-Identifier: BSD-3-Clause
// The sends by ticket that are under way. A send stays in the list until it has retired. It is
// destroyed once the caller has released it, too.
#pragma once

#include <memory>

#include "ticket/send.hpp"
#include "ticket/progress.hpp"

namespace telpher::ticket {

class send_list final : public worker {
 public:
  send_list(peer_table& known, progress_engine& moved_by) noexcept
      : worker(moved_by), peers_(known) {}
  peer_table& peers() noexcept { return peers_; }

  /// Adds a send whose ticket has been sent.
  void add(std::unique_ptr<send> o) noexcept;
  /// The caller will not use the send again.
  void release(send& o) noexcept;
  /// See send::end_copy.
  void end_copy(send& o, status copied) noexcept;
  /// See send::hasten.
  void hasten(send& o) noexcept;

  /// When this rank last saw that a receiver of this node had answered one of its messages.
  std::uint64_t last_answer_ns() const noexcept { return last_answer_ns_; }
  /// Whether a message is being staged although its receiver may be about to claim it. There is at
  /// most one at a time: the receivers of the others may come meanwhile and save the extra copy.
  bool copies_ahead() const noexcept { return copied_ahead_ != nullptr; }
  void note_copied_ahead(const send& o) noexcept { copied_ahead_ = &o; }
  void note_copied(const send& o) noexcept {
    if (copied_ahead_ == &o) copied_ahead_ = nullptr;
  }

  void find(pass& p) noexcept override;
  bool advance() noexcept override { return !sends_.empty(); }
  bool detach() noexcept override;
  void count(tally& t) const noexcept override { t.sends += sends_.size(); }
  void report(log::level at) const noexcept override;

  // --- the end of the job ---
  void look_at_all() noexcept { busy_ = true; }
  /// See send::copying.
  bool copying() noexcept;
  /// Adds send::unasked_messages of each send to the count of its receiver.
  void add_unasked(std::vector<int>& messages) noexcept;
  /// Leaves slots and requests of what nobody receives to the end of the job, as the host MPIs
  /// leave their own sends.
  void leave_rest() noexcept;

 private:
  bool patience_is_over(std::uint64_t now) const noexcept;
  void drop(send& o) noexcept;

  peer_table& peers_;
  linked_list<send> sends_;  // owned
  std::uint64_t last_answers_ = 0;
  std::uint64_t last_answer_ns_ = 0;
  bool busy_ = false;  // a send has work of its own
  const send* copied_ahead_ = nullptr;
};

inline made_at_start<send_list> the_send_list;
inline send_list& sends() noexcept {
  return *the_send_list;
}

}  // namespace telpher::ticket
