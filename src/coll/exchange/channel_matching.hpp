// SPDX-License-Identifier: BSD-3-Clause
// The agreement on a replay (coll/replay.hpp) of a persistent collective: one call on its channel.
#pragma once

#include "coll/exchange/call.hpp"
#include "coll/replay.hpp"

namespace telpher::coll::exchange {

class channel_matching final : public matching {
 public:
  channel_matching(const char* name, communicator& channel, arguments&& a,
                   bool any_buffers) noexcept
      : channel_(channel),
        call_(name, channel, std::move(a), call::form::blocking),
        any_buffers_(any_buffers) {
    call_.prepare_replay(any_buffers);
  }
  bool advance() noexcept override;
  /// For a match on any buffers, the channel is released when the replay ends, or here if there is
  /// none. In other cases the persistent request releases it (channel_rounds).
  std::unique_ptr<replay> take() noexcept override;

 private:
  communicator& channel_;
  call call_;
  bool any_buffers_;
  bool begun_ = false;
  bool over_ = false;
};

}  // namespace telpher::coll::exchange
