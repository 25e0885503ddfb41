// SPDX-License-Identifier: BSD-3-Clause
// Operations on device memory that this process can reach itself. Puts and gets may be under way
// when their call returns (under_way.hpp). Updates are complete at the origin and at the target. An
// accumulate holds the target's exclusion word while it runs. That makes it atomic for each
// element, and as a whole.
#pragma once

#include "rma/rma.hpp"
#include "rma/window.hpp"

namespace telpher::rma {

/// Whether the memory that the call names at its target is device memory of a direct window.
bool is_direct(const access& a, const window& w) noexcept;

/// May throw std::bad_alloc.
int run_direct(const access& a, window& w);

}  // namespace telpher::rma
