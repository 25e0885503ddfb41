// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/running.hpp"

#include <new>
#include <utility>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "coll/between/room.hpp"

namespace telpher::coll::between {
namespace {

constexpr std::size_t longest_text = 160;

}  // namespace

running::running(room& r, call&& c, std::optional<device::stream> s, status mine) noexcept
    : worker(ticket::progress()),
      room_(r),
      call_(std::move(c)),
      messages_(r, s),
      begun_(call_.begun) {
  keep(mine);
}

status running::move_copies(bool& begun,
                            status (exchange::packed_copies::*begin)() noexcept) noexcept {
  if (!call_.packed || failing()) return status::ok;
  if (!std::exchange(begun, true)) keep(((*call_.packed).*begin)());
  const status s = call_.packed->poll();
  if (s == status::would_block) return s;
  keep(s);
  return status::ok;
}

bool running::advance() noexcept {
  if (done_) return false;
  const std::size_t before = next_;
  bool moved = false;
  try {
    moved = move();
  } catch (const std::bad_alloc&) {
    keep(status::out_of_memory);
  }
  if (failing() && !lost_) tell_failure();
  if (!at_end()) look_at_clock(moved || next_ != before);
  done_ = at_end();
  return !done_;
}

/// If a peer has begun and then nothing moves for long, it counts as lost.
void running::look_at_clock(bool moved) noexcept {
  if (moved || lost_) return still_.moved();
  if (!begun_ || !still_.expired(config().transfer_timeout)) return;
  char text[longest_text];
  describe(text, sizeof text);
  TELPHER_ERROR("%s: nothing has moved for %.0f s: %s", call_.name,
                config().transfer_timeout.value / 1e6, text);
  keep(status::peer_lost);
  tell_failure();
  lost_ = true;
  abandon();
  if (call_.packed) call_.packed->abandon();
  room_.abandon();
}

void running::report(log::level at) const noexcept {
  char text[longest_text];
  describe(text, sizeof text);
  log::write(at, TELPHER_SUBSYSTEM, "  %s, %s", call_.name, text);
}

}  // namespace telpher::coll::between
