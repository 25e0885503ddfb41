// SPDX-License-Identifier: BSD-3-Clause
// ipc_put: the receiver names its memory in the slot, the sender's device writes into it. States
// claimed → put_asked → put_done → done, or refused, after which the receiver asks for staging.
#pragma once

#include "path/pull.hpp"
#include "path/table.hpp"
#include "path/segment.hpp"

namespace telpher::path {

/// The receiver's half. Answers not_supported when the sender cannot open the memory.
class put_wait final : public transfer {
 public:
  put_wait(segment& sender, slot& cell, std::uint32_t epoch,
           const exported_memory& target) noexcept;
  status poll() noexcept override;
  kind moved_by() const noexcept override { return kind::ipc_put; }

 private:
  segment& sender_;
  slot& cell_;
  std::uint32_t epoch_;
};

/// The sender's half; made when the state is put_asked. Leaves the state put_done, or put_asked
/// when poll answers an error: the offer refuses then.
class put_push final : public transfer {
 public:
  put_push(slot& cell, std::uint32_t epoch, const region& from, int receiver) noexcept;
  status poll() noexcept override;
  kind moved_by() const noexcept override { return kind::ipc_put; }

 private:
  status open(const region& from, int receiver) noexcept;

  slot& cell_;
  std::uint32_t epoch_;
  puller& puller_;
  memory::ipc_cache::mapping mapping_;
  copy_job job_;
  status opened_;
};

/// What the row of the table names.
status ask_for_put(receive_end& e) noexcept;
std::unique_ptr<transfer> push(const send_end& e) noexcept;

}  // namespace telpher::path
