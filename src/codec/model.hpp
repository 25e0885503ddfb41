// SPDX-License-Identifier: BSD-3-Clause
// Whether compression pays: the time to encode, to send less and to decode, one after the other,
// against the time to send it all. The speeds are settings (TELPHER_COMPRESSION_LINK and
// TELPHER_COMPRESSION_CODEC): nothing here measures.
#pragma once

#include <cstddef>

#include "codec/plan.hpp"

namespace telpher::codec {

struct speeds {
  double link;    // bytes per second between the nodes
  double encode;  // plain bytes per second
  double decode;
  double start = 20e-6;  // what the launches cost, however short the message
};

/// Seconds for `plain` bytes that become `coded` ones.
double compressed_time(const speeds& v, double plain, double coded) noexcept;
inline double plain_time(const speeds& v, double plain) noexcept {
  return plain / v.link;
}

inline bool pays(const speeds& v, double plain, double coded) noexcept {
  return compressed_time(v, plain, coded) < plain_time(v, plain);
}

/// With the speeds of the settings. What mpc will reach is taken from what it has reached so far.
/// `crossing`: how much of the bytes the link sees, where it is not all.
bool pays(const plan& p, double crossing = 1) noexcept;

}  // namespace telpher::codec
