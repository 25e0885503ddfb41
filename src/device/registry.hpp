// SPDX-License-Identifier: BSD-3-Clause
// The back ends of this process. A back end is a plug-in, libtelpher-<name>.so in the folder of
// this library (or TELPHER_PLUGIN_PATH). discover() opens it if it finds the vendor's device nodes
// and driver library, or if TELPHER_BACKEND names it. Names that Telpher does not know are opened,
// too. Opening a back end does not start the vendor's runtime.
#pragma once

#include <span>

#include "device/device.hpp"

namespace telpher::device {

/// Finds and opens the back ends that the settings allow. Called from MPI_Init, or by functions of
/// telpher.h if a program calls them first. Idempotent, thread-safe.
void discover() noexcept;

/// The back ends that discover() opened, nearest first; empty if there is no device.
std::span<backend* const> backends() noexcept;

/// The back end of a vendor, or null.
backend* find(vendor owner) noexcept;

/// The back end that telpher.h's functions use, and that the program's streams belong to: the one
/// that was chosen by its name, else the nearest that shows a device; null where there is none.
backend* active_backend() noexcept;
/// False if there is none of the name that shows a device.
bool choose_backend(const char* name) noexcept;

/// Why back ends are missing, one line each, for `telpher info`.
std::span<const char* const> absent_reasons() noexcept;

/// A plug-in exports this function under the name `telpher_create_backend`. `interface_version` is
/// checked first: a plug-in of another version returns null.
constexpr int interface_version = 9;
using create_function = backend*(int version);
constexpr const char* create_symbol = "telpher_create_backend";

}  // namespace telpher::device
