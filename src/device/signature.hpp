// SPDX-License-Identifier: BSD-3-Clause
// The signature of a machine, for tuned tables (base/tuning.hpp): the version of Telpher, and the
// devices and links that a process sees. A table that was measured on one machine is used on
// another if their signatures are equal. mpi/tuned.cpp adds the host MPI.
#pragma once

#include <string>
#include <vector>

#include "device/types.hpp"

namespace telpher::device {

const char* to_string(distance d) noexcept;

/// One line a fact, for the back ends that discover() has opened. Without any device: only the
/// version.
std::vector<std::string> signature();

}  // namespace telpher::device
