// SPDX-License-Identifier: BSD-3-Clause
// What the library and a plug-in were built from: the version of the interface, and the list of
// kernels with the sizes of their parameters. Both must be the same. A plug-in from an older list
// of kernels would take one kernel for another, or read parameters that lie elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "device/registry.hpp"

namespace telpher::device {

/// A plug-in exports a function that returns this, under the name `telpher_plugin_built_from`
/// (plugin.cpp). The layout never changes, so any library can read that of any plug-in.
struct built_from {
  std::uint64_t interface;
  std::uint64_t kernels;
};
using built_from_function = const built_from*();
constexpr const char* built_from_symbol = "telpher_plugin_built_from";

struct listed_kernel {
  const char* name;
  std::size_t bytes;  // of its parameters
};
/// FNV-1a of the names and sizes, in order.
constexpr std::uint64_t fingerprint(std::span<const listed_kernel> kernels) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::uint64_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const listed_kernel& k : kernels) {
    for (const char* c = k.name; *c; ++c) mix(static_cast<unsigned char>(*c));
    for (int i = 0; i < 64; i += 8) mix(k.bytes >> i & 0xff);
  }
  return hash;
}

/// What this code is built from.
built_from own_build() noexcept;
/// Why the two do not fit, and what to do; empty if they do. `theirs` is null if the plug-in does
/// not export the function.
std::string misfit(const built_from& ours, const built_from* theirs, const std::string& plugin);

}  // namespace telpher::device
