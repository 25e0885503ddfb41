// SPDX-License-Identifier: BSD-3-Clause
// Part of the library and of every plug-in.
#include <cstdio>

#include "device/plugin.hpp"
#include "kernel/reduction.hpp"

namespace telpher::device {
namespace {

constexpr listed_kernel kernels[] = {
#define TELPHER_KERNEL(name) {#name, sizeof(kernel::name)},
#include "kernel/kernel.def"
#undef TELPHER_KERNEL
#define TELPHER_NAME_OF(name) {#name, 0},
    TELPHER_REDUCTION_OPS(TELPHER_NAME_OF) TELPHER_VALUE_TYPES(TELPHER_NAME_OF)
#undef TELPHER_NAME_OF
};

std::string text_of(const built_from& b) {
  char text[64];
  std::snprintf(text, sizeof text, "interface %llu and kernels %016llx",
                static_cast<unsigned long long>(b.interface),
                static_cast<unsigned long long>(b.kernels));
  return text;
}

}  // namespace

built_from own_build() noexcept {
  constexpr std::uint64_t all = fingerprint(kernels);
  return {interface_version, all};
}

std::string misfit(const built_from& ours, const built_from* theirs, const std::string& plugin) {
  if (theirs && theirs->interface == ours.interface && theirs->kernels == ours.kernels) return "";
  return plugin + " was built from " + (theirs ? text_of(*theirs) : "an older version") +
         ", libtelpher from " + text_of(ours) +
         ": rebuild or reinstall Telpher and its plug-ins together";
}

}  // namespace telpher::device
