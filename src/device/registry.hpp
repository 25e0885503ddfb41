// SPDX-License-Identifier: BSD-3-Clause
// Which back ends this process has. A back end is a plug-in, libtelpher-<name>.so in the folder of
// this library (or TELPHER_PLUGIN_PATH), opened when discover() finds the vendor's device nodes and
// driver library, or when TELPHER_BACKEND names it; a name that Telpher does not know is opened
// too. Opening a back end does not start the vendor's runtime.
#pragma once

#include <span>

#include "device/device.hpp"

namespace telpher::device {

/// Finds and opens the back ends that the settings allow. Called once, from MPI_Init, and by
/// telpher.h's functions when a program calls them first. Idempotent, thread-safe.
void discover() noexcept;

/// The back ends opened by discover(), nearest first; empty where there is no device.
std::span<backend* const> backends() noexcept;

/// The back end of a vendor, or null.
backend* find(vendor owner) noexcept;

/// Why back ends are missing, one line each, for `telpher info`.
std::span<const char* const> absent_reasons() noexcept;

/// A plug-in exports this function under the name `telpher_create_backend`. `interface_version` is
/// checked first: a plug-in of another version returns null.
constexpr int interface_version = 5;
using create_function = backend*(int version);
constexpr const char* create_symbol = "telpher_create_backend";

}  // namespace telpher::device
