// SPDX-License-Identifier: BSD-3-Clause
// The launch context that a call holds, and the run of its schedule in it: by one kernel
// (launch.hpp), or step by step by the host (stepped.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "coll/exchange/launch.hpp"
#include "coll/exchange/program.hpp"
#include "coll/exchange/selection.hpp"
#include "coll/exchange/stepped.hpp"
#include "coll/reduction.hpp"

namespace telpher::coll::exchange {

class execution {
 public:
  explicit execution(launch_context&& held) noexcept : context_(std::move(held)) {}
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;

  launch_context& context() noexcept { return context_; }

  /// Where a rank's memory lies, as it is mapped here.
  void place_workspace(int rank, std::byte* base) noexcept;
  void place_buffers(int rank, std::uint64_t input, std::uint64_t output) noexcept;

  /// What `t` refers to must live as long.
  status start(const run_terms& t) noexcept;
  /// would_block: it runs. After stop() it ends early.
  status poll() noexcept;
  void stop() noexcept;

  /// The peer whose signal is awaited. -1: this rank's kernel is.
  int awaited() const noexcept { return steps_ ? steps_->awaited() : -1; }
  bool by_steps() const noexcept { return steps_.has_value(); }

 private:
  status launch(const run_terms& t) noexcept;

  launch_context context_;
  space_map map_{};
  std::array<std::uint64_t*, most_ranks> kernel_flags_{};
  std::optional<compilation> compiled_;
  run run_;
  std::optional<stepped> steps_;
  bool stopped_ = false;
};

}  // namespace telpher::coll::exchange
