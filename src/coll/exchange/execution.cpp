// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/execution.hpp"

#include <algorithm>

#include "coll/exchange/workspace.hpp"

namespace telpher::coll::exchange {

void execution::place_workspace(int rank, std::byte* base) noexcept {
  const auto i = static_cast<std::size_t>(rank);
  workspace::place_in(map_[i], base);
  kernel_flags_[i] = workspace::flags_in(base);
}

void execution::place_buffers(int rank, std::uint64_t input, std::uint64_t output) noexcept {
  spaces& s = map_[static_cast<std::size_t>(rank)];
  s.input = input;
  s.output = output;
}

status execution::start(const run_terms& t) noexcept {
  compiled_.emplace(compilation{*t.chosen.plan, map_, t.unit, t.chosen.by == transport::packed});
  if (t.chosen.by != transport::stepped) return launch(t);
  steps_.emplace(*compiled_, t, context_);
  return status::ok;
}

status execution::launch(const run_terms& t) noexcept {
  std::vector<std::uint64_t>& words = t.chosen.program->words;
  TELPHER_TRY(compile(*compiled_, words));
  kernel::exchange& k = context_.parameters();
  k.epoch = t.number;
  k.packed_epoch = call_number::packed(t.number);
  k.me = static_cast<std::uint32_t>(t.rank);
  std::copy(kernel_flags_.begin(), kernel_flags_.end(), k.flags);
  const staying way = !t.small            ? staying::no
                      : compiled_->packed ? staying::packed
                                          : staying::with_flags;
  return run_.start(context_, t.reduce.body(), words, t.chosen.blocks, way,
                    t.chosen.program->pinned.data());
}

status execution::poll() noexcept {
  if (!steps_) return run_.poll();
  return stopped_ ? status::peer_lost : steps_->advance();
}

void execution::stop() noexcept {
  stopped_ = true;
  if (!steps_) run_.stop();
}

}  // namespace telpher::coll::exchange
