// SPDX-License-Identifier: BSD-3-Clause
// The steps of a call whose buffers have gaps at this rank. It packs before it proposes the
// devices, and unpacks when the call has run. In between it is the call on the packed copies. A
// replay packs and unpacks whenever it is started (replay.hpp).
#include <memory>
#include <new>

#include "coll/exchange/call.hpp"
#include "coll/exchange/communicator.hpp"

namespace telpher::coll::exchange {

/// Before the proposal. A rank that cannot pack leaves the call to the host MPI.
bool call::pack() noexcept {
  if (!arguments_.gapped) return true;
  try {
    packed_ = std::make_shared<packed_copies>();
  } catch (const std::bad_alloc&) {
    return false;
  }
  return packed_->make(arguments_, execution_->context().stream()) == status::ok &&
         (facts_.replayed || packed_->begin_packing() == status::ok);
}

// Once all have proposed, peers that map the copy may read it, in streams of their own. Else only
// this rank's kernel does, behind the packing in one stream.
call::then call::await_packing() noexcept {
  const description& own = c_.protocol.own_description();
  if (own.has_input && own.input.exportable) {
    const status s = packed_->poll();
    if (s == status::would_block) return then::later;
    if (s != status::ok) return leave_to_host();
  }
  return describe_and_propose();
}

/// The run has ended.
call::then call::unpack(status ran) noexcept {
  if (ran != status::ok || !packed_) return end(ran);
  const status s = packed_->begin_unpacking();
  return s == status::ok ? go(&call::poll_unpacking, "has unpacked the result") : end(s);
}

call::then call::poll_unpacking() noexcept {
  const status s = packed_->poll();
  return s == status::would_block ? then::later : end(s);
}

}  // namespace telpher::coll::exchange
