// SPDX-License-Identifier: BSD-3-Clause
// What is measured on one machine is right for another where these facts are the same: this version
// of Telpher, and the devices and links that a process sees. mpi/tuned.cpp adds the host MPI.
#pragma once

#include <string>
#include <vector>

#include "device/types.hpp"

namespace telpher::device {

const char* to_string(distance d) noexcept;

/// Of the back ends that discover() has opened; no device: only the version.
std::vector<std::string> signature();

}  // namespace telpher::device
