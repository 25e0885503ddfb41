// SPDX-License-Identifier: BSD-3-Clause
// The tests beyond messages and collectives: one-sided communication, packing, halos and files.
// Their names are those of OSU's benchmarks where these have them.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>

namespace telpher::bench {

enum class surface_test {
  put_latency,
  get_latency,
  put_bw,
  get_bw,
  acc_latency,
  fop_latency,
  cas_latency,
  pack,
  unpack,
  halo,
  file_write,
  file_read
};
inline constexpr const char* surface_names[] = {
    "put_latency", "get_latency", "put_bw", "get_bw", "acc_latency", "fop_latency",
    "cas_latency", "pack",        "unpack", "halo",   "file_write",  "file_read"};

constexpr const char* name(surface_test t) noexcept {
  return surface_names[static_cast<int>(t)];
}
inline bool find_surface_test(const std::string& text, surface_test& out) {
  for (std::size_t i = 0; i < std::size(surface_names); ++i)
    if (text == surface_names[i]) {
      out = static_cast<surface_test>(i);
      return true;
    }
  return false;
}

constexpr bool is_one_sided(surface_test t) noexcept {
  return t <= surface_test::cas_latency;
}
constexpr bool packs(surface_test t) noexcept {
  return t == surface_test::pack || t == surface_test::unpack;
}
constexpr bool uses_files(surface_test t) noexcept {
  return t >= surface_test::file_write;
}

}  // namespace telpher::bench
