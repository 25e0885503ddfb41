// SPDX-License-Identifier: BSD-3-Clause
// The steps of a call that the vendor's library runs. The first such call on a communicator opens
// the library and joins its communicator by the id in rank 0's line. Ranks vote on both, so all use
// the library or none does. It serves only blocking calls: its calls may wait for peers on the
// host, and its kernels stay on the device until all ranks have come.
#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/exchange/call.hpp"
#include "coll/exchange/communicator.hpp"

namespace telpher::coll::exchange {
namespace {

// Joining takes some hundred milliseconds and device memory; a call gains some ten microseconds. So
// ranks that were not told to use the library join after so many calls that would have gained.
constexpr std::uint64_t least_gaining = 2 << 20;
constexpr int calls_to_join = 20;

bool worth_joining(communicator& c, std::uint64_t bytes) noexcept {
  const bool told = config().ccl != "auto" || config().coll_transport == "vendor";
  if (told || c.library.ready()) return true;
  return bytes >= least_gaining && ++c.library_calls > calls_to_join;
}

}  // namespace

/// From what all ranks know.
bool call::may_use_library() noexcept {
  for (int r = 0; r < c_.ranks && !c_.library_absent; ++r)
    if (c_.protocol.description_of(r).library_failed) {
      c_.library_absent = true;
      c_.library.abort();
    }
  return form_ == form::blocking && !c_.library_absent && !c_.shares_devices && volume() > 0 &&
         vendor::supports(arguments_.what, problem_.in_place, arguments_.reduce) &&
         worth_joining(c_, volume());
}

// --- the first call ---

call::then call::open_library() noexcept {
  agreement_line& own = c_.protocol.own();
  own.library = c_.library.open(c_.where);
  const bool good = own.library != 0 && (c_.rank != 0 || c_.library.make_id(own.library_id));
  return vote(good, &call::join_library, &call::go_without_library);
}

call::then call::join_library() noexcept {
  const agreement_line& first = c_.protocol.line(0);
  for (int r = 1; r < c_.ranks; ++r)
    if (c_.protocol.line(r).library != first.library) return go_without_library();
  if (!c_.library.join(first.library_id, c_.ranks, c_.rank))
    return vote(false, &call::commit, &call::go_without_library);
  return go(&call::poll_joining, "has joined the library's communicator");
}

// If one rank has failed the others would wait for it for ever: they give up, too.
call::then call::poll_joining() noexcept {
  const status s = c_.library.joined();
  if (s == status::would_block && !c_.protocol.refused()) return then::later;
  return vote(s == status::ok, &call::commit, &call::go_without_library);
}

call::then call::go_without_library() noexcept {
  TELPHER_INFO("%s: some rank cannot use the vendor's library: Telpher's own ways from now on",
               name());
  c_.library.abort();
  c_.library_absent = true;
  facts_.library = false;
  return choose();
}

// --- the call ---

status call::start_library() noexcept {
  const arguments& a = arguments_;
  const vendor::call what{a.what,  c_.ranks, c_.rank, a.root,  a.in_place,
                          a.input, a.output, a.bytes, a.reduce};
  const status s = c_.library.start(what, execution_->context().stream());
  if (s == status::ok) return s;
  c_.library_failed = true;
  c_.library.abort();  // part of it may run
  return s;
}

/// If a peer has failed, the library's communicator is aborted, which ends its kernel.
call::then call::poll_library() noexcept {
  const status s = c_.library.poll();
  if (s == status::ok || (given_up_ && s != status::would_block))
    return unpack(given_up_ ? result_ : s);
  if (!given_up_ && (s != status::would_block || peer_failed())) {
    result_ = s == status::would_block ? status::peer_lost : s;
    if (s != status::would_block) c_.protocol.fail_call();
    c_.library_failed = given_up_ = true;
    c_.library.abort();
  }
  return then::later;
}

}  // namespace telpher::coll::exchange
