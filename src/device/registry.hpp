// SPDX-License-Identifier: BSD-3-Clause
// The back ends of this process. A back end is a plug-in, libtelpher-<name>.so in the folder of
// this library (or TELPHER_PLUGIN_PATH). With TELPHER_BACKEND=auto, discover() opens cuda and hip
// if it finds the vendor's device nodes and driver library, and sycl if it finds a device node and
// the program has loaded SYCL's library. A back end that TELPHER_BACKEND names is opened without
// that check, except cuda. Names that Telpher does not know are opened, too: plug-ins of others.
// Opening a back end does not start the vendor's runtime.
#pragma once

#include <span>

#include "device/device.hpp"

namespace telpher::device {

/// Finds and opens the back ends that the settings allow. Called from MPI_Init, or by functions of
/// telpher.h and MPI_Session_get_info if a program calls them first. Idempotent, thread-safe.
void discover() noexcept;

/// The back ends that discover() opened: cuda, hip, sycl, emu, then plug-ins of others, in the
/// order in which TELPHER_BACKEND names them. Empty if none was opened.
std::span<backend* const> backends() noexcept;

/// The back end of a vendor, or null.
backend* find(vendor owner) noexcept;

/// The back end that telpher.h's functions use, and that the program's streams belong to: the one
/// that choose_backend() chose, else the first of backends() that shows a device; null if none
/// does.
backend* active_backend() noexcept;
/// Makes the back end of this name the active one. False if none of the name shows a device.
bool choose_backend(const char* name) noexcept;

/// At the end of the job: looks whether the program has reset a device (backend::was_reset).
void look_for_resets() noexcept;
/// Whether that look found one. Then what is pinned may be unmapped, and is not to be read.
bool any_was_reset() noexcept;

/// Why back ends are missing, one line each, for `telpher info`.
std::span<const char* const> absent_reasons() noexcept;

/// A plug-in exports this function under the name `telpher_create_backend`. discover() calls it
/// with `interface_version`, after it has compared what both were built from (plugin.hpp); a
/// plug-in of another version returns null.
constexpr int interface_version = 12;
using create_function = backend*(int version);
constexpr const char* create_symbol = "telpher_create_backend";

}  // namespace telpher::device
