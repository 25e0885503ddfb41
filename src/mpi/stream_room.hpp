// SPDX-License-Identifier: BSD-3-Clause
// A device has room for some 1000 pieces of work that wait in its streams. Where that is used up a
// launch stands until a stream goes on. If the launch were made with the progress lock in hand, the
// proxy could not move what the stream waits for. So kernels that wait are bounded in number before
// they are launched under the lock. What is enqueued by the proxy is bounded in stream/enqueue.cpp.
#pragma once

#include "ticket/progress.hpp"

namespace telpher::mpi {

/// Before such a launch: waits while there are 256 of them. The proxy does not wait: it may be what
/// they wait for.
void await_room(ticket::held_lock& held, const char* call) noexcept;

}  // namespace telpher::mpi
