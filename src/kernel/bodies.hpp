// SPDX-License-Identifier: BSD-3-Clause
// Every kernel body that kernel.def names, for the instantiation units.
#pragma once

#include "kernel/copy_batch.hpp"
#include "kernel/pack_blocks.hpp"

#if TELPHER_KERNELS_POLL
#include "kernel/exchange.hpp"
#include "kernel/linger.hpp"
#endif
#if TELPHER_KERNELS_CODE
#include "kernel/mpc.hpp"
#include "kernel/zfp.hpp"
#endif
