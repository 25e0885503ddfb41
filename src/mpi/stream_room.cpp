// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/stream_room.hpp"

#include "path/matched_room.hpp"
#include "stream/proxy.hpp"

namespace telpher::mpi {
namespace {

/// A launch may come with one that packs and one that unpacks.
constexpr int most = 256;
/// Since a look found less than half of that under way. Under the progress lock.
int launched = 0;

}  // namespace

void await_room(ticket::held_lock& held, const char* call) noexcept {
  if (stream::in_proxy() || ++launched < most / 2) return;
  ticket::progress().wait_until(held, call,
                                [] { return path::matched_room::under_way() < most / 2; });
  launched = 0;
}

}  // namespace telpher::mpi
