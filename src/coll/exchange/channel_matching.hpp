// SPDX-License-Identifier: BSD-3-Clause
// The agreement on a replay (coll/replay.hpp) of a persistent collective: one call on its channel.
#pragma once

#include "coll/exchange/call.hpp"
#include "coll/replay.hpp"

namespace telpher::coll::exchange {

class channel_matching final : public matching {
 public:
  channel_matching(const char* name, communicator& channel, arguments&& a) noexcept
      : channel_(channel), call_(name, channel, std::move(a), call::form::blocking) {
    call_.prepare_replay();
  }
  bool advance() noexcept override;
  std::unique_ptr<replay> take() noexcept override { return call_.take_replay(); }

 private:
  communicator& channel_;
  call call_;
  bool begun_ = false;
  bool over_ = false;
};

}  // namespace telpher::coll::exchange
