// SPDX-License-Identifier: BSD-3-Clause
// Predicts whether compression pays: the time to encode, send fewer bytes and decode, one after the
// other, is compared with the time to send all bytes. The speeds are settings
// (TELPHER_COMPRESSION_LINK and TELPHER_COMPRESSION_CODEC); nothing is measured here.
#pragma once

#include <cstddef>

#include "codec/plan.hpp"

namespace telpher::codec {

struct speeds {
  double link;    // bytes per second between the nodes
  double encode;  // plain bytes per second
  double decode;
  double start = 20e-6;  // cost of the launches, independent of the message's size
};

/// Seconds to transfer `plain` bytes that are compressed to `coded` bytes.
double compressed_time(const speeds& v, double plain, double coded) noexcept;
inline double plain_time(const speeds& v, double plain) noexcept {
  return plain / v.link;
}

inline bool pays(const speeds& v, double plain, double coded) noexcept {
  return compressed_time(v, plain, coded) < plain_time(v, plain);
}

/// With the speeds of the settings. The ratio that mpc will reach is estimated by the one that it
/// has reached so far.
bool pays(const plan& p) noexcept;

}  // namespace telpher::codec
