// SPDX-License-Identifier: BSD-3-Clause
// The kernels that kernels.def names.
#pragma once

#include "stencil3d/kernels.hpp"
