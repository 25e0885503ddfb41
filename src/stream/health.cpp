// SPDX-License-Identifier: BSD-3-Clause
#include "stream/health.hpp"

#include <algorithm>

namespace telpher::stream {

bool health::failed() noexcept {
  if (!asked_) {
    const auto own = memory::stream(where_, memory::stream_role::copy);
    auto event = memory::pooled_event::acquire(where_);
    if (!own || !event) return !own && own.error() == status::device_error;
    if (const status s = event->record(*own); telpher::failed(s)) return s == status::device_error;
    asked_ = std::move(*event);
    return false;
  }
  const status s = asked_.query();
  if (s == status::would_block) return false;
  asked_ = {};
  return telpher::failed(s);
}

void watched_devices::watch(const memory::place& where) {
  if (std::none_of(all_.begin(), all_.end(), [&](const health& d) { return d.where() == where; }))
    all_.emplace_back(where);
}

std::vector<memory::place> watched_devices::failed() {
  std::vector<memory::place> found;
  for (health& d : all_)
    if (d.failed()) found.push_back(d.where());
  return found;
}

}  // namespace telpher::stream
