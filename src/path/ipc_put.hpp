// SPDX-License-Identifier: BSD-3-Clause
// ipc_put: the receiver describes its memory in the slot, and the sender's device writes into it.
// States claimed → put_asked → put_done → done. After refused the receiver asks for staging.
#pragma once

#include "path/copier.hpp"
#include "path/exported.hpp"
#include "path/table.hpp"
#include "path/segment.hpp"

namespace telpher::path {

/// The receiver's half. poll returns not_supported if the sender cannot open the memory.
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

/// The sender's half; made when the state is put_asked. Sets the state put_done. If poll returns an
/// error, the state is still put_asked and the sender then refuses.
class put_copy final : public transfer {
 public:
  put_copy(slot& cell, std::uint32_t epoch, const region& from, int receiver) noexcept;
  status poll() noexcept override;
  kind moved_by() const noexcept override { return kind::ipc_put; }

 private:
  status open(const region& from, int receiver) noexcept;

  slot& cell_;
  std::uint32_t epoch_;
  copier& copier_;
  memory::mapping mapping_;
  copy_job job_;
  status opened_;
};

}  // namespace telpher::path
