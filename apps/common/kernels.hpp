// SPDX-License-Identifier: BSD-3-Clause
// The kernels that kernels.def names.
#pragma once

#include "cg/kernels.hpp"
#include "ghost_exchange/kernels.hpp"
#include "stencil3d/kernels.hpp"
