// SPDX-License-Identifier: BSD-3-Clause
// Part of every plug-in.
#include "device/plugin.hpp"

extern "C" [[gnu::visibility("default")]] const telpher::device::built_from*
telpher_plugin_built_from() {
  static const telpher::device::built_from one = telpher::device::own_build();
  return &one;
}
