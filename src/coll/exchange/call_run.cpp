// SPDX-License-Identifier: BSD-3-Clause
// The last steps of a call: from here on every rank runs it among the devices, whatever happens.
#include "base/settings.hpp"
#include "coll/exchange/call.hpp"
#include "coll/exchange/communicator.hpp"

namespace telpher::coll::exchange {

call::then call::commit() noexcept {
  if (!chosen_) return stage();
  c_.protocol.finish();
  committed_ = true;
  explain();
  if (chosen_.by == transport::vendor) {
    const status s = start_library();
    return s == status::ok ? go(&call::poll_library, "has ended the library's call") : end(s);
  }
  place_buffers();
  // A kernel that stays runs in another stream than the packing.
  const bool packed = !packed_ || packed_->poll() == status::ok;
  const status s = execution_->start({.chosen = chosen_,
                                      .where = arguments_.where,
                                      .reduce = arguments_.reduce,
                                      .unit = facts_.unit,
                                      .number = signal_number_,
                                      .rank = c_.rank,
                                      .small = volume() <= config().coll_linger_limit && packed,
                                      .step_flags_of = c_.step_flags_of});
  if (s != status::ok) return end(s);
  return go(&call::poll_execution,
            execution_->by_steps() ? "has signalled" : "has ended its kernel");
}

void call::place_buffers() noexcept {
  for (int r = 0; r < c_.ranks && chosen_.mapped; ++r) {
    if (r == c_.rank) continue;
    const description& d = c_.protocol.description_of(r);
    execution_->place_buffers(r, d.has_input ? c_.known.address_of(r, d.input) : 0,
                              d.has_output ? c_.known.address_of(r, d.output) : 0);
  }
  execution_->place_buffers(c_.rank, reinterpret_cast<std::uintptr_t>(arguments_.input),
                            reinterpret_cast<std::uintptr_t>(arguments_.output));
}

call::then call::poll_execution() noexcept {
  if (!given_up_ && peer_failed()) {
    execution_->stop();
    given_up_ = true;
  }
  const status s = execution_->by_steps() ? poll_steps() : execution_->poll();
  if (s == status::would_block) return then::later;
  return unpack(given_up_ ? status::peer_lost : s);
}

/// Steps use the copier, as messages do: hold the progress lock.
status call::poll_steps() noexcept {
  const auto held = ticket::progress().lock();
  return execution_->poll();
}

/// Looks now and then.
bool call::peer_failed() noexcept {
  if (++polls_ % 1024 != 0) return false;
  for (int r = 0; r < c_.ranks; ++r)
    if (r != c_.rank && c_.protocol.failed_in_call(r)) return true;
  return false;
}

}  // namespace telpher::coll::exchange
