// SPDX-License-Identifier: BSD-3-Clause
// All kernel bodies that kernel.def names, for the instantiation units. SYCL's units include what
// they need instead.
#pragma once

#include "kernel/add_word.hpp"
#include "kernel/copy_batch.hpp"
#include "kernel/exchange.hpp"
#include "kernel/graph_hold.hpp"
#include "kernel/inbox.hpp"
#include "kernel/linger.hpp"
#include "kernel/matched.hpp"
#include "kernel/mpc.hpp"
#include "kernel/pack_blocks.hpp"
#include "kernel/partitions.hpp"
#include "kernel/zfp.hpp"
