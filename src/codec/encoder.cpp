// SPDX-License-Identifier: BSD-3-Clause
#include "codec/encoder.hpp"

#include <cstring>

namespace telpher::codec {

status encoder::start(const void* from, device::stream s) noexcept {
  TELPHER_TRY(memory::buffer::device(where_, most_bytes(plan_)).into(output_));
  TELPHER_TRY(memory::buffer::device(where_, the_coder()->workspace_bytes(plan_)).into(workspace_));
  TELPHER_TRY(memory::buffer::for_kernels(sizeof(report), where_.owner).into(report_));
  return the_coder()->encode(*where_.owner, s, plan_, from, output_.data(), workspace_.data(),
                             static_cast<report*>(report_.data()));
}

encoder::result_of encoder::finish() noexcept {
  report r;
  std::memcpy(&r, report_.data(), sizeof r);
  const coder& by = *the_coder();
  return {std::move(output_), by.coded_bytes(plan_, r), by.error_exponent(plan_, r)};
}

}  // namespace telpher::codec
