// SPDX-License-Identifier: BSD-3-Clause
#include "codec/encoder.hpp"

#include <cstring>

namespace telpher::codec {

status encoder::start(const void* from, device::stream s) noexcept {
  auto output = memory::buffer::device(where_, most_bytes(plan_));
  TELPHER_TRY(output);
  auto workspace = memory::buffer::device(where_, workspace_bytes(plan_));
  TELPHER_TRY(workspace);
  auto written = memory::buffer::host(sizeof(report), where_.owner, true);
  TELPHER_TRY(written);
  output_ = std::move(*output);
  workspace_ = std::move(*workspace);
  report_ = std::move(*written);
  return encode(*where_.owner, s, plan_, from, output_.data(), workspace_.data(),
                static_cast<report*>(report_.data()));
}

encoder::result_of encoder::finish() noexcept {
  report r;
  std::memcpy(&r, report_.data(), sizeof r);
  return {std::move(output_), coded_bytes(plan_, r), error_exponent(plan_, r)};
}

}  // namespace telpher::codec
