// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/far_partitions.hpp"

#include <new>

#include "base/lasting.hpp"
#include "mpi/partitioned_request.hpp"
#include "rma/relay.hpp"
#include "ticket/progress.hpp"

namespace telpher::partitioned {
namespace {

struct far_parts {
  std::unique_ptr<rma::relay> relay;
  std::weak_ptr<void> used;
};
lasting<far_parts> far_state;

// When both ends are complete no relay is needed, except for a send's bytes that have not left.
void retire() noexcept {
  if (far_state->relay) rma::relays::retire(*far_state->relay);
}

rma::relay* relay_for(const memory::place& where) noexcept {
  if (!ticket::progress().threaded()) return nullptr;
  if (!far_state->relay) {
    auto made = rma::relay::make("partitions in kernels",
                                 {own_comm(), false, command_tag(), answer_tag()}, where, nullptr);
    if (!made) return nullptr;
    far_state->relay = std::move(*made);
  }
  const bool serves = far_state->relay->where() == where && !far_state->relay->is_broken();
  return serves ? far_state->relay.get() : nullptr;
}

}  // namespace

path::far_way far_way_of(const memory::place& where) noexcept {
  rma::relay* const relay = relay_for(where);
  if (!relay) return {};
  std::shared_ptr<void> use = far_state->used.lock();
  if (!use) {
    if (!rma::relays::add(*relay)) return {};
    try {
      use = std::shared_ptr<void>(relay, [](void*) { retire(); });  // at once, if it throws
    } catch (const std::bad_alloc&) {
      return {};
    }
    far_state->used = use;
  }
  return {relay->queue(), std::move(use)};
}

bool far_is_broken() noexcept {
  return far_state->relay && far_state->relay->is_broken();
}

void stop_far() noexcept {
  if (!far_state->relay) return;
  rma::relays::remove(*far_state->relay);
  do far_state->relay->serve();
  while (!far_state->relay->at_rest());
  far_state->relay.reset();
  far_state->used.reset();
}

}  // namespace telpher::partitioned
